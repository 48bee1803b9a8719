"""The support of search and model for a first file after the model read the code, from a table in ``agreement.json``.

The search's probability is calibrated for its own first file; a model's number is not calibrated. More reliable are
these observations: whether the model read the lines of its first place before it named it, whether its cause is about
these lines and about the report, and whether a critic approved it. Without all of them nothing is raised.
"""

import json
import logging
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

TABLE = Path(__file__).with_name("agreement.json")
Relation = Literal["agree", "disagree"]
"""Whether the model prefers the search's first file; both only of a cause that it explained and a critic approved."""
RELATIONS: tuple[Relation, ...] = get_args(Relation)
MODEL_FROM = (0.0, 0.6, 0.9)
_LARGEST = 64_000
"""Maximum bytes of a table; a larger file is not read."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opinions:
    """The probabilities that search and model give the first file."""

    search: float
    """The search's calibrated probability that its own first file is right."""
    model: float
    """The model's number for the file that it ranks first."""
    agree: bool
    """Whether these are the same file."""
    read: bool
    """Whether the model asked for the lines that it names first; the search's list alone is not enough."""
    explained: bool = False
    """Whether the model's cause is about the lines that it cites and about the report."""
    approved: bool = False
    """Whether a critic approved after the reading."""

    @property
    def relation(self) -> Relation | None:
        """The row of the table that applies; None if the table does not."""
        if not (self.read and self.explained and self.approved):
            return None
        return "agree" if self.agree else "disagree"

    def numbers(self) -> dict[str, float]:
        """Return the opinions as a trace contains them, without the verdict, which comes later."""
        return {name: float(getattr(self, name)) for name in ("search", "model", "agree", "read", "explained")}


@dataclass(frozen=True, slots=True)
class Table:
    """The support that opinions give a file, by relation and by both probabilities."""

    search_from: tuple[float, ...]
    """The lowest probability of the search of each column."""
    rows: Mapping[Relation, tuple[tuple[float, ...], ...]]
    """By relation: one row for each value of MODEL_FROM."""
    model: str = ""
    """The model whose runs were counted; empty for the shipped table."""
    cases: int = 0
    """Runs that were counted."""

    def entry(self, relation: Relation, search: float, model: float) -> float:
        """Return the value for two probabilities."""
        return self.rows[relation][bisect_right(MODEL_FROM, model) - 1][self.column(search)]

    def column(self, search: float) -> int:
        """Return the number of the column for a probability of the search."""
        return bisect_right(self.search_from, search) - 1

    def document(self) -> dict[str, Any]:
        """Return the table in the format of its file."""
        fitted = f"on {self.cases} runs of {self.model}" if self.cases else "by hand"
        names = [f"model_from_{model}" for model in MODEL_FROM]
        rows = {str(relation): dict(zip(names, map(list, self.rows[relation]), strict=True)) for relation in RELATIONS}
        head = {"fitted": fitted, "model": self.model, "cases": self.cases, "search_from": list(self.search_from)}
        return {**head, **rows}


def opinions_from(numbers: Mapping[str, float], *, approved: bool) -> Opinions | None:
    """Return the opinions that the trace of a search holds; None if no model read the code."""
    if "model" not in numbers:
        return None
    seen = {name: bool(numbers.get(name)) for name in ("agree", "read", "explained")}
    return Opinions(numbers["search"], numbers["model"], **seen, approved=approved)


def support_of(opinions: Opinions, table: Table | None = None) -> float:
    """Return how far the opinions support the model's first file; a report may claim it from a minimum on.

    The model's number alone never raises it, and without a table a preference that contradicts the search has at most
    the probability that the search leaves to other files.
    """
    lower, relation = min(opinions.search, opinions.model), opinions.relation
    if relation is None:
        return round(lower if opinions.agree else min(lower, 1 - opinions.search), 4)
    entry = (table or load_table()).entry(relation, opinions.search, opinions.model)
    return round(min(opinions.model, max(lower, entry) if opinions.agree else entry), 4)


def confidence_of(opinions: Opinions, table: Table | None = None) -> float:
    """Return the confidence that is shown: what was measured, and at most the search's own until runs are counted.

    A model that is consistently wrong cannot be distinguished from one that is right, so the shipped table raises no
    number.
    """
    support = support_of(opinions, table)
    measured = table is not None and table.cases > 0 and opinions.relation is not None
    return support if measured else round(min(support, opinions.search), 4)


@cache
def load_table() -> Table:
    """Return the shipped table."""
    return read_table(json.loads(TABLE.read_text(encoding="utf-8")))


def read_table(document: Any) -> Table:
    """Read a table.

    Raises:
        ValueError: the text is not a table, or another release wrote it.
    """
    try:
        columns = tuple(map(float, document["search_from"]))
        names = [f"model_from_{model}" for model in MODEL_FROM]
        rows: dict[Relation, tuple[tuple[float, ...], ...]] = {
            relation: tuple(tuple(map(float, document[relation][name])) for name in names) for relation in RELATIONS
        }
        table = Table(columns, rows, str(document.get("model", ""))[:200], int(document.get("cases", 0)))
    except (KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"not a table of agreement: {error!r}") from error
    values = [value for relation in rows.values() for row in relation for value in row]
    whole = all(len(row) == len(columns) for relation in rows.values() for row in relation)
    if not whole or columns[:1] != (0.0,) or list(columns) != sorted(columns) or not all(0 <= v <= 1 for v in values):
        raise ValueError("not a table of agreement: its rows do not fit")
    return table


def load_fitted(file: Path | None, model: str) -> Table | None:
    """Return a table that a backtest fitted to this model; None if there is none, or if it cannot be used."""
    if file is None:
        return None
    try:
        with file.open("rb") as opened:
            content = opened.read(_LARGEST + 1)
        table = read_table(json.loads(content)) if len(content) <= _LARGEST else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        logger.warning("table of agreement ignored: %s", error, extra={"action": "agreement.ignored"})
        return None
    return table if table is not None and table.cases and table.model == model else None
