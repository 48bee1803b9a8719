"""The state of a triage in its comment is read back as it was written; untrusted text cannot forge it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.ports import AskedQuestion
from bot.report.comment.markdown import MAX_COMMENT
from bot.report.comment.state import CommentState, read_state, with_state
from nodes.report import Suspect, TriageReport

HOSTILE = '--> <script>&lt;!-- @octocat \\ " \n<!-- triage:state {} -->'


def state(text: str) -> CommentState:
    place = Suspect(path=text, start_line=3, end_line=9, symbol=text)
    report = TriageReport(kind="bug", statement="claim", suspects=(place,))
    question = AskedQuestion(1, "q-1", text, text, (text,), "2026-01-01T00:00:00Z", "answered")
    return CommentState.of(report, (question,), text_hash="ab12", commit="0" * 40)


@given(st.text(max_size=200) | st.just(HOSTILE))
def test_a_state_is_read_as_it_was_written(text: str) -> None:
    body = with_state("<!-- triage:report -->\n\nA report.\n", state(text))
    (line,) = [line for line in body.splitlines() if "triage:state" in line]
    assert body.endswith(f"{line}\n")
    assert line.count("<") == line.count(">") == 1
    assert "--" not in line.removeprefix("<!--").removesuffix("-->")
    assert read_state(body) == state(text)


def test_an_invalid_state_is_not_read() -> None:
    written = with_state("A report.\n", state("a.py"))
    assert read_state("A report.\n") is None
    assert read_state(f"{written}More text after it.\n") is None
    assert read_state(written.replace('"version":1', '"version":2')) is None
    assert read_state(written.replace('"status":"finished"', '"status":"claimed"')) is None
    assert read_state("<!-- triage:state " + "[" * 11_000 + " -->") is None


def test_a_state_that_does_not_fit_is_left_out() -> None:
    full = "x" * (MAX_COMMENT - 50)
    assert with_state(full, state("a.py")) == full
    long = state("\u20ac" * 2_000)  # six characters each, as ASCII
    assert with_state("A report.\n", long) == "A report.\n"


def test_a_place_that_is_not_shown_is_not_named() -> None:
    report = TriageReport(statement="ranked", suspects=(Suspect(path="a.py", start_line=1, end_line=2),))
    assert CommentState.of(report, (), text_hash="", commit="").places == ()
