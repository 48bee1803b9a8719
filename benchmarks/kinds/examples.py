"""Labelled issues, read from external tables, and their division for measurements."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodes.issue.kinds.model import LEARNT, Field, LearntKind, parts_of, terms_in

LONGEST = 1 << 27
FOLDS = 5
Split = tuple[list["Example"], list["Example"]]
"""The issues for training, and those for testing."""


@dataclass(frozen=True, slots=True)
class Example:
    """An issue, and the kind that its maintainers assigned."""

    source: str
    repository: str
    kind: LearntKind
    title: str
    body: str
    terms: dict[Field, frozenset[str]]


def read_examples(paths: Sequence[Path]) -> list[Example]:
    """Read the issues of learnt kinds.

    A CSV file has the columns repo, label, title and body; its source is the file's name. A line of a JSONL file has
    the keys repo, kind, title, body and source.
    """
    csv.field_size_limit(LONGEST)
    return [
        example(row["repo"], kind, row["title"], row["body"] or "", row.get("source", path.stem))
        for path in paths
        for row in _rows(path)
        if (kind := row.get("kind") or row["label"]) in LEARNT
    ]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(newline="", encoding="utf-8") as lines:
        yield from csv.DictReader(lines) if path.suffix == ".csv" else map(json.loads, lines)


def example(repository: str, kind: str, title: str, body: str, source: str = "") -> Example:
    """Build an example with its terms."""
    return Example(source, repository, kind, title, body, terms_in(parts_of(title, body)))  # type: ignore[arg-type]


def folds(examples: Sequence[Example], count: int = FOLDS) -> Iterator[Split]:
    """Yield (training set, test set); every fold has the same share of each repository's kinds."""
    seen = Counter[tuple[str, str]]()
    numbers: dict[int, int] = {}
    for at, one in enumerate(examples):
        numbers[at] = seen[one.repository, one.kind] % count
        seen[one.repository, one.kind] += 1
    yield from _divided(examples, numbers.__getitem__, count)


def whole_repositories(examples: Sequence[Example], count: int = FOLDS) -> Iterator[Split]:
    """Yield (training set, test set); no repository is in both, and the sets have similar sizes."""
    sizes = Counter(one.repository for one in examples)
    full = [0] * min(count, len(sizes))
    number = {}
    for name, size in sorted(sizes.items(), key=lambda one: (-one[1], one[0])):
        number[name] = full.index(min(full))
        full[number[name]] += size
    yield from _divided(examples, lambda at: number[examples[at].repository], len(full))


def whole_sources(examples: Sequence[Example]) -> Iterator[Split]:
    """Yield (training set, test set); each source is the test set once."""
    names = sorted({one.source for one in examples})
    yield from _divided(examples, lambda at: names.index(examples[at].source), len(names))


def _divided(examples: Sequence[Example], fold_of: Callable[[int], int], count: int) -> Iterator[Split]:
    numbers = [fold_of(at) for at in range(len(examples))]
    for fold in range(count):
        yield (
            [one for one, number in zip(examples, numbers, strict=True) if number != fold],
            [one for one, number in zip(examples, numbers, strict=True) if number == fold],
        )
