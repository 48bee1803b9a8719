"""Fit the table of agreement (``nodes/context/agreement.json``) to a model's readings of code, and store it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot.errors import UserError
from nodes.context.agreement import MODEL_FROM, RELATIONS, Opinions, Relation, Table, load_table, opinions_from

LEAST = 20
"""Readings in a conversation below which nothing is fitted."""
WEIGHT = 5
"""The shipped value counts as many readings, so that a few outcomes change it little."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A model's preference for a file that it read, and whether the fix changed that file."""

    opinions: Opinions
    right: bool


def reading(numbers: Mapping[str, float] | None, *, right: bool) -> Reading | None:
    """Return the opinions that the trace of a run holds, with its outcome; None if the model read no lines."""
    opinions = opinions_from(numbers, approved=bool(numbers.get("approved"))) if numbers else None
    return Reading(opinions, right) if opinions is not None and opinions.read else None


def fit(readings: Sequence[Reading], model: str) -> Table | None:
    """Return a model's table: each value is the share of right readings, shrunk to the shipped one; None if too few."""
    if len(readings) < LEAST:
        return None
    before = load_table()
    rows = {
        relation: tuple(_row(relation, number, readings, before) for number in range(len(MODEL_FROM)))
        for relation in RELATIONS
    }
    return replace(before, rows=rows, model=model[:200], cases=len(readings))


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
