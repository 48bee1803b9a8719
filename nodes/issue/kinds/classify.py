"""Classify issues by kind: a trained model decides three kinds, and rules decide three rare ones."""

from dataclasses import dataclass
from functools import lru_cache

from nodes.issue.kinds.model import LEARNT, load_model, parts_of, terms_in
from nodes.issue.kinds.rare import SURE, rare_kind
from nodes.report import Kind

__all__ = ["Classified", "classify", "odds"]


@dataclass(frozen=True, slots=True)
class Classified:
    """A kind, and the probability that it is right."""

    kind: Kind
    confidence: float
    shares: dict[str, float]
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
    best = max(LEARNT, key=shares.__getitem__)
    return Classified(best, round(shares[best], 4), shares)
