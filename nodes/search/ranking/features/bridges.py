"""Follows tests and documents to source files: they often use an issue's words next to the names in the code."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.paths.suffixes import PACKAGE_FILES
from nodes.search.ranking.features.neighbours import imported

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from nodes.search.index import Index
    from nodes.search.paths.suffixes import PathIndex

    Floats = npt.NDArray[np.float64]

CROSSED = 20
"""Number of chunks of each role that are followed."""
SHARPNESS = 3.0  # how quickly the weight drops with the similarity
NAMESAKES = 4  # files of the same stem; if there are more, a test's name identifies none of them
BY_NAME, BY_MENTION, BY_IMPORT = 1.0, 0.6, 0.4
"""Weight of a target that the bridge is named after, whose definition it names, or that it only imports."""
_TEST_PART = re.compile(r"^(tests?|spec)[_-]|[._-](tests?|spec)$|(?<=[a-z0-9])(Tests?|TestCase|Spec|IT)$")


def bridge_chunks(index: Index, scores: Floats) -> list[int]:
    """Return the chunks of tests, and of documents and changelogs, that are most similar to the text, best first."""
    best: list[int] = []
    for role in ("test", "docs"):
        of_role = np.array([mine == role for mine in index.roles], bool)
        rows = np.flatnonzero(of_role[index.chunk_file] & (scores > 0)) if len(scores) else np.zeros(0, np.int64)
        # Per role, so that the many tests of a repository do not displace its documents.
        best.extend(rows[np.lexsort((rows, -np.round(scores[rows], 9)))][:CROSSED].tolist())
    return sorted(best, key=lambda chunk: (-round(float(scores[chunk]), 9), chunk))


def follow_bridges(
    index: Index, names: PathIndex, scores: Floats, chunks: list[int], mentions: Mapping[int, Mapping[int, float]]
) -> Floats:
    """Follow chunks to the source files that they refer to.

    Args:
        index: the commit's files.
        names: their paths.
        scores: similarity of every chunk with the text.
        chunks: the chunks to follow, best first.
        mentions: the definitions that each chunk names.

    Returns:
        One score per file, 0 to 1; all 0 if source files are as similar to the text as any bridge.
    """
    found = np.zeros(len(index.paths))
    if not chunks:
        return found
    lead = similarity_lead(index, scores, chunks[0])
    imports: dict[int, list[int]] = {}
    share = (scores[chunks] / scores[chunks[0]]) ** SHARPNESS
    for chunk, worth in zip(chunks, (share / share.sum()).tolist(), strict=True):
        number = int(index.chunk_file[chunk])
        if number not in imports:
            imports[number] = sorted(imported(index, names, number))
        targets = dict.fromkeys(imports[number], BY_IMPORT)
        named: dict[int, float] = {}
        for definition, rarity in mentions.get(chunk, {}).items():
            file = int(index.def_file[definition])
            named[file] = max(named.get(file, 0.0), rarity * BY_MENTION)
        for file, weight in named.items():
            targets[file] = max(targets.get(file, 0.0), weight)
        targets |= dict.fromkeys(sorted(same_name(index, names, number)), BY_NAME)
        for file, weight in targets.items():
            if file != number:
                # A test that refers to many files is weaker evidence for each of them.
                found[file] += worth * weight / len(targets) ** 0.5
    return found * lead / max(1e-9, float(found.max(initial=0.0)))


def similarity_lead(index: Index, scores: Floats, bridge: int) -> float:
    """Return by how much a bridge is more similar than any source file, 0 to 1; 0 if the code has the words itself."""
    source = np.array([role == "source" for role in index.roles], bool)
    best = float(scores.max(initial=0.0, where=source[index.chunk_file]))
    return min(1.0, max(0.0, float(scores[bridge]) / best - 1.0)) if best > 0 else 1.0


def same_name(index: Index, names: PathIndex, number: int) -> set[int]:
    """Return the source files that a test or a document is named after."""
    path = PurePosixPath(index.paths[number])
    stem = _TEST_PART.sub("", path.name.partition(".")[0]).lower()
    found = [other for other in names.by_stem.get(stem, ()) if index.roles[other] == "source"]
    if stem in PACKAGE_FILES or not found:
        return set()
    folders = set(path.parts[:-1])
    # Tests mirror the folders of the source in most projects, so shared folder names decide between namesakes.
    near = {other: len(folders & set(PurePosixPath(index.paths[other]).parts)) for other in found}
    most_shared = max(near.values())
    best = {other for other in found if near[other] == most_shared}
    return best if len(best) <= NAMESAKES else set()
