"""A linear model over the terms of an issue, the form of both models of this folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import exp, sqrt
from pathlib import Path
from typing import Literal, get_args

from nodes.issue.kinds.terms import Field

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


@dataclass(frozen=True, slots=True)
class Model:
    """The model that ``python -m benchmarks.kinds.train`` or ``benchmarks.kinds.disclosures`` writes."""

    bias: tuple[int, ...]
    temperature: float
    """The divisor of scores, calibrated so that a confidence is the share of right answers in unseen repositories."""
    fields: Mapping[Field, Weights]
    kinds: tuple[str, ...] = LEARNT

    def shares(self, terms: Mapping[Field, Iterable[str]]) -> dict[str, float]:
        """Return the probability of each kind; they add up to 1."""
        scores = [score / self.temperature for score in self.scores(terms)]
        # Subtracting the highest score keeps exp() from overflowing.
        highest = max(scores)
        raised = [exp(score - highest) for score in scores]
        return {kind: value / sum(raised) for kind, value in zip(self.kinds, raised, strict=True)}

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
def load_model(path: Path = WEIGHTS, kinds: tuple[str, ...] = LEARNT) -> Model:
    """Read the weights, once per process."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    if tuple(stored["kinds"]) != kinds:
        raise ValueError(f"{path} was trained for other kinds")
    return Model(tuple(stored["bias"]), stored["temperature"], stored["fields"], kinds)
