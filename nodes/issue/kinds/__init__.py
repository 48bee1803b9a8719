"""Classify issues by kind: a trained model decides three kinds, and rules decide three rare ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from math import exp, sqrt
from pathlib import Path
from typing import Literal, get_args

from nodes.issue.kinds.rare import SURE, rare_kind
from nodes.issue.kinds.terms import Field, parts_of, terms_in
from nodes.report import Kind

LearntKind = Literal["bug", "feature", "question"]
LEARNT: tuple[LearntKind, ...] = get_args(LearntKind)
WEIGHTS = Path(__file__).with_name("weights.json")
UNIT = 100
"""Weights are stored as integer hundredths, and rarities as integer tenths."""
TENTHS = 10
LEAST = 50
"""Tenths of rarity added to the length of each field, so that a few words count less than many."""

Weights = Mapping[str, tuple[int, ...]]
"""A term's rarity, then its weight for each kind."""
__all__ = ["Classified", "classify", "odds"]


@dataclass(frozen=True, slots=True)
class Model:
    """The model that ``python -m benchmarks.kinds.train`` writes."""

    bias: tuple[int, ...]
    temperature: float
    """The divisor of scores, calibrated so that a confidence is the share of right answers in unseen repositories."""
    fields: Mapping[Field, Weights]

    def shares(self, terms: Mapping[Field, Iterable[str]]) -> dict[LearntKind, float]:
        """Return the probability of each kind; they add up to 1."""
        scores = [score / self.temperature for score in self.scores(terms)]
        # Subtracting the highest score keeps exp() from overflowing.
        highest = max(scores)
        raised = [exp(score - highest) for score in scores]
        return {kind: value / sum(raised) for kind, value in zip(LEARNT, raised, strict=True)}

    def scores(self, terms: Mapping[Field, Iterable[str]]) -> list[float]:
        """Score each kind: the weights of a field's known terms, divided by the length of their rarities."""
        totals = [bias / UNIT for bias in self.bias]
        for field, weights in self.fields.items():
            known = [weights[term] for term in terms[field] if term in weights]
            length = sqrt(sum(rarity * rarity for rarity, *_ in known) + LEAST**2) / TENTHS * UNIT
            for number in range(len(totals) if known else 0):
                totals[number] += sum(values[number + 1] for values in known) / length
        return totals


@cache
def load_model(path: Path = WEIGHTS) -> Model:
    """Read the weights, once per process."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    if tuple(stored["kinds"]) != LEARNT:
        raise ValueError(f"{path} was trained for other kinds")
    return Model(tuple(stored["bias"]), stored["temperature"], stored["fields"])


@dataclass(frozen=True, slots=True)
class Classified:
    """A kind, and the probability that it is right."""

    kind: Kind
    confidence: float
    shares: dict[LearntKind, float]
    """The trained model's probabilities, even if a rule decided."""

    @property
    def bug_rather_than_feature(self) -> float:
        """Return the probability of a bug if it is a bug or a feature; questions of both kinds are searched."""
        return odds(self.shares["bug"], self.shares["feature"])


def odds(one: float, other: float) -> float:
    """Return the share of the first of two probabilities in their sum."""
    return one / (one + other)


# A run classifies its issue about five times; several runs may take turns.
@lru_cache(maxsize=8)
def classify(title: str, body: str) -> Classified:
    """Return the most probable kind of an issue, judged by the beginning of its text alone."""
    parts = parts_of(title, body)
    shares = load_model().shares(terms_in(parts))
    rare = rare_kind(parts)
    if rare is not None:
        return Classified(rare, SURE, shares)
    best = max(shares, key=lambda kind: shares[kind])
    return Classified(best, round(shares[best], 4), shares)
