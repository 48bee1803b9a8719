"""The second pass: features of what surrounds the likeliest files and functions of the first pass.

Bridges lead from tests and documents to source files: they often use an issue's words next to the names in the code.
The call neighbourhood of the likeliest functions consists of their callees and their callers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.index import lookup
from nodes.search.paths.suffixes import PACKAGE_FILES
from nodes.search.ranking.features.neighbours import imported, likely_files, neighbour_scores, siblings
from nodes.search.ranking.features.past import change_together
from nodes.search.ranking.features.table import best_of_file, divided_by_best, of_definitions
from nodes.search.tokens import STOPWORDS, WORD, term_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from nodes.search.index import Index
    from nodes.search.paths.suffixes import PathIndex
    from nodes.search.ranking.features.table import Features

    Flags = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]
    ReadChunks = Callable[[Sequence[int]], Mapping[int, str]]

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


AROUND = 30
"""Number of chunks whose calls are followed."""
TEMPERATURE = 2.0  # how quickly the weight drops with the score
COMMON = 60  # chunks that contain a name; if there are more, it does not identify calls of this function


def likely_chunks(scores: Floats, count: int = AROUND) -> dict[int, float]:
    """Return the best chunks with their shares of likelihood, which add up to 1; empty if no score is positive."""
    rows = np.flatnonzero(scores > 0)
    if not len(rows):
        return {}
    top = rows[np.lexsort((rows, -np.round(scores[rows], 9)))][:count]
    # A softmax; the best score is subtracted so that ``exp`` cannot overflow.
    share = np.exp(TEMPERATURE * (scores[top] - scores[top[0]]))
    return dict(zip(top.tolist(), (share / share.sum()).tolist(), strict=True))


def called(index: Index, likely: Mapping[int, float], mentions: Mapping[int, Mapping[int, float]]) -> Floats:
    """Give each definition the likelihood of the chunks that name it."""
    found = np.zeros(len(index.def_last))
    for chunk, share in likely.items():
        own = int(index.chunk_def[chunk])
        for definition, rarity in mentions.get(chunk, {}).items():
            if definition != own:
                found[definition] += share * rarity
    return found


def callers(index: Index, likely: Mapping[int, float]) -> Floats:
    """Give each chunk the likelihood of the definitions whose compound name it contains."""
    likelihood: dict[int, float] = {}
    owners: dict[int, set[int]] = {}
    for chunk, share in likely.items():
        definition = int(index.chunk_def[chunk])
        if definition >= 0:
            name = index.name_of(definition).rpartition(".")[2].strip("_")
            # A plain word such as ``get`` occurs everywhere; only a compound name is a term that identifies calls.
            if "_" in name or name.lower() != name:
                # The index has the whole identifier as a lowercased term, without surrounding underscores.
                key = term_hash(name.lower())
                likelihood[key] = likelihood.get(key, 0.0) + share
                owners.setdefault(key, set()).add(definition)
    found = np.zeros(len(index.chunk_file))
    hashes = sorted(likelihood)
    matches = index.match(hashes)
    for place, key in enumerate(hashes):
        rows = matches.chunk[matches.term == place]
        rows = rows[~np.isin(index.chunk_def[rows], list(owners[key]))]
        if 0 < len(rows) <= COMMON:
            # A few callers are stronger evidence than many.
            found[rows] += likelihood[key] / len(rows) ** 0.5
    return found


SHORTEST = 4  # letters; shorter names are loop variables more often than references
SAME_NAME = 4  # definitions that share a name; if there are more, the name identifies none of them


def definitions_in_texts(index: Index, texts: Mapping[int, str], ranked: Flags) -> dict[int, dict[int, float]]:
    """Return for each text the definitions in ranked files that it names, weighted by how few share the name."""
    words = {key: {word for word in WORD.findall(text) if _may_name(word)} for key, text in texts.items()}
    every = sorted({term_hash(word) for mentions in words.values() for word in mentions})
    place, exact = lookup(np.asarray(every, np.uint32), index.def_last)
    rows = np.flatnonzero(exact & ranked[index.def_file]) if len(index.def_last) else np.zeros(0, np.int64)
    by_hash: dict[int, list[int]] = {}
    for row in rows.tolist():
        by_hash.setdefault(every[place[row]], []).append(row)
    return {
        key: {
            row: 1 / len(found)
            for word in sorted(mentions)
            if 0 < len(found := by_hash.get(term_hash(word), ())) <= SAME_NAME
            for row in found
        }
        for key, mentions in words.items()
    }


def _may_name(word: str) -> bool:
    return SHORTEST <= len(word) <= 64 and word.lower() not in STOPWORDS


@dataclass(frozen=True, slots=True)
class FirstPass:
    """The result of the first pass."""

    files: Floats
    """The first score of every file."""
    chunks: Floats
    """The first score of every chunk."""


def add_context_features(features: Features, index: Index, first: FirstPass, read_chunks: ReadChunks) -> None:
    """Add the features that depend on a first ranking.

    Args:
        features: the features of each file and chunk alone; this function adds to them.
        index: the commit's files.
        first: the first ranking.
        read_chunks: returns the text of chunks.
    """
    likely = likely_files(first.files)
    features.files["neighbour"] = neighbour_scores(index, index.names, likely)
    features.files["siblings"] = siblings(first.files, index.names.folder)
    features.files["cochange"] = divided_by_best(change_together(index.changes, likely, len(index.paths)))
    ranked = np.array([role == "source" for role in index.roles], bool)
    # Texts of all chunks are read at once below: one git process for both features.
    bridges = bridge_chunks(index, features.similarity)
    # A chunk inherits its file's score, because a likely file has likely functions.
    best = likely_chunks(np.where(ranked[index.chunk_file], first.chunks + first.files[index.chunk_file], -np.inf))
    mentions = definitions_in_texts(index, read_chunks(sorted({*best, *bridges})), ranked)
    features.files["bridge"] = follow_bridges(index, index.names, features.similarity, bridges, mentions)
    features.chunks["called"] = divided_by_best(of_definitions(index, called(index, best, mentions)))
    features.chunks["caller"] = divided_by_best(callers(index, best))
    features.files["calls"] = best_of_file(index, np.maximum(features.chunks["called"], features.chunks["caller"]))
