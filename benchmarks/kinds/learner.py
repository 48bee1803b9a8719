"""A linear model of three kinds, fitted in two steps so that general terms are learnt before specific ones.

Softmax regression with an L2 penalty, solved over issues instead of terms (there are far fewer issues): scores are ``K
a``, where K is the similarity of issues, summed over fields. The first step fits the cues, and the words that several
repositories use. The second step fits all words of the body to the residual, including a repository's own templates. In
a single step templates would explain what general words could have explained, and a new repository has other templates.
Majorisation by Böhning's bound (1992) with Nesterov's acceleration needs no step size and no random numbers. Rarities
are integers, so that K does not depend on the order of its sums.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from nodes.issue.kinds import LEAST
from nodes.issue.kinds.terms import Field

Floats = npt.NDArray[np.float64]
Terms = Mapping[Field, frozenset[str]]
Used = dict[str, list[int]]
"""The issues that use a term."""
ROUNDS = 80
"""Number of iterations; it is fixed, so that rounding differences between machines cannot change it."""
_FEW = 40
"""Number of issues up to which a term's pairs are counted one by one, which is faster than a sparse matrix."""


def fit(likeness: Floats, wanted: Floats, freedom: float, given: Floats) -> Floats:
    """Return the coefficients (issues, kinds) with the smallest penalised loss, added to the given scores."""
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
    """Return the divisor of scores that gives the most likely probabilities, to a twentieth."""
    tried = [number / 20 for number in range(10, 81)]
    return max(tried, key=lambda heat: float((np.log(shares(scores / heat)) * wanted).sum()))


def postings(issues: Sequence[Terms], field: Field) -> Used:
    """Return the issues that use each term, in the order of the terms."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, issue in enumerate(issues):
        for term in issue[field]:
            found[term].append(number)
    return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class Space:
    """One field of the training issues."""

    used: Used
    rarity: Mapping[str, int]
    length: Floats
    """For each issue, the square root of its terms' squared rarities."""

    @classmethod
    def of(cls, issues: int, used: Used) -> Space:
        """Compute the rarity of terms in tenths (TF-IDF's smoothed logarithm), and the length of each issue."""
        rarity = {term: round(10 * log((1 + issues) / (1 + len(at))) + 10) for term, at in used.items()}
        squares = np.zeros(issues)
        for term, at in used.items():
            squares[at] += rarity[term] ** 2
        return cls(used, rarity, np.sqrt(squares + LEAST**2))

    def likeness(self) -> Floats:
        """Return the cosine similarity of each pair of issues."""
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
        """Return each term's contribution to the scores of an issue, before division by the issue's length."""
        each = coefficients / self.length[:, None]
        weights = {term: each[at].sum(axis=0) * self.rarity[term] ** 2 for term, at in self.used.items()}
        return {term: weight - weight.mean() for term, weight in weights.items()}
