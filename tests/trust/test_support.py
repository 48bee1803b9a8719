"""No sentence states more than its evidence, and none repeats the reporter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.evidence import Evidence, Locator
from nodes.trust.statements import TOO_ALIKE, IssueEcho, fault_of, names, only_reported

CODE = Evidence(
    kind="code",
    locator=Locator(path="feed/dates.py", start_line=10, end_line=20, sha="s"),
    symbol="parse_date",
    quote="    hours = int(\n        match[2])",
)
ISSUE = (
    "parse_date ignores the sign\nWith `-0700` the zone is read as plus seven hours, see line 99 of my log, x.py:7.\n"
)
CERTAIN, ITSELF = "more certain than a reading of code can be", "judges itself"
CODE_ELSEWHERE, LINES_ELSEWHERE = "names code that is not in what it cites", "names lines outside what it cites"


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        pytest.param("The sign is probably lost in `parse_date` [E1].", None, id="a-symbol"),
        pytest.param("`parse_date()` reads `feed/dates.py:10` [E1].", None, id="a-call-and-a-place"),
        pytest.param("`int(match[2])` has no sign [E1].", None, id="code-over-two-lines"),
        pytest.param("`-0700` is read as `+0700` [E1].", CODE_ELSEWHERE, id="a-value-nobody-showed"),
        pytest.param("`-0700` is read without its sign [E1].", None, id="a-value-of-the-reporter"),
        pytest.param("`parse_zone` drops the sign [E1].", CODE_ELSEWHERE, id="an-invented-name"),
        pytest.param("Line 12 drops the sign [E1].", None, id="a-line-within"),
        pytest.param("Lines 12-20 drop the sign [E1].", None, id="lines-within"),
        pytest.param("Lines 12 to 21 drop the sign [E1].", LINES_ELSEWHERE, id="lines-that-go-on"),
        pytest.param("See line 21 [E1].", LINES_ELSEWHERE, id="a-line-outside"),
        pytest.param("The log's line 99 fits [E1].", None, id="a-line-of-the-reporter"),
        pytest.param("It is raised at line 7 [E1].", None, id="a-line-of-the-reporters-trace"),
        pytest.param("This is definitely the cause [E1].", CERTAIN, id="definitely"),
        pytest.param("It is 100% this [E1].", CERTAIN, id="a-hundred-per-cent"),
        pytest.param("This analysis is thorough and correct [E1].", ITSELF, id="praise"),
        pytest.param("Our investigation found the loop [E1].", ITSELF, id="about-itself"),
    ],
)
def test_fault_of(sentence: str, fault: str | None) -> None:
    assert fault_of(sentence, [CODE], ISSUE) == fault


@given(st.text(max_size=200), st.text(max_size=30))
def test_a_span_that_no_cited_evidence_contains_is_rejected(text: str, name: str) -> None:
    span = "".join(c for c in name if c.isalnum())
    assert fault_of(f"{text.replace('`', '')} `zq{span}qz`", [CODE], ISSUE) is not None


@pytest.mark.parametrize(
    ("sentence", "echo"),
    [
        pytest.param("The zone is read as plus seven hours [E1].", True, id="word-for-word"),
        pytest.param("With `-0700` the zone is read as plus seven hours.", True, id="whole-line"),
        pytest.param("The group for hours is read without the sign in front of it [E1].", False, id="new"),
        pytest.param("It ignores the sign.", False, id="too-short-to-tell"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_words_of_the_reporter_are_an_echo(sentence: str, echo: bool) -> None:
    assert (IssueEcho(ISSUE).share(sentence) >= TOO_ALIKE) is echo


def test_another_issue_is_evidence_beyond_the_report() -> None:
    reported = Evidence(kind="issue", quote="It ignores the sign")
    other = Evidence(kind="issue", locator=Locator(url="https://github.com/o/r/issues/7"), quote="Sign lost")
    assert only_reported([reported])
    assert not only_reported([reported, other])
    assert not only_reported([reported, CODE])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param("see feed/dates.py, please", True, id="its-file"),
        pytest.param("parse_date is wrong", True, id="its-symbol"),
        pytest.param("parse_dates is wrong", False, id="another-symbol"),
        pytest.param("updates.py is wrong", False, id="another-file"),
        pytest.param("Dates are wrong", False, id="a-word"),
    ],
)
def test_names(text: str, named: bool) -> None:
    assert names(text, "feed/dates.py", "Feed.parse_date") is named


def test_a_plain_word_is_not_a_name() -> None:
    assert not names("it cannot open it", "a/door.py", "Door.open")
