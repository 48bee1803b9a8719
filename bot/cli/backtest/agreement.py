"""Fit the table of agreement (``nodes/context/agreement.json``) to the readings of a backtest, and store it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.cli.backtest.score import Scored
from bot.errors import UserError
from nodes.context.agreement import (
    MODEL_FROM,
    RELATIONS,
    Opinions,
    Relation,
    Table,
    load_table,
    opinions_from,
    support_of,
)
from nodes.trust.quality_gate import LOW_CONFIDENCE

LEAST = 20
"""Readings in a conversation below which nothing is fitted."""
WEIGHT = 10
"""The shipped value counts as many readings, so that a few outcomes change it little."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A model's preference for a file that it read, and whether the fix changed that file."""

    opinions: Opinions
    right: bool


@dataclass(frozen=True, slots=True)
class Fitted:
    """A table of agreement before and after the readings of a backtest."""

    readings: tuple[Reading, ...]
    before: Table
    after: Table | None
    """None if there were too few readings."""

    def document(self) -> dict[str, Any]:
        """Return the result as plain values."""
        after = None if self.after is None else self.after.document()
        return {"readings": len(self.readings), "right": sum(one.right for one in self.readings), "table": after}

    def lines(self) -> list[str]:
        """Return the result for a person: what would be claimed with each table, and the changed values."""
        readings, right = len(self.readings), sum(one.right for one in self.readings)
        counted = f"Agreement:   {readings} readings in a conversation, {right} of them right"
        if self.after is None:
            return [f"{counted}; {LEAST} are needed to fit the table of agreement."]
        claims = f"claimed with the shipped table {self._claims(self.before)}, with this one {self._claims(self.after)}"
        head = f"{counted}; {claims} (counted on the readings that it is fitted to)."
        return [head, *(f"             {line}" for line in self._changes(self.after))]

    def _claims(self, table: Table) -> str:
        claimed = [one for one in self.readings if support_of(one.opinions, table) >= LOW_CONFIDENCE]
        return f"{len(claimed)}, {sum(one.right for one in claimed)} right"

    def _changes(self, after: Table) -> list[str]:
        lines = []
        for relation in RELATIONS:
            for number, model in enumerate(MODEL_FROM):
                pairs = zip(self.before.rows[relation][number], after.rows[relation][number], strict=True)
                lines += [
                    f"{relation}, model from {model:g}, search from {start:g}: {old:.2f} → {new:.2f}"
                    for start, (old, new) in zip(after.search_from, pairs, strict=True)
                    if old != new
                ]
        return lines


def fit(cases: Sequence[Scored], model: str, shipped: Table | None = None) -> Fitted:
    """Fit a table to a backtest's readings: each value is the fraction of right ones, shrunk to the shipped one.

    Args:
        cases: the issues, judged by the model.
        model: its name; other models do not use the table.
        shipped: the table towards which the values are shrunk; None for the shipped table.
    """
    read = (reading(case.opinions, right=case.right) for case in cases if case.opinions is not None)
    return fit_readings(tuple(filter(None, read)), model, shipped)


def fit_readings(readings: tuple[Reading, ...], model: str, shipped: Table | None = None) -> Fitted:
    """Fit a table to readings, as `fit` does."""
    before = shipped or load_table()
    if len(readings) < LEAST:
        return Fitted(readings, before, None)
    rows = {
        relation: tuple(_row(relation, number, readings, before) for number in range(len(MODEL_FROM)))
        for relation in RELATIONS
    }
    return Fitted(readings, before, replace(before, rows=rows, model=model[:200], cases=len(readings)))


def _row(relation: Relation, number: int, readings: Sequence[Reading], before: Table) -> tuple[float, ...]:
    shipped = before.rows[relation][number]
    right, counted = [0] * len(shipped), [0] * len(shipped)
    high = MODEL_FROM[number + 1] if number + 1 < len(MODEL_FROM) else 2.0
    for one in readings:
        opinions = one.opinions
        if opinions.relation == relation and MODEL_FROM[number] <= opinions.model < high:
            column = before.column(opinions.search)
            right[column] += one.right
            counted[column] += 1
    # A row without a reading keeps the shipped values. Rounded down, because a claim needs a minimum.
    return tuple(
        value if not n else int(100 * (k + WEIGHT * value) / (n + WEIGHT) + 1e-9) / 100
        for value, k, n in zip(shipped, right, counted, strict=True)
    )


def reading(numbers: Mapping[str, float], *, right: bool) -> Reading | None:
    """Return the opinions that the trace of a run holds, with its outcome; None if the model read no lines."""
    opinions = opinions_from(numbers, approved=bool(numbers.get("approved")))
    return Reading(opinions, right) if opinions is not None and opinions.read else None


def store(table: Table, file: Path) -> None:
    """Store a table in a file that only its owner can read.

    Raises:
        UserError: the file cannot be written.
    """
    # Written aside and renamed, so that a run never reads half a table.
    part = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(f"{json.dumps(table.document(), indent=1)}\n", encoding="utf-8")
        part.chmod(0o600)
        part.replace(file)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from error
