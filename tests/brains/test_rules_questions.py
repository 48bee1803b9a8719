from __future__ import annotations

import pytest

from nodes.brains.rules.decide import next_question
from nodes.state import HumanExchange
from tests.support.cases import case, place

RAN = "investigator codebase_search"
EXPORT = place("src/export_csv.py", "export_rows")
IMPORT = place("src/import_csv.py", "import_rows", score=0.98)
LONG = "When I use a large spreadsheet in version 2.1.0 the rows come out in the wrong order, which I did not expect."


def question_for(*args, **kwargs):
    question = next_question(case(*args, ran=RAN, **kwargs))
    return question.text if question else None


def test_two_equal_places_are_not_distinguished_by_the_words_of_their_names():
    assert question_for("Wrong order", LONG, EXPORT, IMPORT, confidence=0.4) is None


@pytest.mark.parametrize(
    ("one", "two"),
    [
        pytest.param(place("io/win32_file.py"), place("io/posix_file.py", score=0.8), id="a-clear-lead"),
        pytest.param(place("io/win32_file.py", "lock"), place("io/win32_file.py", "posix_lock"), id="one-file"),
    ],
)
def test_no_question_is_asked_if_the_answer_would_not_help(one, two):
    assert question_for("Wrong order", LONG, one, two, confidence=0.4) is None


def test_a_question_about_a_thin_report_asks_what_happened():
    assert "What did you do" in (question_for("It fails", "Please help") or "")


def test_a_report_that_names_code_is_not_asked_what_happened():
    assert (
        question_for("Wrong day", "Using `parse_date` 1.2.3 I expected another day\n```\nparse_date('x')\n```", EXPORT)
        is None
    )


def test_a_report_that_tells_what_it_did_and_what_happened_is_asked_nothing():
    steps = (
        "1. Open both views\n2. Load new rows\n3. Reload one of them\n\nI expected that only one of them is drawn.\n"
    )
    assert question_for("Error of a view", f"There is an error, {LONG}") is None
    assert question_for("Update error of views", steps) is None
    fails = (
        "The cdf fails where it is constant. The lower bound of the interval where it is constant should be returned."
    )
    assert question_for("Wrong bound", f"{fails} This is not so at the moment with the bound of the table.") is None
    assert question_for("Error of views (fixes issue #432)", "There is an error, and nothing else is known.") is None


def test_no_question_is_asked_twice_or_after_an_unanswered_one():
    first = question_for("It fails", "Please help")
    assert first is not None
    put = HumanExchange(question=first.upper(), answer="no idea")
    assert question_for("It fails", "Please help", human_exchanges=(put,)) != first
    silent = put.model_copy(update={"answer": None, "withdrawn": True})
    assert question_for("It fails", "Please help", human_exchanges=(silent,)) is None


def test_no_third_question_is_asked():
    put = tuple(HumanExchange(question=question, answer="no idea") for question in ("One?", "Two?"))
    assert question_for("It fails", "Please help", human_exchanges=put[:1]) is not None
    assert question_for("It fails", "Please help", human_exchanges=put) is None


def test_no_question_is_asked_if_its_answer_would_come_too_late():
    assert question_for("It fails", "Please help", iterations=6, max_iterations=8) is None


def test_every_question_has_a_reason_and_few_options():
    for body in ("Please help", "There is an error, and nothing else is known of it so far. " * 2):
        question = next_question(case("It fails", body, ran=RAN))
        assert question is not None
        assert question.reason
        assert 2 <= len(question.options) <= 3
