"""The training procedure of the model of kinds: its terms, its steps and its regularisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.kinds.examples import Example
from benchmarks.kinds.learner import Floats, Space, Used, fit, postings
from nodes.issue.kinds import LEARNT, TENTHS, UNIT, Model, Weights
from nodes.issue.kinds.terms import Field

EVERYWHERE: Mapping[Field, float] = {"title": 1.0, "prose": 1.5, "code": 0.7, "cues": 0.9}
"""Fields of the first step, and their weights."""
LEFT_OVER: Mapping[Field, float] = {"whole": 1.5}
FREEDOM_EVERYWHERE, FREEDOM_LEFT_OVER = 1.0, 5.0
MAX_TERMS: Mapping[Field, int] = {"title": 3_000, "prose": 6_000, "code": 1_600, "cues": 200, "whole": 12_000}
"""Maximum number of terms per field, those with the largest weights. Half as many cost a point; more gain nothing."""
OFTEN, SPREAD = 3, 2
"""Minimum number of issues with a term, and of repositories for a term of the first step."""


def learn(examples: Sequence[Example]) -> Model:
    """Return a model with temperature 1: fitted once to select its terms, and again with those terms."""
    first = _fit(examples, {field: _frequent(examples, field) for field in MAX_TERMS})
    chosen = {field: _strongest(weights, MAX_TERMS[field]) for field, weights in first[1].items()}
    bias, weights = _fit(examples, {field: _frequent(examples, field, chosen[field]) for field in MAX_TERMS})
    rarities = {field: Space.of(len(examples), _frequent(examples, field, chosen[field])).rarity for field in MAX_TERMS}
    return Model(_whole(bias), 1.0, {field: _rounded(weights[field], rarities[field]) for field in MAX_TERMS})


def _fit(examples: Sequence[Example], used: Mapping[Field, Used]) -> tuple[Floats, dict[Field, dict[str, Floats]]]:
    """Return the bias and the weights of each field."""
    wanted = one_hot_kinds(examples)
    spaces = {field: Space.of(len(examples), terms) for field, terms in used.items()}
    alike = sum(counts**2 * spaces[field].likeness() for field, counts in EVERYWHERE.items()) + np.ones(1)
    everywhere = fit(alike, wanted, FREEDOM_EVERYWHERE, np.zeros_like(wanted))
    rest = np.asarray(sum(counts**2 * spaces[field].likeness() for field, counts in LEFT_OVER.items()))
    left_over = fit(rest, wanted, FREEDOM_LEFT_OVER, alike @ everywhere)
    weights = {field: spaces[field].weights(counts**2 * everywhere) for field, counts in EVERYWHERE.items()}
    weights |= {field: spaces[field].weights(counts**2 * left_over) for field, counts in LEFT_OVER.items()}
    bias = everywhere.sum(axis=0)
    return bias - bias.mean(), weights


def one_hot_kinds(examples: Sequence[Example]) -> Floats:
    """Return one row per issue with a 1 at its kind."""
    return np.array([[float(example.kind == kind) for kind in LEARNT] for example in examples])


def _frequent(examples: Sequence[Example], field: Field, among: frozenset[str] | None = None) -> Used:
    """Return the terms that are frequent enough and, in the first step, occur in several repositories."""
    found = postings([example.terms for example in examples], field)
    spread = SPREAD if field in EVERYWHERE and field != "cues" else 1
    return {
        term: at
        for term, at in found.items()
        if (among is None or term in among)
        and len(at) >= OFTEN
        and len({examples[number].repository for number in at}) >= spread
    }


def _strongest(weights: Mapping[str, Floats], most: int) -> frozenset[str]:
    strength = {term: round(float(np.abs(weight).max()), 9) for term, weight in weights.items()}
    return frozenset(sorted(strength, key=lambda term: (-strength[term], term))[:most])


def _rounded(weights: Mapping[str, Floats], rarity: Mapping[str, int]) -> Weights:
    return {term: (rarity[term], *_whole(weight / TENTHS)) for term, weight in weights.items()}


def _whole(values: Floats) -> tuple[int, ...]:
    return tuple(round(float(value) * UNIT) for value in values)
