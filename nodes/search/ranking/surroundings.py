"""Features of what surrounds files: earlier commits; imports, calls and folders of the likeliest of the first pass.

The call neighbourhood of the likeliest functions consists of their callees and their callers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from nodes.search.index.columns import Flags, Floats, Ints, grouped
from nodes.search.index.index import Index, lookup
from nodes.search.index.postings import Changes
from nodes.search.issue.query import FIELDS, Parsed
from nodes.search.paths.project import PathIndex, common_tail
from nodes.search.ranking.features import Features, best_of_file, divided_by_best, of_definitions
from nodes.search.ranking.words import added, rarity, relative, saturate
from nodes.search.tokens import STOPWORDS, WORD, term_hash

MAX_FILES = 30  # files; a commit that changes more is not evidence for any of them
SIMILAR = 60  # number of the most similar commits that count
# Counts of commits, not days, so that the result does not depend on the date.
HALF_LIFE = 150  # commits after which the weight of a change is halved
FIX_HALF_LIFE = 600  # commits after which the weight of a fix is halved
SMOOTHING = 3.0  # added to a file's number of changes, so that few changes together prove little
K1, B = 1.2, 0.4
ReadChunks = Callable[[Sequence[int]], Mapping[int, str]]
CHUNKS = 30
"""Number of chunks whose calls are followed."""
TEMPERATURE = 2.0  # how quickly the weight drops with the score
COMMON = 60  # chunks that contain a name; if there are more, it does not identify calls of this function
SHORTEST = 4  # letters; shorter names are loop variables more often than references
SAME_NAME = 4  # definitions that share a name; if there are more, the name identifies none of them
FILES = 40
"""Number of files whose imports are read: reading all would cost more than the rest of a query."""


def add_past(features: Features, index: Index, parsed: Parsed) -> None:
    """Add features of earlier commits: similar changes, frequent fixes and folders with recent work."""
    past, size = index.changes, len(index.paths)
    features.files["similar_change"], features.files["similar_changes"] = similar_changes(past, parsed, size)
    features.files["told"] = score_by_messages(past, parsed, size)
    tests, source = (np.array([mine == role for mine in index.roles], bool) for role in ("test", "source"))
    features.files["fixed"] = fixed_often(past, tests, source)
    features.files["busy_folder"] = recent_folder_changes(past, index.names.folder)


def similar_changes(past: Changes, parsed: Parsed, size: int) -> tuple[Floats, Floats]:
    """Return for each file the similarity of its best commit's message with the text, and the sum of all; 0 to 1."""
    best, total = np.zeros(size), np.zeros(size)
    scores = _message_scores(past, parsed)
    # Rounding prevents scores that differ by a rounding error from changing places between machines.
    order = np.lexsort((np.arange(len(scores)), -np.round(scores, 9)))[:SIMILAR].tolist()
    top = float(scores[order[0]]) if order else 0.0
    for number in order:
        files = past.file[past.file_commit == number]
        if scores[number] <= 0 or not len(files) or past.width[number] > MAX_FILES:
            continue
        # Squared, so that commits far below the best one hardly count; large commits are weaker evidence.
        share = float(scores[number] / top) ** 2 / len(files) ** 0.5
        best[files] = np.maximum(best[files], share)
        total[files] += share
    return best, total / max(1.0, float(total.max(initial=0.0)))


def score_by_messages(past: Changes, parsed: Parsed, size: int) -> Floats:
    """Score files by BM25 of the text over all messages of the commits that changed them; 0 to 1."""
    weight, term, commit, times = _matching(past, parsed)
    share = np.where(past.width <= MAX_FILES, 1 / np.sqrt(np.maximum(1, past.width)), 0.0)
    row, file = _files_of(past, commit)
    keys, cell = grouped(file.astype(np.int64) * max(1, len(weight)) + term[row])
    count = np.bincount(cell, (share[commit] * times)[row], len(keys))
    of_file, of_term = keys // max(1, len(weight)), keys % max(1, len(weight))
    length = np.bincount(past.file, (share * past.words)[past.file_commit], size)
    spread = np.bincount(of_term[count > 0], minlength=len(weight))
    worth = weight * rarity(spread, max(1, int(np.count_nonzero(length))))
    found = added(of_file, worth[of_term] * saturate(count, relative(length)[of_file], K1, B), size)
    return divided_by_best(found)


