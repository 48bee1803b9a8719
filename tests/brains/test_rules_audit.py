from __future__ import annotations

import pytest

from nodes.brains.rules.audit import audit
from nodes.state import HumanExchange
from tests.support.cases import case, place

RAN = "investigator codebase_search"
NAMED = ("defines scan, which the text names", "shares rare words with the title")
LEXER = place("src/lexer.py", "scan", reasons=NAMED)


@pytest.mark.parametrize(
    ("places", "gap"),
    [
        pytest.param((LEXER,), None, id="two-kinds-of-reasons"),
        pytest.param((LEXER, place("src/reader.py", "read", score=0.97)), "nearly as well", id="a-rival"),
        pytest.param((LEXER, place("src/lexer.py", "peek", score=0.97)), None, id="no-rival-in-the-same-file"),
        pytest.param((place("tests/test_lexer.py", "test_scan", reasons=NAMED),), "Only tests", id="only-tests"),
        pytest.param((place("src/other.py", "other", quote="pass"),), "No evidence links", id="no-link"),
        pytest.param((place("src/lexer.py", "scan", reasons=NAMED[:1]),), "Only one kind", id="one-kind"),
    ],
)
def test_gaps(places, gap):
    judged = audit(case("scan hangs", "The scan hangs on quotes.", *places, ran=RAN, confidence=0.8))
    assert any(gap in line for line in judged.gaps) if gap else judged.gaps == ()
    assert judged.confidence == (0.6 if gap else 0.8)


def test_an_answer_that_names_the_other_place_is_a_contradiction():
    places = (place("src/export.py", "export_rows"), place("src/import.py", "import_rows"))
    answered = HumanExchange(question="Which?", answer="When importing")
    judged = audit(case("Wrong order", "Rows.", *places, ran=RAN, human_exchanges=(answered,)))
    assert len(judged.contradictions) == 1
    fits = answered.model_copy(update={"answer": "When exporting"})
    assert audit(case("Wrong order", "Rows.", *places, ran=RAN, human_exchanges=(fits,))).contradictions == ()


def test_a_rejection_never_blocks_a_run_that_no_search_can_help():
    assert audit(case("scan hangs", "", ran=RAN)).approved
