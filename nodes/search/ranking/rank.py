"""Order files and places by score, with reasons that add up to it, and estimate whether the first is right."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from nodes.search.index.columns import Floats
from nodes.search.index.index import Index
from nodes.search.ranking.features import Features
from nodes.search.types import Reason

FILE = "file"
"""Key among the chunk weights: the share of its file's score that a place receives."""
CHUNKS_PER_FILE = 10  # maximum places per file, so that one class does not fill a list of twenty
KINDS = {
    "symbol": ("symbol", "defines {note}, which the text names"),
    "symbol_word": ("symbol", "defines a name that is a word of the text"),
    "symbol_dotted": ("symbol", "defines {note}"),
    "path": ("path", "the text names this file"),
    "module": ("path", "the text names this module"),
    "trace_first": ("trace", "innermost frame of the stack trace in this repository"),
    "trace": ("trace", "on the stack trace"),
    "phrase": ("phrase", "contains a message that the text quotes"),
    "symbol_title": ("symbol", "defines what the title names"),
    "neighbour": ("neighbour", "imports, or is imported by, other likely files"),
    "calls": ("neighbour", "calls, or is called by, likely functions"),
    "called": ("neighbour", "a likely function calls it"),
    "caller": ("neighbour", "calls a likely function"),
    "cochange": ("history", "tends to change together with other likely files"),
    "similar_change": ("history", "changed by a commit in similar words"),
    "similar_changes": ("history", "changed by commits in similar words"),
    "told": ("history", "the messages of its commits share words with the text"),
    "fixed": ("prior", "past fixes changed it"),
    "busy_folder": ("prior", "its folder is under active development"),
    "siblings": ("prior", "its folder has other likely files"),
    "size": ("prior", "its size"),
    "container": ("prior", "a whole class; its members are ranked separately"),
    "dunder": ("prior", "a special method"),
    "name_title": ("symbol", "its name is made of the title's words"),
    "name_body": ("symbol", "its name is made of the text's words"),
    "package_file": ("prior", "represents its folder"),
    "no_definitions": ("prior", "defines nothing"),
    "little_logic": ("prior", "decides hardly anything"),
    "outside": ("prior", "outside any definition"),
}
BY_PREFIX = {
    "role": ("prior", "files of this kind are rarely at fault"),
    "stem": ("path", "the text contains this file's name"),
    "path": ("path", "words of the text are in its path"),
    "title": ("words", "shares rare words with the title"),
    "prose": ("words", "shares rare words with the description"),
    "code": ("words", "shares rare words with the code in the text"),
    "words": ("words", "one function shares many rare words with the text"),
}
"""Kind and sentence of a feature that is not in ``KINDS``, by the first part of its name."""
SIGNS = ("ahead", "agreement")
RIVALS = 100
"""Number of best files that the first one is compared with."""
MIN_FILES = 5
"""Minimum number of files; with fewer, kinds of evidence agree by chance."""
EVIDENCE_KINDS = 6
"""Minimum divisor of the agreement: an issue with fewer kinds of evidence cannot reach full agreement."""
CEILING = 0.92
"""The highest probability: whatever the signs say, some fixes are elsewhere. In the surest fifth of a source of issues
that nothing was fitted on, at least 83 % were right (docs/decisions.md)."""
_ALONE = 1e-4
"""Added to the rivals' weight, so that a first file without rivals has a finite logarithm."""
NO_EVIDENCE = "prior"
"""The kind of features that say nothing about the issue."""
_EDGE = 1e-3
"""A probability of exactly 0, or at the ceiling, has no finite sum."""


@dataclass(frozen=True, slots=True)
class Place:
    """A ranked chunk."""

    chunk: int
    score: float
    reasons: tuple[Reason, ...]


@cache
def load_weights() -> "Weights":
    """Load the packaged weights."""
    return Weights(**json.loads(Path(__file__).with_name("weights.json").read_text(encoding="utf-8")))


def kind_of(name: str) -> str:
    """Return the kind of evidence that a feature belongs to."""
    return (KINDS.get(name) or BY_PREFIX[name.partition("_")[0]])[0]


def weighted(values: Mapping[str, Floats], weights: Mapping[str, float], size: int) -> Floats:
    """Return the weighted sum of features."""
    total = np.zeros(size)
    for name, weight in weights.items():
        if name in values:
            total += weight * values[name]
    return total


def best_files(scores: Floats, index: Index, limit: int, dropped: Iterable[int] = ()) -> list[int]:
    """Order files by score, then by path, so that the order of equal scores is deterministic."""
    excluded = set(dropped)
    count = min(len(scores), limit + len(excluded))
    if not count:
        return []
    # Rounding prevents scores that differ by a rounding error from changing places between machines.
    rounded = np.round(scores, 9)
    # A partition takes linear time. All files that tie with the last one stay, so that paths can decide among them.
    candidates = np.flatnonzero(rounded >= np.partition(rounded, len(rounded) - count)[len(rounded) - count])
    numbers = (int(number) for number in candidates if number not in excluded)
    return sorted(numbers, key=lambda number: (-rounded[number], index.paths[number]))[:limit]


