from __future__ import annotations

import pytest

from nodes.brains.rules.read_code import read_code
from nodes.brains.rules.write import write
from nodes.evidence import Evidence
from nodes.trust.citations import check
from tests.cases import case, place
from tests.fakes import FakeCode

RAN = "investigator codebase_search critic"
BODY = (
    'It fails.\n\nTraceback (most recent call last):\n  File "/x/src/lexer.py", line 11, in scan\n    x\nKeyError: 1\n'
)
LEXER = place("src/lexer.py", "Lexer.scan", reasons=("in src/lexer.py", "innermost frame of the stack trace"))
READER = place("src/reader.py", "read", score=0.8, reasons=("shares rare words with the title",))
TEST = place("tests/test_lexer.py", "test_scan", score=0.9)


def written(*places: Evidence, body: str = BODY, confidence: float = 0.9, **state):
    return write(case("Lexer.scan fails", body, *places, ran=RAN, confidence=confidence, **state))


def test_a_sure_place_is_a_verdict_with_a_cited_cause():
    draft = written(LEXER, READER, TEST)
    assert draft.verdict == "Likely in `src/lexer.py` — `Lexer.scan`, which is on the reporter's stack trace."
    assert "probably" in draft.root_cause
    assert [s.evidence for s in draft.suspects] == ["E1", "E2"]
    assert draft.suspects[0].why == "on the reporter's stack trace at line 11"
    assert "`src/lexer.py:11`" in draft.how_to_confirm
    assert "`tests/test_lexer.py`" in draft.how_to_confirm
    assert draft.labels == ("bug",)
    assert draft.confidence == 0.9


def test_an_unsure_place_is_where_to_start_and_no_cause():
    draft = written(LEXER, READER, confidence=0.5)
    assert draft.verdict.startswith("No cause claimed; the place to start reading is `Lexer.scan`")
    assert draft.root_cause == ""
    assert draft.suspects


@pytest.mark.parametrize(("confidence", "claims"), [(0.0, False), (0.64, False), (0.65, True), (0.95, True)])
def test_a_cause_is_claimed_only_where_it_is_likely(confidence, claims):
    assert bool(written(LEXER, confidence=confidence).root_cause) is claims


def test_nothing_found_is_said():
    draft = written()
    assert "Nothing in the code matches" in draft.verdict
    assert draft.confidence == 0


@pytest.mark.parametrize("kind", ["feature", "question", "spam", "security"])
def test_what_needs_no_code_is_said_in_one_sentence(kind):
    draft = write(case("Title", "Body", ran="investigator", kind=kind))
    assert draft.suspects == ()
    assert draft.root_cause == ""
    assert draft.kind == kind
    assert draft.confidence > 0.65


@pytest.mark.parametrize("body", [BODY, "It fails in Lexer.scan.", "Something. Else! Odd? (Yes)."])
async def test_every_sentence_of_a_cause_stands_in_checking(body):
    given = case("Lexer.scan fails", body, LEXER, READER, ran=RAN, confidence=0.9)
    code = FakeCode(files={LEXER.locator.path: [""] * 9 + LEXER.quote.split("\n")})
    code.files[READER.locator.path] = [""] * 9 + READER.quote.split("\n")
    draft = write(given)
    checked = await check(draft, {item.id: item.evidence for item in given.evidence}, code, body)
    assert checked.draft.root_cause == draft.root_cause != ""
    assert checked.audit.uncited_claims == 0
    assert checked.audit.dropped == ()


@pytest.mark.parametrize(
    ("path", "labels"),
    [
        pytest.param("src/parser/lexer.py", ("bug", "area: parser"), id="below-src"),
        pytest.param("lexer.py", ("bug",), id="at-the-top"),
        pytest.param("engine/lexer.py", ("bug", "area: engine"), id="first-folder"),
        pytest.param("Tool/engine/lexer.py", ("bug", "area: engine"), id="below-the-projects-own"),
    ],
)
def test_the_area_is_the_first_folder_that_means_something(path, labels):
    assert written(place(path, "scan"), repository="octo/tool").labels == labels


def test_no_file_takes_more_than_two_places():
    places = [place("src/lexer.py", f"f{n}", score=1 - n / 100, quote=f"f{n}") for n in range(4)]
    assert [s.evidence for s in written(*places, READER).suspects] == ["E1", "E2", "E5"]


def test_a_frame_of_the_trace_outranks_a_slightly_better_score():
    ahead = place("src/reader.py", "read")
    behind = LEXER.model_copy(update={"score": 0.9})
    reading = read_code(case("Lexer fails", BODY, ahead, behind, confidence=0.8), case("", "", ahead, behind).evidence)
    assert reading.suspects == ("E2", "E1")


@pytest.mark.parametrize(
    ("places", "confidence"),
    [
        pytest.param((LEXER, READER), 0.8, id="a-clear-lead"),
        pytest.param((LEXER, READER.model_copy(update={"score": 1.0})), 0.68, id="two-equal-files"),
        pytest.param((TEST,), 0.4, id="only-a-test"),
        pytest.param((), 0.0, id="nothing"),
    ],
)
def test_a_reading_only_lowers_the_confidence(places, confidence):
    given = case("It fails", "Odd.", *places, confidence=0.8)
    assert read_code(given, given.evidence).confidence == pytest.approx(confidence)
