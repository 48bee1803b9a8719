"""What kind of issue it is: three kinds by a learnt model, three rare ones by rules."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.kinds.model import LearntKind, load_model
from nodes.kinds.parts import parts_of
from nodes.kinds.rare import SURE, rare_kind
from nodes.kinds.terms import terms_in
from nodes.report import Kind

__all__ = ["Classified", "classify"]


@dataclass(frozen=True, slots=True)
class Classified:
    """A kind, and how often such a judgement is right."""

    kind: Kind
    confidence: float
    shares: dict[LearntKind, float]
    """The learnt model's probabilities, whatever a rule says."""


def classify(title: str, body: str) -> Classified:
    """The most probable kind of an issue, from the beginning of its text alone."""
    parts = parts_of(title, body)
    shares = load_model().shares(terms_in(parts))
    rare = rare_kind(parts)
    if rare is not None:
        return Classified(rare, SURE, shares)
    best = max(shares, key=lambda kind: shares[kind])
    return Classified(best, round(shares[best], 4), shares)
