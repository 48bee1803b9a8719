"""Weights words by how little they tell about a fault's location: the more issues of any repository use one, the less.

The rarity of a word in the code is no measure: hardly any code contains "unexpected" or "reproduce".
``issue_stop_words.json`` has the words of at least two in a hundred issues. ``tests.ranking.issue_stop_words`` learns
them from a separate set of repositories.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

PATH = Path(__file__).with_name("issue_stop_words.json")
HALVED = 5.0
"""Percentage of issues at which the weight of a word is halved."""


def term_weight(term: str) -> float:
    """Return the weight of a term: 1 for one that few issues contain."""
    return 1 / (1 + issue_frequencies().get(term, 0) / HALVED)


@cache
def issue_frequencies() -> dict[str, int]:
    """Return the terms that many issues contain, with the percentage of issues."""
    percentages: dict[str, int] = json.loads(PATH.read_text(encoding="utf-8"))
    return percentages