def fixed_often(past: Changes, tests: Flags, source: Flags) -> Floats:
    """Return how often each source file changed with a test, as fixes do, with recent changes weighing more.

    Returns:
        The logarithm of each file's rate relative to the mean, about -1 to 1.
    """
    size, commits = len(source), len(past)
    with_test = np.bincount(past.file_commit, tests[past.file], commits) > 0
    shared = np.maximum(1, np.bincount(past.file_commit, source[past.file], commits))
    share = with_test * (past.width <= MAX_FILES) * 0.5 ** (np.arange(commits) / FIX_HALF_LIFE) / np.sqrt(shared)
    times = np.bincount(past.file, share[past.file_commit], size)
    mean = float(times[source].sum()) / max(1, int(source.sum()))
    # Half a change is added on both sides, so that a file without changes has a finite value.
    return np.asarray(np.log((times + 0.5) / (mean + 0.5)) / 5 * source)


def recent_folder_changes(past: Changes, folder: Ints) -> Floats:
    """Return how much was changed recently in each file's folder, given by its number; 0 to 1."""
    narrow = past.width[past.file_commit] <= MAX_FILES
    file, age = past.file[narrow], past.file_commit[narrow]
    recent = np.bincount(folder[file], 0.5 ** (age / HALF_LIFE), int(folder.max(initial=0)) + 1)[folder]
    return np.asarray(recent / max(1e-9, float(recent.max(initial=0.0))))


def change_together(past: Changes, likely: Mapping[int, float], size: int) -> Floats:
    """Give each file the likelihood of the files that it changed with in the past."""
    known = np.bincount(past.file_commit, minlength=len(past))
    several = (known > 1) & (past.width <= MAX_FILES)
    rows = several[past.file_commit]
    commit, file = past.file_commit[rows], past.file[rows]
    found = np.zeros(size)
    for one, share in likely.items():
        with_file = np.zeros(len(past), bool)
        with_file[commit[file == one]] = True
        together = np.bincount(file[with_file[commit]], minlength=size)
        times = int(together[one])
        # A file changes with itself in every commit.
        together[one] = 0
        found += share * together / (times + SMOOTHING)
    return found


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
        for definition, rare in mentions.get(chunk, {}).items():
            if definition != own:
                found[definition] += share * rare
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


def _message_scores(past: Changes, parsed: Parsed) -> Floats:
    """Return the BM25 score of each commit's message for the text's terms."""
    weight, term, commit, times = _matching(past, parsed)
    worth = weight * rarity(np.bincount(term, minlength=len(weight)), len(past))
    return added(commit, worth[term] * saturate(times, relative(past.words + 1)[commit], K1, B), len(past))


def _matching(past: Changes, parsed: Parsed) -> tuple[Floats, Ints, Ints, Ints]:
    """Return the weights of the text's terms; the term, the commit and the count of each match with a message."""
    weight: dict[int, float] = {}
    for field in FIELDS:
        for term, by in parsed.terms[field].items():
            key = term_hash(term)
            weight[key] = weight.get(key, 0.0) + by
    place, exact = lookup(np.array(list(weight), np.uint32), past.term_hash)
    return np.array(list(weight.values())), place[exact], past.term_commit[exact], past.term_count[exact]


def _files_of(past: Changes, commits: Ints) -> tuple[Ints, Ints]:
    """Return a row per file of each given commit: the position in ``commits``, and the file."""
    # Stable, so that files of one commit stay in their order, and sums of floats with them.
    order = np.argsort(past.file_commit, kind="stable")
    first = np.searchsorted(past.file_commit[order], np.arange(len(past) + 1))
    count = first[commits + 1] - first[commits]
    row = np.repeat(np.arange(len(commits)), count)
    before = np.cumsum(count) - count
    return row, past.file[order][np.repeat(first[commits] - before, count) + np.arange(len(row))]
