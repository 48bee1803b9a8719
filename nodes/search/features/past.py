"""What earlier commits say: which files changed for similar reasons, which change together, which change often."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.index import lookup
from nodes.search.query import FIELDS
from nodes.search.tokens import term_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from nodes.search.changes import Changes
    from nodes.search.query import Parsed

    Floats = npt.NDArray[np.float64]

WIDE = 30  # files: a commit that changes more is a sweep and says nothing of any one of them
SIMILAR = 60  # the most similar commits that are heard
HALF_LIFE = 150  # commits after which a change counts half as recent
FEW = 3.0  # changes a file needs before "these change together" means something
K1, B = 1.2, 0.4


def similar_changes(past: Changes, parsed: Parsed, size: int) -> tuple[Floats, Floats]:
    """Score files by the similarity of the text with the messages of commits that changed them.

    Returns:
        The best single commit's say for each file, and the sum of all; both 0 to 1.
    """
    best, total = np.zeros(size), np.zeros(size)
    scores = _message_scores(past, parsed)
    order = np.lexsort((np.arange(len(scores)), -np.round(scores, 9)))[:SIMILAR].tolist()
    top = float(scores[order[0]]) if order else 0.0
    for number in order:
        files = past.file[past.file_commit == number]
        if scores[number] <= 0 or not len(files) or past.width[number] > WIDE:
            continue
        say = float(scores[number] / top) ** 2 / math.sqrt(len(files))
        best[files] = np.maximum(best[files], say)
        total[files] += say
    return best, total / max(1.0, float(total.max(initial=0.0)))


def _message_scores(past: Changes, parsed: Parsed) -> Floats:
    """BM25 of the text's terms over the commits' messages."""
    weight: dict[int, float] = {}
    for field in FIELDS:
        for term, by in parsed.terms[field].items():
            key = term_hash(term)
            weight[key] = weight.get(key, 0.0) + by
    place, exact = lookup(np.array(list(weight), np.uint32), past.term_hash)
    said, commit, times = place[exact], past.term_commit[exact], past.term_count[exact]
    size = len(past)
    spread = np.bincount(said, minlength=len(weight)).tolist()
    rarity = np.array([math.log(1 + (size - count + 0.5) / (count + 0.5)) for count in spread])
    lengths = past.words + 1.0
    longer = lengths / (float(lengths.mean()) if size else 1.0)
    fullness = times * (K1 + 1) / (times + K1 * (1 - B + B * longer[commit]))
    worth = np.array(list(weight.values())) * rarity
    return np.bincount(commit, worth[said] * fullness, size).astype(np.float64)


def activity(past: Changes, size: int) -> tuple[Floats, Floats]:
    """How recently, and how often, each file changed; both 0 to 1."""
    narrow = past.width[past.file_commit] <= WIDE
    file, age = past.file[narrow], past.file_commit[narrow]
    recent = np.bincount(file, 0.5 ** (age / HALF_LIFE), size)
    often = np.log1p(np.bincount(file, minlength=size))
    return np.minimum(1.0, recent / 4), often / max(1.0, float(often.max(initial=0.0)))


def change_together(past: Changes, likely: Mapping[int, float], size: int) -> Floats:
    """Give each file the share of likelihood of the files that it used to change with."""
    known = np.bincount(past.file_commit, minlength=len(past))
    several = (known > 1) & (past.width <= WIDE)
    rows = several[past.file_commit]
    commit, file = past.file_commit[rows], past.file[rows]
    found = np.zeros(size)
    for one, share in likely.items():
        mine = np.zeros(len(past), bool)
        mine[commit[file == one]] = True
        together = np.bincount(file[mine[commit]], minlength=size)
        times = int(together[one])
        together[one] = 0
        found += share * together / (times + FEW)
    return found
