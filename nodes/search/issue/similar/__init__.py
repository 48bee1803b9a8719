"""Finds issues about the same failure: a word search over all issues, then a comparison of each pair."""

from __future__ import annotations

from nodes.search.issue.similar.likeness import Likeness, Report, compare
from nodes.search.issue.similar.nearest import Near, PastIndex
from nodes.search.issue.similar.words import VERSION, IssueWords, words_of

__all__ = ["VERSION", "IssueWords", "Likeness", "Near", "PastIndex", "Report", "compare", "words_of"]