def rank_places(index: Index, features: Features, weights: "Weights", files: list[int], scores: Floats) -> list[Place]:
    """Order the chunks of the best files; a definition cut into parts is one place, at its best part."""
    chunk_scores = weighted(features.chunks, weights.chunks, len(index.chunk_file))
    places: list[tuple[float, int]] = []
    for number in files:
        in_file = np.flatnonzero(index.chunk_file == number)
        seen: set[int] = set()
        # ``lexsort`` sorts by its last key first, so the chunk's number only decides between equal scores.
        order = in_file[np.lexsort((in_file, -np.round(chunk_scores[in_file], 9)))]
        for chunk in order.tolist():
            owner = int(index.chunk_def[chunk])
            if owner >= 0 and owner in seen:
                continue
            # All chunks outside definitions share the owner -1 and are never skipped, but together count as one place
            # here.
            seen.add(owner)
            places.append((round(float(scores[number] * weights.chunks[FILE] + chunk_scores[chunk]), 9), chunk))
            if len(seen) >= CHUNKS_PER_FILE:
                break
    places.sort(key=lambda item: (-item[0], item[1]))
    ranked = []
    for _, chunk in places:
        shared = float(scores[index.chunk_file[chunk]]) * weights.chunks[FILE]
        own = explain(features.chunks, weights.chunks, chunk, {})
        reasons = (Reason("file", f"in {index.paths[index.chunk_file[chunk]]}", shared), *own)
        # Not the value that is sorted by: the shown numbers must add up exactly.
        ranked.append(Place(chunk, sum(reason.contribution for reason in reasons), reasons))
    return ranked


def explain(
    values: Mapping[str, Floats], weights: Mapping[str, float], row: int, notes: Mapping[tuple[str, int], str]
) -> tuple[Reason, ...]:
    """Return the contributions to a score, largest first; features with the same sentence form one reason."""
    shares: dict[tuple[str, str], float] = {}
    for name, weight in weights.items():
        share = weight * float(values[name][row]) if name in values else 0.0
        if share:
            kind, sentence = KINDS.get(name) or BY_PREFIX[name.partition("_")[0]]
            key = (kind, sentence.format(note=notes.get((name, row), "a name")))
            shares[key] = shares.get(key, 0.0) + share
    found = [Reason(kind, text, share) for (kind, text), share in shares.items()]
    return tuple(sorted(found, key=lambda reason: (-abs(reason.contribution), reason.kind, reason.text)))


def signs(scores: Sequence[float], features: Mapping[str, Floats], weights: Mapping[str, float]) -> dict[str, float]:
    """Compute the inputs of the confidence from the scores and the features of the best files, best first."""
    shares: defaultdict[str, Floats | float] = defaultdict(float)
    for name, weight in weights.items():
        # The title counts as a kind of its own, because it is the part of an issue that is written most carefully.
        kind = "title" if name.startswith("title") else kind_of(name)
        if name in features and kind != NO_EVIDENCE and len(features[name]) >= MIN_FILES:
            shares[kind] = shares[kind] + weight * features[name]
    applicable = [np.round(values, 9) for values in shares.values() if np.max(values) > 0]
    # A share of the kinds of evidence instead of two counts: in small repositories, where few kinds apply, the counts
    # gave far too high values.
    agreeing = sum(bool(values[0] > values[1:].max()) for values in applicable)
    # The log-odds of the first file in the model that the weights are fitted in: many near rivals count like one equal.
    rivals = sum(math.exp(score - scores[0]) for score in scores[1:])
    return {"ahead": -math.log(rivals + _ALONE), "agreement": agreeing / max(len(applicable), EVIDENCE_KINDS)}


def confidence(measured: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the probability that the first file is right: a logistic regression with a ceiling."""
    # The weights are fitted on issues with known fixes, each repository held out (docs/decisions.md).
    return probability(weights["bias"] + sum(weights[name] * value for name, value in measured.items()))


def probability(logit: float) -> float:
    """Return the probability, below the ceiling, that a fitted sum represents."""
    # Beyond 30 the result is final at any shown precision, and ``exp`` could overflow.
    return round(CEILING / (1 + math.exp(-max(-30.0, min(30.0, logit)))), 4)


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of all features; ``benchmarks.ranking.train`` writes them to ``weights.json``."""

    first: Mapping[str, Mapping[str, float]]
    """Weights of files and chunks for the first pass, whose best results define the surroundings. Set by hand."""
    files: Mapping[str, float]
    chunks: Mapping[str, float]
    confidence: Mapping[str, float]


def logit_of(chance: float) -> float:
    """Return the sum that represents a probability, between -7 and 7."""
    inside = min(max(chance / CEILING, _EDGE), 1 - _EDGE)
    return math.log(inside / (1 - inside))
