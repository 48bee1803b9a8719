"""The support of search and model for a first file after the model read the code, from a table in ``agreement.json``.

The search's probability is calibrated for its own first file; a model's number is not calibrated. More reliable are
these observations: whether the model read the lines of its first place before it named it, whether its cause is about
these lines and about the report, and whether a critic approved it. Without all of them nothing is raised.
"""

import logging
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

TABLE = Path(__file__).with_name("agreement.json")
Relation = Literal["agree", "disagree"]
"""Whether model and search rank the same file first; only for a cause that is explained and that a critic approved."""
RELATIONS: tuple[Relation, ...] = get_args(Relation)
MODEL_FROM = (0.0, 0.6, 0.9)
ROWS = tuple(f"model_from_{model}" for model in MODEL_FROM)
_MAX_TABLE_BYTES = 64_000
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
        applies = self.read and self.explained and self.approved
        return None if not applies else "agree" if self.agree else "disagree"

    def numbers(self) -> dict[str, float]:
        """Return the opinions as a trace contains them, without the verdict, which comes later."""
        return {name: float(getattr(self, name)) for name in ("search", "model", "agree", "read", "explained")}


Share = Annotated[float, Field(ge=0, le=1)]
Rows = dict[str, tuple[Share, ...]]
"""One row for each value of MODEL_FROM, by its name."""


class AgreementTable(BaseModel):
    """The support that opinions give a file, by relation and by both probabilities."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    fitted: str = ""
    model: str = ""
    """The model whose runs were counted; empty for the shipped table."""
    cases: int = 0
    """Runs that were counted."""
    search_from: tuple[Share, ...]
    """The lowest probability of the search of each column."""
    agree: Rows
    disagree: Rows

    @model_validator(mode="after")
    def _fits(self) -> Self:
        is_ordered = self.search_from[:1] == (0.0,) and list(self.search_from) == sorted(self.search_from)
        for rows in (self.agree, self.disagree):
            if not is_ordered or set(rows) != set(ROWS) or {*map(len, rows.values())} != {len(self.search_from)}:
                raise ValueError("its rows do not fit")
        return self

    def cell(self, search: float, model: float) -> tuple[str, int]:
        """Return the row and the column for two probabilities."""
        return ROWS[bisect_right(MODEL_FROM, model) - 1], bisect_right(self.search_from, search) - 1


def opinions_from(numbers: Mapping[str, float], *, approved: bool) -> Opinions | None:
    """Return the opinions that the trace of a search holds; None if no model read the code."""
    if "model" not in numbers:
        return None
    seen = {name: bool(numbers.get(name)) for name in ("agree", "read", "explained")}
    return Opinions(numbers["search"], numbers["model"], **seen, approved=approved)


def support_of(opinions: Opinions, table: AgreementTable | None = None) -> float:
    """Return how far the opinions support the model's first file; a report may claim it from a minimum on.

    The model's number alone never raises it, and without a table a preference that contradicts the search has at most
    the probability that the search leaves to other files.
    """
    lower, relation = min(opinions.search, opinions.model), opinions.relation
    if relation is None:
        return round(lower if opinions.agree else min(lower, 1 - opinions.search), 4)
    table = table or load_table()
    row, column = table.cell(opinions.search, opinions.model)
    entry = (table.agree if relation == "agree" else table.disagree)[row][column]
    return round(min(opinions.model, max(lower, entry) if opinions.agree else entry), 4)


def confidence_of(opinions: Opinions, table: AgreementTable | None = None) -> float:
    """Return the confidence that is shown: what was measured, and at most the search's own until runs are counted.

    A model that is consistently wrong cannot be distinguished from one that is right, so the shipped table raises no
    number.
    """
    support = support_of(opinions, table)
    measured = table is not None and table.cases > 0 and opinions.relation is not None
    return support if measured else round(min(support, opinions.search), 4)


@cache
def load_table() -> AgreementTable:
    """Return the shipped table."""
    return AgreementTable.model_validate_json(TABLE.read_bytes())


def load_fitted(file: Path | None, model: str) -> AgreementTable | None:
    """Return a table that a backtest fitted to this model; None if there is none, or if it cannot be used."""
    if file is None:
        return None
    try:
        with file.open("rb") as opened:
            content = opened.read(_MAX_TABLE_BYTES + 1)
        table = AgreementTable.model_validate_json(content) if len(content) <= _MAX_TABLE_BYTES else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        logger.warning("table of agreement ignored: %s", error, extra={"action": "agreement.ignored"})
        return None
    return table if table is not None and table.cases and table.model == model else None
