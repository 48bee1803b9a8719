"""Fit the table of agreement (``nodes/context/agreement.json``) to a model's readings of code, and store it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.errors import UserError
from nodes.context.agreement import RELATIONS, Opinions, Relation, Table, load_table, opinions_from

LEAST = 20
"""Readings in a conversation below which nothing is fitted."""
WEIGHT = 5
"""Number of readings for which the shipped value counts, so that a few outcomes change it little."""


def reading(numbers: Mapping[str, float] | None) -> Opinions | None:
    """Return the opinions in the trace of a run; None if the model read no lines."""
    opinions = opinions_from(numbers, approved=bool(numbers.get("approved"))) if numbers else None
    return opinions if opinions is not None and opinions.read else None


def fit(readings: Sequence[tuple[Opinions, bool]], model: str) -> Table | None:
    """Return a model's shares of readings whose file was fixed, shrunk to the shipped ones; None if too few."""
    if len(readings) < LEAST:
        return None
    shipped = load_table()
    counted, right = Counter[object](), Counter[object]()
    for opinions, is_right in readings:
        cell = (opinions.relation, *shipped.cell(opinions.search, opinions.model))
        counted[cell] += 1
        right[cell] += is_right

    def fitted(relation: Relation, row: str, column: int, value: float) -> float:
        cell = relation, row, column
        # Rounded down, because a claim needs a minimum.
        share = int(100 * (right[cell] + WEIGHT * value) / (counted[cell] + WEIGHT) + 1e-9) / 100
        return share if counted[cell] else value

    rows = {
        str(relation): {
            row: tuple(fitted(relation, row, column, value) for column, value in enumerate(values))
            for row, values in getattr(shipped, relation).items()
        }
        for relation in RELATIONS
    }
    head = {"fitted": f"on {len(readings)} runs of {model}", "model": model[:200], "cases": len(readings)}
    return shipped.model_copy(update={**rows, **head})


def store(table: Table, file: Path) -> None:
    """Store a table; raise UserError if the file cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{table.model_dump_json(indent=1)}\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from error
