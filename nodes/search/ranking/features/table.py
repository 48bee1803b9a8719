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


def best_of_file(files: int, owner: npt.NDArray[np.signedinteger], scores: Floats) -> Floats:
    """Give each of ``files`` files the best score of its parts, whose file numbers are ``owner``; at least 0."""
    best = np.zeros(files)
    np.maximum.at(best, owner, scores)
    return best


def of_definitions(index: Index, scores: Floats) -> Floats:
    """Give each chunk the score of its definition."""
    # numpy evaluates both sides: -1 reads the last definition, which ``where`` then discards.
    return (
        np.where(index.chunk_def >= 0, scores[index.chunk_def], 0.0) if len(scores) else np.zeros(len(index.chunk_def))
    )


def divided_by_best(scores: Floats) -> Floats:
    """Divide scores by the best one."""
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
