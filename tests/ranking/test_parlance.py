"""Which words say little, because issues say them wherever they are written."""

from __future__ import annotations

from nodes.search.parlance import worth_of
from tests.ranking.parlance import parlance


def test_a_word_that_issues_of_many_repositories_say_is_parlance_one_projects_own_is_not():
    issues = [(repository, f"please help with {repository}") for repository in ("cars", "boats", "planes")]
    assert parlance(issues) == {"help": 100}


def test_the_more_issues_say_a_word_the_less_it_counts():
    assert worth_of("frobnicator") == 1
    assert 0 < worth_of("add") < worth_of("crash") < 1
