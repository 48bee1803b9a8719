"""A linear model of three kinds, learnt in two steps so that what holds everywhere is learnt first.

Softmax regression with an L2 penalty, solved over issues instead of terms (there are far fewer of them): scores are
``K a`` with K the likeness of issues, summed over fields. First the cues, and the words that several repositories use,
are fitted; then all words of the body explain what is left over, a repository's own templates among them. In a single
step templates would explain what plain words could have, and a new repository has other templates. Majorisation by
Böhning's bound (1992) with Nesterov's acceleration: no step size, no random numbers. Rarities are whole numbers, so
that K comes out the same whatever order its sums are taken in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from nodes.kinds.model import LEAST
from nodes.kinds.terms import Field

Floats = npt.NDArray[np.float64]
Terms = Mapping[Field, frozenset[str]]
Used = dict[str, list[int]]
"""Which issues use a term."""
ROUNDS = 80
"""Always as many, so that a last digit on another machine cannot end the search elsewhere."""
_FEW = 40
"""Issues up to which a term's pairs are counted one by one, which is quicker than a matrix of zeros."""


def fit(likeness: Floats, wanted: Floats, freedom: float, given: Floats) -> Floats:
    """Return the coefficients (issues, kinds) of the smallest penalised loss, on top of the scores given."""
    inverse = np.linalg.inv(0.5 * likeness + np.eye(len(wanted)) / freedom)
    now = ahead = np.zeros_like(wanted)
    pace = 1.0
    for _ in range(ROUNDS):
        found = ahead - inverse @ (shares(given + likeness @ ahead) - wanted + ahead / freedom)
        faster = (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        now, ahead, pace = found, found + (pace - 1) / faster * (found - now), faster
    return now


def shares(scores: Floats) -> Floats:
    """Return the softmax of each row."""
    exponents = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True))


def temperature(scores: Floats, wanted: Floats) -> float:
    """Return what scores are to be divided by for the likeliest probabilities, to a twentieth."""
    tried = [number / 20 for number in range(10, 81)]
    return max(tried, key=lambda heat: float((np.log(shares(scores / heat)) * wanted).sum()))


def postings(issues: Sequence[Terms], field: Field) -> Used:
    """Return which issues use each term, in the order of the terms."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, issue in enumerate(issues):
        for term in issue[field]:
            found[term].append(number)
    return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class Space:
    """One field of the issues that are learnt from."""

    used: Used
    rarity: Mapping[str, int]
    length: Floats
    """Of each issue, the square root of its terms' squared rarities."""

    @classmethod
    def of(cls, issues: int, used: Used) -> Space:
        """Measure how rare terms are, in tenths (TF-IDF's smoothed logarithm), and how much each issue has of them."""
        rarity = {term: round(10 * log((1 + issues) / (1 + len(at))) + 10) for term, at in used.items()}
        squares = np.zeros(issues)
        for term, at in used.items():
            squares[at] += rarity[term] ** 2
        return cls(used, rarity, np.sqrt(squares + LEAST**2))

    def likeness(self) -> Floats:
        """Return the cosine of each two issues."""
        size = len(self.length)
        common = np.zeros((size, size))
        often = [term for term, at in self.used.items() if len(at) > _FEW]
        columns = np.zeros((size, len(often)))
        for number, term in enumerate(often):
            columns[self.used[term], number] = self.rarity[term]
        common += columns @ columns.T
        for term, at in self.used.items():
            if len(at) <= _FEW:
                common[np.ix_(at, at)] += self.rarity[term] ** 2
        return np.asarray(common / self.length[:, None] / self.length)

    def weights(self, coefficients: Floats) -> dict[str, Floats]:
        """Return what each term adds to the scores of an issue, before that is divided by the issue's length."""
        each = coefficients / self.length[:, None]
        weights = {term: each[at].sum(axis=0) * self.rarity[term] ** 2 for term, at in self.used.items()}
        return {term: weight - weight.mean() for term, weight in weights.items()}
