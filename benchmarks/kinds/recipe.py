"""The training procedure of the model of kinds: its terms, its regularisation and how much each issue counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.kinds.examples import Example
from benchmarks.kinds.learner import Floats, Space, Used, fit, postings
from nodes.issue.kinds.model import LEARNT, TENTHS, UNIT, Field, KindModel

FIELDS: Mapping[Field, float] = {"title": 1.0, "prose": 1.2, "code": 0.7, "cues": 0.9, "whole": 1.0}
"""The fields, and their weights."""
FREEDOM = 0.3
"""The inverse of the penalty, chosen by repositories that were held out: 0.1 to 0.5 are equal, 4 costs two points."""
BALANCE = 0.8
"""Exponent by which rare kinds count more: 1 would give each kind the same sum."""
MAX_TERMS: Mapping[Field, int] = {"title": 2_500, "prose": 6_000, "code": 1_000, "cues": 200, "whole": 8_000}
"""Maximum number of terms per field, those with the largest weights."""
OFTEN, SPREAD = 5, 3
"""Minimum number of issues with a term, and of repositories: a repository's own template says nothing elsewhere."""


def learn(examples: Sequence[Example]) -> KindModel:
    """Return a model with temperature 1: fitted once to select its terms, and again with those terms."""
    used = {field: _frequent(examples, field) for field in FIELDS}
    weights = _fit(examples, used)[1]
    chosen = {field: _strongest(weights[field], MAX_TERMS[field]) for field in FIELDS}
    kept = {field: {term: at for term, at in used[field].items() if term in chosen[field]} for field in FIELDS}
    bias, weights = _fit(examples, kept)
    return KindModel(_whole(bias), 1.0, {field: _rounded(weights[field]) for field in FIELDS})


def _fit(examples: Sequence[Example], used: Mapping[Field, Used]) -> tuple[Floats, dict[Field, dict[str, Floats]]]:
    """Return the bias, and the rarity and the weights of each field's terms, centred on 0."""
    space = Space.of(len(examples), used, FIELDS)
    bias, weights = fit(space, one_hot_kinds(examples), importance(examples), FREEDOM)
    found: dict[Field, dict[str, Floats]] = {field: {} for field in FIELDS}
    for (field, term), rarity, weight in zip(space.columns, space.rarity, weights, strict=True):
        found[field][term] = np.append(rarity, FIELDS[field] * rarity / TENTHS * (weight - weight.mean()))
    return bias - bias.mean(), found


def importance(examples: Sequence[Example]) -> Floats:
    """Return how much each issue counts; the mean is 1.

    All sources count the same. In a source, a kind counts by the square root of its number, so that the source of an
    issue (titles alone, or issues of one project) says less about its kind.
    """
    sizes = Counter((example.source, example.kind) for example in examples)
    each = {key: size**-0.5 for key, size in sizes.items()}
    sums: dict[str, float] = dict.fromkeys((source for source, _ in sizes), 0.0)
    for (source, kind), size in sizes.items():
        sums[source] += each[source, kind] * size
    counts = np.array([each[one.source, one.kind] / sums[one.source] for one in examples])
    kinds = one_hot_kinds(examples)
    counts *= kinds @ (np.maximum(counts @ kinds, 1e-12) ** -BALANCE)
    return np.asarray(counts / counts.mean())


def one_hot_kinds(examples: Sequence[Example]) -> Floats:
    """Return one row per issue with a 1 at its kind."""
    return np.array([[float(example.kind == kind) for kind in LEARNT] for example in examples])


def _frequent(examples: Sequence[Example], field: Field) -> Used:
    """Return the terms that are frequent enough and occur in several repositories."""
    found = postings([example.terms for example in examples], field)
    return {
        term: at
        for term, at in found.items()
        if len(at) >= OFTEN and len({examples[number].repository for number in at}) >= SPREAD
    }


def _strongest(weights: Mapping[str, Floats], most: int) -> frozenset[str]:
    strength = {term: round(float(np.abs(weight[1:]).max()), 9) for term, weight in weights.items()}
    return frozenset(sorted(strength, key=lambda term: (-strength[term], term))[:most])


def _rounded(weights: Mapping[str, Floats]) -> dict[str, tuple[int, ...]]:
    return {term: (round(float(rarity)), *_whole(np.array(rest))) for term, (rarity, *rest) in weights.items()}


def _whole(values: Floats) -> tuple[int, ...]:
    return tuple(round(float(value) * UNIT) for value in values)
