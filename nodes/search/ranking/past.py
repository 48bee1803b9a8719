"""Features of earlier commits: files changed for similar reasons, files changed together, files changed often."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nodes.search.index import Index, lookup
from nodes.search.index.columns import Flags, Floats, Ints, grouped
from nodes.search.index.postings import Changes
from nodes.search.issue.query import FIELDS, Parsed
from nodes.search.ranking.features import Features, divided_by_best
from nodes.search.ranking.words import added, rarity, relative, saturate
from nodes.search.tokens import term_hash

MAX_FILES = 30  # files; a commit that changes more is not evidence for any of them
SIMILAR = 60  # number of the most similar commits that count
# Counts of commits, not days, so that the result does not depend on the date.
HALF_LIFE = 150  # commits after which the weight of a change is halved
FIX_HALF_LIFE = 600  # commits after which the weight of a fix is halved
SMOOTHING = 3.0  # added to a file's number of changes, so that few changes together prove little
K1, B = 1.2, 0.4


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


def _files_of(past: Changes, commits: Ints) -> tuple[Ints, Ints]:
    """Return a row per file of each given commit: the position in ``commits``, and the file."""
    # Stable, so that files of one commit stay in their order, and sums of floats with them.
    order = np.argsort(past.file_commit, kind="stable")
    first = np.searchsorted(past.file_commit[order], np.arange(len(past) + 1))
    count = first[commits + 1] - first[commits]
    row = np.repeat(np.arange(len(commits)), count)
    before = np.cumsum(count) - count
    return row, past.file[order][np.repeat(first[commits] - before, count) + np.arange(len(row))]


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
