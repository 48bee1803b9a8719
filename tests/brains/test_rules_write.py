from __future__ import annotations

import pytest

from nodes.brains.rules.audit import read_code
from nodes.brains.rules.write import write
from nodes.evidence import Evidence
from tests.support.cases import case, place

RAN = "investigator codebase_search critic"
BODY = (
    'It fails.\n\nTraceback (most recent call last):\n  File "/x/src/lexer.py", line 11, in scan\n    x\nKeyError: 1\n'
)
LEXER = place("src/lexer.py", "Lexer.scan", reasons=("in src/lexer.py", "innermost frame of the stack trace"))
READER = place("src/reader.py", "read", score=0.8, reasons=("shares rare words with the title",))
TEST = place("tests/test_lexer.py", "test_scan", score=0.9)


def written(*places: Evidence, body: str = BODY, confidence: float = 0.9, **state):
    return write(case("Lexer.scan fails", body, *places, ran=RAN, confidence=confidence, **state))


def test_the_reasons_of_the_first_places_omit_shared_words():
    draft = written(LEXER, READER, TEST)
    assert draft.verdict == "The search ranks `Lexer.scan` in `src/lexer.py` first."
    assert draft.root_cause == draft.how_to_confirm == ""
    assert [s.evidence for s in draft.suspects] == ["E1", "E2"]
    assert [s.why for s in draft.suspects] == ["on the reporter's stack trace at line 11", ""]
    assert draft.labels == ("bug",)
    assert draft.confidence == 0.9


def test_nothing_found_is_reported():
    draft = written()
    assert draft.verdict == ""
    assert draft.confidence == 0


@pytest.mark.parametrize("kind", ["feature", "question", "spam", "security"])
def test_an_issue_that_needs_no_code_gets_one_sentence(kind):
    draft = write(case("Title", "Body", ran="investigator", kind=kind))
    assert draft.suspects == ()
    assert draft.root_cause == ""
    assert draft.kind == kind
    assert draft.confidence > 0.65


@pytest.mark.parametrize(
    ("path", "labels"),
    [
        pytest.param("src/parser/lexer.py", ("bug", "area: parser"), id="below-src"),
        pytest.param("lexer.py", ("bug",), id="at-the-top"),
        pytest.param("engine/lexer.py", ("bug", "area: engine"), id="first-folder"),
        pytest.param("Tool/engine/lexer.py", ("bug", "area: engine"), id="below-the-projects-own"),
    ],
)
def test_the_area_is_the_first_meaningful_folder(path, labels):
    assert written(place(path, "scan"), repository="octo/tool").labels == labels


def test_no_file_takes_more_than_two_places():
    places = [place("src/lexer.py", f"f{n}", score=1 - n / 100, quote=f"f{n}") for n in range(4)]
    assert [s.evidence for s in written(*places, READER).suspects] == ["E1", "E2", "E5"]


def test_a_place_is_off_the_trace_only_if_the_trace_leads_into_found_code():
    others = [place(f"src/part{n}.py", f"part{n}", score=0.7 - n / 100) for n in range(5)]
    assert written(LEXER, READER, *others).ruled_out[0].startswith("`part3` in `src/part3.py`: not on the stack trace")
    elsewhere = BODY.replace("/x/src/lexer.py", "/x/dist/bundle.py")
    assert written(LEXER, READER, *others, body=elsewhere).ruled_out == ()


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
def test_a_models_reading_only_lowers_the_confidence(places, confidence):
    given = case("It fails", "Odd.", *places, confidence=0.8)
    assert read_code(given, given.evidence).confidence == pytest.approx(confidence)
