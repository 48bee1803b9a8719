"""Words that are common in issues have a low weight."""

from __future__ import annotations

from benchmarks.ranking.issue_stop_words import issue_stop_words
from nodes.search.issue.query import worth


def test_only_a_word_in_issues_of_many_repositories_is_a_stop_word():
    issues = [(repository, f"please help with {repository}") for repository in ("cars", "boats", "planes")]
    assert issue_stop_words(issues) == {"help": 100}


def test_the_weight_of_a_word_falls_with_its_frequency():
    weights = worth(("frobnicator", "add", "crash"), "")
    assert 0 < weights["add"] < weights["crash"] < weights["frobnicator"] == 1
