"""Labelled issues, read from an external table."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nodes.issue.kinds import LearntKind
from nodes.issue.kinds.terms import Field, parts_of, terms_in

LONGEST = 1 << 27
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Example:
    """An issue, and the kind that its maintainers assigned."""

    repository: str
    kind: LearntKind
    title: str
    body: str
    terms: dict[Field, frozenset[str]]


def read_examples(path: Path) -> list[Example]:
    """Read a CSV file with the columns repo, label, title and body."""
    csv.field_size_limit(LONGEST)
    with path.open(newline="", encoding="utf-8") as rows:
        return [example(row["repo"], row["label"], row["title"], row["body"] or "") for row in csv.DictReader(rows)]


def example(repository: str, kind: str, title: str, body: str) -> Example:
    """Build an example with its terms."""
    return Example(repository, kind, title, body, terms_in(parts_of(title, body)))  # type: ignore[arg-type]


def folds(examples: Sequence[Example], count: int = FOLDS) -> Iterator[tuple[list[Example], list[Example]]]:
    """Yield (training set, test set); every fold has the same share of each repository's kinds."""
    seen: dict[tuple[str, str], int] = {}
    numbers = []
    for one in examples:
        key = (one.repository, one.kind)
        numbers.append(seen.get(key, 0) % count)
        seen[key] = seen.get(key, 0) + 1
    for fold in range(count):
        yield (
            [one for one, number in zip(examples, numbers, strict=True) if number != fold],
            [one for one, number in zip(examples, numbers, strict=True) if number == fold],
        )


def leave_one_repository_out(examples: Sequence[Example]) -> Iterator[tuple[list[Example], list[Example]]]:
    """Yield (training set, test set); each repository is the test set once."""
    for name in sorted({one.repository for one in examples}):
        yield [one for one in examples if one.repository != name], [one for one in examples if one.repository == name]
