"""Hints of maintainers: files of a place taught for a word of the issue count more. A hint is not evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nodes.search.types import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from nodes.search.index import Index

    Floats = npt.NDArray[np.float64]

HINT = 1.0
"""What a hint adds to the score of a file."""
HINTED = 0.5
"""Maximum confidence in a first file that only a hint put there: as for two files with the same score."""


def hinted_files(index: Index, hints: Sequence[str]) -> Floats:
    """Return 1 for each file at or below a hinted path, and 0 for all others."""
    found = np.zeros(len(index.paths))
    for hint in hints:
        folder = f"{hint}/"
        found[[number for number, path in enumerate(index.paths) if path == hint or path.startswith(folder)]] = 1.0
    return found


def with_hint(reasons: tuple[Reason, ...], hinted: Floats, number: int) -> tuple[Reason, ...]:
    """Return the reasons of a file with the hint, if one applies to it."""
    if not hinted[number]:
        return reasons
    found = (*reasons, Reason("hint", "maintainers taught its folder for a word of the text", HINT))
    return tuple(sorted(found, key=lambda reason: (-abs(reason.contribution), reason.kind, reason.text)))


def limited(confidence: float, by_evidence: Sequence[int], shown: Sequence[int]) -> float:
    """Return the confidence in the first shown file, given the confidence in the first file by evidence alone."""
    same = not shown or by_evidence[:1] == shown[:1]
    return confidence if same else min(confidence, HINTED)
