"""The questions of an issue, and the facts that answer them."""

from __future__ import annotations

import pytest

from nodes.issue.asked import answers, questions
from nodes.search.facts import Fact

DEFINED = Fact("defined_once", "The only definition of `parse_date` is in `a.py`.", "parse_date", "a.py", 3)
DEFAULT = Fact("default_here", "`max_depth` is declared on this line.", "max_depth", "a.py", 4)
PAGE = Fact("documented_here", "`--no-cache` is documented under “Cache”.", "--no-cache", "docs/cache.md", 5)


@pytest.mark.parametrize(
    ("title", "body", "answered"),
    [
        pytest.param("Where is parse_date defined", "", [DEFINED], id="title-without-a-mark"),
        pytest.param("Dates", "Hello.\nWhich file implements `parse_date`? Thanks!", [DEFINED], id="which-file"),
        pytest.param("Depth", "How do I set `max_depth` to 3?", [DEFAULT], id="how-to-set"),
        pytest.param("Depth", "What is the default of max_depth?", [DEFAULT], id="default"),
        pytest.param("Cache", "Is there an option like `--no-cache`?", [PAGE], id="is-there-an-option"),
        pytest.param("Cache", "What does --no-cache do?", [PAGE], id="meaning"),
        pytest.param("Dates", "Where is `parse_dates` defined?", [], id="another-name"),
        pytest.param("Dates", "Why does `parse_date` fail?", [], id="a-cause-is-no-fact"),
        pytest.param("Dates", "I call `parse_date`. Where is the manual?", [], id="name-in-another-sentence"),
        pytest.param("Dates", "```\nwhere is parse_date defined?\n```\n> How do I set max_depth?", [], id="code-quote"),
        pytest.param("Dates", "How do I set " + "x" * 500 + " max_depth?", [], id="too-long"),
        pytest.param("`parse_date` is wrong", "It is defined in max_depth.", [], id="no-question"),
    ],
)
def test_a_fact_answers_a_question_about_its_name(title: str, body: str, answered: list[Fact]) -> None:
    asked = questions(title, body)
    assert [fact for fact in (DEFINED, DEFAULT, PAGE) if answers(fact, asked)] == answered


def test_the_number_of_questions_is_bounded() -> None:
    assert len(questions("", "How do I set a? " * 5_000)) == 5
