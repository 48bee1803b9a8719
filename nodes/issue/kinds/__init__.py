"""Classify issues by kind: a trained model decides three kinds, and rules decide three rare ones."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.issue.kinds.model import LearntKind, load_model
from nodes.issue.kinds.rare import SURE, rare_kind
from nodes.issue.kinds.terms import parts_of, terms_in
from nodes.report import Kind

__all__ = ["Classified", "classify"]


@dataclass(frozen=True, slots=True)
class Classified:
    """A kind, and the probability that it is right."""

    kind: Kind
    confidence: float
    shares: dict[LearntKind, float]
    """The trained model's probabilities, even if a rule decided."""


def classify(title: str, body: str) -> Classified:
    """Return the most probable kind of an issue, judged by the beginning of its text alone."""
    parts = parts_of(title, body)
    shares = load_model().shares(terms_in(parts))
    rare = rare_kind(parts)
    if rare is not None:
        return Classified(rare, SURE, shares)
    best = max(shares, key=lambda kind: shares[kind])
    return Classified(best, round(shares[best], 4), shares)
