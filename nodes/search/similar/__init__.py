"""Issues that are about the same: found among many by their words, judged one by one."""

from __future__ import annotations

from nodes.search.similar.likeness import Likeness, Report, compare
from nodes.search.similar.nearest import Near, PastIndex
from nodes.search.similar.words import VERSION, IssueWords, words_of

__all__ = ["VERSION", "IssueWords", "Likeness", "Near", "PastIndex", "Report", "compare", "words_of"]
