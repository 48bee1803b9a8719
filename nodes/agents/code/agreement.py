"""The probability that the first file is right after a model read the code, from a small table in ``agreement.json``.

The search's probability is calibrated for its own first file, and a model's number for nothing. What tells more is
whether both prefer the same file, and whether the model does so again when the list is reversed: a model that guesses
by position, or not at all, prefers another file then.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

TABLE = Path(__file__).with_name("agreement.json")
Relation = Literal["agree_in_both_orders", "disagree_in_both_orders"]
_MODEL_FROM = (0.0, 0.5, 0.8)


@dataclass(frozen=True, slots=True)
class Opinions:
    """The probabilities that search and model give the first file."""

    search: float
    """The search's calibrated probability that its own first file is right."""
    model: float
    """The model's number for the file that it ranks first."""
    agree: bool
    """Whether these are the same file."""
    same_in_both_orders: bool | None
    """Whether the model preferred one file in both orders of the list; None if it saw one order."""


def confidence_of(opinions: Opinions) -> float:
    """Return the probability that the model's first file is right.

    The model's number alone never raises it: only agreement with the search in both orders can lift it above the
    search's, and only a preference that both orders confirm is believed against the search.
    """
    lower = min(opinions.search, opinions.model)
    if not opinions.same_in_both_orders:
        # The remaining probability is all that is known of another file.
        return round(lower if opinions.agree else min(lower, 1 - opinions.search), 4)
    if opinions.agree:
        return round(max(lower, _entry("agree_in_both_orders", opinions)), 4)
    return round(min(opinions.model, _entry("disagree_in_both_orders", opinions)), 4)


def _entry(relation: Relation, opinions: Opinions) -> float:
    table = load_table()
    row = table[relation][f"model_from_{_MODEL_FROM[bisect_right(_MODEL_FROM, opinions.model) - 1]}"]
    return float(row[bisect_right(table["search_from"], opinions.search) - 1])


@cache
def load_table() -> dict[str, Any]:
    """Return the table."""
    table: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table
