"""How much a word says of where a fault is: the less, the more issues of whatever repository say it.

How rare a word is in the code does not tell: hardly any code says "unexpected" or "reproduce". ``parlance.json`` has
the words of at least two in a hundred issues, learnt by ``tests.ranking.parlance`` from repositories of its own.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

PARLANCE = Path(__file__).with_name("parlance.json")
HALVED = 5.0
"""In so many of a hundred issues a word counts half."""


def worth_of(term: str) -> float:
    """Return how much a term counts, 1 for one that few issues say."""
    return 1 / (1 + said_by().get(term, 0) / HALVED)


@cache
def said_by() -> dict[str, int]:
    """Return the terms that many issues say, with how many of a hundred do."""
    said: dict[str, int] = json.loads(PARLANCE.read_text(encoding="utf-8"))
    return said
