"""What earlier commits say: which files changed for similar reasons, which change together, which change often."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.query import FIELDS
from nodes.search.tokens import WORD, hashes_of, term_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from nodes.search.query import Parsed

    Floats = npt.NDArray[np.float64]

COMMITS = 3_000
"""How far back is read, counted in commits so that the answer does not depend on the machine or the day."""
MESSAGE = 800  # characters of a message that are read: what follows is mostly trailers and lists
WIDE = 30  # files: a commit that changes more is a sweep and says nothing of any one of them
SIMILAR = 60  # the most similar commits that are heard
HALF_LIFE = 150  # commits after which a change counts half as recent
FEW = 3.0  # changes a file needs before "these change together" means something
K1, B = 1.2, 0.4


@dataclass(frozen=True, slots=True)
class Change:
    """One commit, as far as it is read."""

    message: str
    files: tuple[int, ...]
    """Numbers of the files it changed that still exist."""
    width: int
    """How many files it changed."""


@dataclass(frozen=True, slots=True)
class Past:
    """Commits from the one that is read back, newest first; merges and first commits are left out."""

    changes: tuple[Change, ...] = ()


def read_past(log: bytes, number_of: Mapping[str, int]) -> Past:
    """Parse what ``Repository.log`` gives; what does not parse is left out."""
    changes = []
    for part in log.split(b"\x01")[1:]:
        message, _, names = part.partition(b"\x02")
        paths = [name.lstrip(b"\n") for name in names.split(b"\0")]
        written = [path.decode("utf-8", "surrogateescape") for path in paths if path]
        files = tuple(number_of[path] for path in written if path in number_of)
        changes.append(Change(message[: 4 * MESSAGE].decode("utf-8", "replace")[:MESSAGE], files, len(written)))
    return Past(tuple(changes))


def similar_changes(past: Past, parsed: Parsed, size: int) -> tuple[Floats, Floats]:
    """Score files by the similarity of the text with the messages of commits that changed them.

    Returns:
        The best single commit's say for each file, and the sum of all; both 0 to 1.
    """
    best, total = np.zeros(size), np.zeros(size)
    scores = _message_scores(past, parsed)
    order = np.lexsort((np.arange(len(scores)), -np.round(scores, 9)))[:SIMILAR].tolist()
    top = float(scores[order[0]]) if order else 0.0
    for number in order:
        change = past.changes[number]
        if scores[number] <= 0 or not change.files or change.width > WIDE:
            continue
        say = float(scores[number] / top) ** 2 / math.sqrt(len(change.files))
        for file in change.files:
            best[file] = max(best[file], say)
            total[file] += say
    return best, total / max(1.0, float(total.max(initial=0.0)))


def _message_scores(past: Past, parsed: Parsed) -> Floats:
    """BM25 of the text's terms over the commits' messages."""
    weight: dict[int, float] = {}
    for field in FIELDS:
        for term, by in parsed.terms[field].items():
            key = term_hash(term)
            weight[key] = weight.get(key, 0.0) + by
    found: list[tuple[int, int, int]] = []
    lengths = np.ones(len(past.changes))
    for number, change in enumerate(past.changes):
        words = Counter(WORD.findall(change.message))
        lengths[number] += words.total()
        counts: Counter[int] = Counter()
        for word, times in words.items():
            for value in hashes_of(word):
                if value in weight:
                    counts[value] += times
        found.extend((number, value, times) for value, times in counts.items())
    spread = Counter(value for _, value, _ in found)
    scores = np.zeros(len(past.changes))
    mean = float(lengths.mean()) if len(lengths) else 1.0
    for number, value, times in found:
        rarity = math.log(1 + (len(scores) - spread[value] + 0.5) / (spread[value] + 0.5))
        fullness = times * (K1 + 1) / (times + K1 * (1 - B + B * lengths[number] / mean))
        scores[number] += weight[value] * rarity * fullness
    return scores


def activity(past: Past, size: int) -> tuple[Floats, Floats]:
    """How recently, and how often, each file changed; both 0 to 1."""
    recent, often = np.zeros(size), np.zeros(size)
    for age, change in enumerate(past.changes):
        if change.width <= WIDE:
            for file in change.files:
                recent[file] += 0.5 ** (age / HALF_LIFE)
                often[file] += 1
    often = np.log1p(often)
    return np.minimum(1.0, recent / 4), often / max(1.0, float(often.max(initial=0.0)))


def change_together(past: Past, likely: Mapping[int, float], size: int) -> Floats:
    """Give each file the share of likelihood of the files that it used to change with."""
    together: dict[int, Counter[int]] = {file: Counter() for file in likely}
    times: Counter[int] = Counter()
    for change in past.changes:
        if len(change.files) > 1 and change.width <= WIDE:
            for file in change.files:
                if file in together:
                    times[file] += 1
                    together[file].update(change.files)
    found = np.zeros(size)
    for file, share in likely.items():
        for other, count in together[file].items():
            if other != file:
                found[other] += share * count / (times[file] + FEW)
    return found
