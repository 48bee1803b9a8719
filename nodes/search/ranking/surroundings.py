"""The second pass: features of what surrounds the likeliest files and functions of the first pass.

The call neighbourhood of the likeliest functions consists of their callees and their callers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from nodes.search.index import Index, lookup
from nodes.search.index.columns import Flags, Floats, Ints
from nodes.search.paths.project import PathIndex, common_tail
from nodes.search.ranking.features import Features, best_of_file, divided_by_best, of_definitions
from nodes.search.ranking.past import change_together
from nodes.search.tokens import STOPWORDS, WORD, term_hash

ReadChunks = Callable[[Sequence[int]], Mapping[int, str]]

CHUNKS = 30
"""Number of chunks whose calls are followed."""
TEMPERATURE = 2.0  # how quickly the weight drops with the score
COMMON = 60  # chunks that contain a name; if there are more, it does not identify calls of this function
SHORTEST = 4  # letters; shorter names are loop variables more often than references
SAME_NAME = 4  # definitions that share a name; if there are more, the name identifies none of them
FILES = 40
"""Number of files whose imports are read: reading all would cost more than the rest of a query."""


def likely(scores: Floats, count: int) -> dict[int, float]:
    """Return the best rows with their shares of likelihood, which add up to 1; empty if no score is positive."""
    rows = np.flatnonzero(scores > 0)
    if not len(rows):
        return {}
    top = rows[np.lexsort((rows, -np.round(scores[rows], 9)))][:count]
    # A softmax; the best score is subtracted so that ``exp`` cannot overflow.
    share = np.exp(TEMPERATURE * (scores[top] - scores[top[0]]))
    return dict(zip(top.tolist(), (share / share.sum()).tolist(), strict=True))


def called(index: Index, shares: Mapping[int, float], mentions: Mapping[int, Mapping[int, float]]) -> Floats:
    """Give each definition the likelihood of the chunks that name it."""
    found = np.zeros(len(index.def_last))
    for chunk, share in shares.items():
        own = int(index.chunk_def[chunk])
        for definition, rarity in mentions.get(chunk, {}).items():
            if definition != own:
                found[definition] += share * rarity
    return found


def callers(index: Index, shares: Mapping[int, float]) -> Floats:
    """Give each chunk the likelihood of the definitions whose compound name it contains."""
    likelihood: dict[int, float] = {}
    owners: dict[int, set[int]] = {}
    for chunk, share in shares.items():
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


def definitions_in_texts(index: Index, texts: Mapping[int, str], ranked: Flags) -> dict[int, dict[int, float]]:
    """Return for each text the definitions in ranked files that it names, weighted by how few share the name."""
    words = {
        key: {w for w in WORD.findall(text) if SHORTEST <= len(w) <= 64 and w.lower() not in STOPWORDS}
        for key, text in texts.items()
    }
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


def add_context_features(
    features: Features, index: Index, first: tuple[Floats, Floats], read_chunks: ReadChunks
) -> None:
    """Add the features that depend on a first score of every file, and of every chunk."""
    of_files, of_chunks = first
    files = likely(of_files, FILES)
    features.files["neighbour"] = neighbour_scores(index, index.names, files)
    features.files["siblings"] = siblings(of_files, index.names.folder)
    features.files["cochange"] = divided_by_best(change_together(index.changes, files, len(index.paths)))
    ranked = np.array([role == "source" for role in index.roles], bool)
    # A chunk inherits its file's score, because a likely file has likely functions.
    best = likely(np.where(ranked[index.chunk_file], of_chunks + of_files[index.chunk_file], -np.inf), CHUNKS)
    mentions = definitions_in_texts(index, read_chunks(sorted(best)), ranked)
    features.chunks["called"] = divided_by_best(of_definitions(index, called(index, best, mentions)))
    features.chunks["caller"] = divided_by_best(callers(index, best))
    features.files["calls"] = best_of_file(
        len(index.paths), index.chunk_file, np.maximum(features.chunks["called"], features.chunks["caller"])
    )


def neighbour_scores(index: Index, names: PathIndex, shares: Mapping[int, float]) -> Floats:
    """Give each file the likelihood of the files that it imports or that import it."""
    found = np.zeros(len(index.paths))
    for number, share in shares.items():
        imports = index.meta(number).imports
        imported = {other for written in imports for other in resolve(names, index.paths[number], written)}
        # Sorted, because the sum of floats depends on their order.
        for other in sorted(imported - {number}):
            found[other] += share
            # Both directions, but this one among likely files only: the imports of all others are not read.
            found[number] += shares.get(other, 0.0)
    return np.minimum(1.0, found)


def siblings(scores: Floats, folder: Ints) -> Floats:
    """Give each file the mean score of the others in its folder, 0 to 1 of the best score."""
    positive = np.maximum(0.0, scores)
    count = np.bincount(folder)[folder]
    others = np.bincount(folder, positive)[folder] - positive
    return np.asarray(others / np.maximum(1, count - 1) / max(1e-9, float(positive.max(initial=0.0))))


def resolve(names: PathIndex, path: str, written: str) -> Iterator[int]:
    """Yield the files that one import, relative or absolute, refers to."""
    written_parts = written.replace("::", ".").replace("/", ".").split(".")
    parts = [part for part in written_parts if part not in {"", "crate", "self"}]
    relative = written.startswith(".")
    folder = path.split("/")[:-1]
    if not parts:
        return
    tails = names.by_module_tail.get(parts[-1], ())
    best = [number for number in tails if common_tail(parts, names.modules[number]) == len(parts)]
    # The dots are not resolved. A file counts if it is at most two folders up, as with ``../../x``.
    if relative:
        up = max(0, len(folder) - 2)
        best = [number for number in best if names.paths[number].split("/")[:up] == folder[:up]]
    if 0 < len(best) <= 2:
        yield from best
    elif len(parts) > 1 and not relative:
        yield from (number for number, _ in names.of_module(".".join(parts)))
