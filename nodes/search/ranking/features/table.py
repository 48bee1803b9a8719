"""The feature values of one query, and helpers that distribute them over files and chunks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from nodes.search.index import Index

    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]


@dataclass(slots=True)
class Features:
    """Feature values by name."""

    files: dict[str, Floats] = field(default_factory=dict)
    chunks: dict[str, Floats] = field(default_factory=dict)
    notes: dict[tuple[str, int], str] = field(default_factory=dict)
    """The name to show in the reason for (feature, file)."""


def scaled(scores: Floats, ranked: Iterable[bool] | Flags) -> Floats:
    """Divide by the best score of the ranked items; cap the result at 1."""
    best = float(np.max(scores, where=np.asarray(ranked, bool), initial=0.0))
    return np.minimum(1.0, scores / best) if best > 0 else np.zeros(len(scores))


def set_at_least(scores: Floats, number: int, value: float) -> None:
    """Set a score unless it is already higher."""
    scores[number] = max(float(scores[number]), value)


def zero_scores(index: Index) -> Floats:
    """Return a score of 0 for each chunk."""
    return np.zeros(len(index.chunk_file))


def best_definition(index: Index, scores: Floats) -> Floats:
    """Give each file the score of its best definition."""
    best = np.zeros(len(index.paths))
    np.maximum.at(best, index.def_file, scores)
    return best


def of_definitions(index: Index, scores: Floats) -> Floats:
    """Give each chunk the score of its definition."""
    # numpy evaluates both sides: -1 reads the last definition, which ``where`` then discards.
    return np.where(index.chunk_def >= 0, scores[index.chunk_def], 0.0) if len(scores) else zero_scores(index)


def best_of_file(index: Index, of_chunks: Floats) -> Floats:
    """Give each file the score of its best chunk."""
    best = np.zeros(len(index.paths))
    np.maximum.at(best, index.chunk_file, of_chunks)
    return best


def divided_by_best(scores: Floats) -> Floats:
    """Divide scores by the best one."""
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
