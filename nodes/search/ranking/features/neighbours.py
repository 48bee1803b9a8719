"""The import graph around the likeliest files: a file with likely neighbours becomes slightly likelier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nodes.search.paths.suffixes import common_tail

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from nodes.search.index import Index
    from nodes.search.paths.suffixes import PathIndex

    Floats = npt.NDArray[np.float64]

AROUND = 40
"""Number of files whose imports are read: reading all would cost more than the rest of a query."""
TEMPERATURE = 2.0  # how quickly the weight drops with the score


def likely_files(scores: Floats) -> dict[int, float]:
    """Return the best files with their shares of likelihood, which add up to 1; empty if no score is positive."""
    rows = np.flatnonzero(scores > 0)
    if not len(rows):
        return {}
    top = rows[np.lexsort((rows, -np.round(scores[rows], 9)))][:AROUND].tolist()
    share = np.exp(TEMPERATURE * (scores[top] - scores[top[0]]))
    return {number: float(value) for number, value in zip(top, share / share.sum(), strict=True)}


def neighbour_scores(index: Index, names: PathIndex, likely: Mapping[int, float]) -> Floats:
    """Give each file the likelihood of the files that it imports or that import it."""
    found = np.zeros(len(index.paths))
    for number, share in likely.items():
        # Sorted, because the sum of floats depends on their order.
        for other in sorted(imported(index, names, number)):
            if other != number:
                found[other] += share
                # Both directions, but this one among likely files only: the imports of all others are not read.
                found[number] += likely.get(other, 0.0)
    return np.minimum(1.0, found)


def siblings(scores: Floats, folder: npt.NDArray[np.int64]) -> Floats:
    """Give each file the mean score of the others in its folder, 0 to 1 of the best score."""
    positive = np.maximum(0.0, scores)
    count = np.bincount(folder)[folder]
    others = np.bincount(folder, positive)[folder] - positive
    return np.asarray(others / np.maximum(1, count - 1) / max(1e-9, float(positive.max(initial=0.0))))


def imported(index: Index, names: PathIndex, number: int) -> set[int]:
    """Return the files of the commit that a file imports."""
    return {found for written in index.meta(number).imports for found in resolve(names, index.paths[number], written)}


def resolve(names: PathIndex, path: str, written: str) -> Iterator[int]:
    """Yield the files that one import, relative or absolute, refers to."""
    parts = [
        part for part in written.replace("::", ".").replace("/", ".").split(".") if part not in {"", "crate", "self"}
    ]
    relative = written.startswith(".")
    folder = path.split("/")[:-1]
    if not parts:
        return
    best = [
        number
        for number in names.by_module_tail.get(parts[-1], ())
        if common_tail(parts, names.modules[number]) == len(parts)
    ]
    # The dots are not resolved. A file counts if it is at most two folders up, as with ``../../x``.
    if relative:
        best = [
            n for n in best if names.paths[n].split("/")[: max(0, len(folder) - 2)] == folder[: max(0, len(folder) - 2)]
        ]
    if 0 < len(best) <= 2:
        yield from best
    elif len(parts) > 1 and not relative:
        yield from (number for number, _ in names.of_module(".".join(parts)))
