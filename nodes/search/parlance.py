"""Weights words by how little they tell about a fault's location: the more issues of any repository use one, the less.

The rarity of a word in the code is no measure: hardly any code contains "unexpected" or "reproduce".
``parlance.json`` has the words of at least two in a hundred issues. ``tests.ranking.parlance`` learns them from a
separate set of repositories.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

PARLANCE = Path(__file__).with_name("parlance.json")
HALVED = 5.0
"""Percentage of issues at which the weight of a word is halved."""


def worth_of(term: str) -> float:
    """Return the weight of a term: 1 for one that few issues contain."""
    return 1 / (1 + said_by().get(term, 0) / HALVED)


@cache
def said_by() -> dict[str, int]:
    """Return the terms that many issues contain, with the percentage of issues."""
    said: dict[str, int] = json.loads(PARLANCE.read_text(encoding="utf-8"))
    return said
