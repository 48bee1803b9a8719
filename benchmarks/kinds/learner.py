"""A linear model of three kinds: softmax regression with an L2 penalty over weighted fields of terms.

Every field of an issue has the length 1 (or less, if it has few words), as in the shipped model. The terms of twenty
thousand issues are a sparse matrix, stored by rows and by columns; limited-memory BFGS (Nocedal 1980) minimises the
loss. It takes a fixed number of rounds and uses no random numbers, so that the same issues give the same weights.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from nodes.issue.kinds.model import LEAST, Field

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Terms = Mapping[Field, frozenset[str]]
Used = dict[str, list[int]]
"""The issues that use a term."""
ROUNDS = 60
"""Number of iterations; it is fixed, so that rounding differences between machines cannot change it."""
_MEMORY = 8
"""Pairs of steps and gradients from which the curvature is estimated."""
_SHORTEST = 1e-6
"""The shortest step that is tried."""
_FLAT = 1e-14
"""A step with less curvature ends the search: the minimum is reached."""


@dataclass(frozen=True, slots=True)
class Space:
    """The terms of the training issues: one row per issue, one column per term."""

    issues: int
    columns: tuple[tuple[Field, str], ...]
    rarity: Numbers
    """Of each term, in tenths (the smoothed logarithm of TF-IDF)."""
    _rows: Numbers
    _terms: Numbers
    _values: Floats

    @classmethod
    def of(cls, issues: int, used: Mapping[Field, Used], counts: Mapping[Field, float]) -> Space:
        """Build the matrix of some terms; ``counts`` is the weight of each field."""
        columns = tuple((field, term) for field, terms in used.items() for term in terms)
        at = [np.array(issues_) for terms in used.values() for issues_ in terms.values()]
        rarity = np.array([round(10 * log((1 + issues) / (1 + len(own))) + 10) for own in at])
        terms = np.repeat(np.arange(len(at)), [len(own) for own in at])
        rows, values = np.concatenate(at), np.zeros(len(terms))
        of_column = np.repeat(np.arange(len(used)), [len(terms_) for terms_ in used.values()])
        for number, field in enumerate(used):
            own = of_column[terms] == number
            squares = np.bincount(rows[own], rarity[terms[own]] ** 2, issues)
            values[own] = counts[field] * rarity[terms[own]] / np.sqrt(squares + LEAST**2)[rows[own]]
        return cls(issues, columns, rarity, rows, terms, values)

    def scores(self, weights: Floats) -> Floats:
        """Return the score of each issue for each kind."""
        return _summed(self._rows, self._values, weights, self._terms, self.issues)

    def back(self, errors: Floats) -> Floats:
        """Return the sum of the errors of each term's issues: the gradient of its weights."""
        return _summed(self._terms, self._values, errors, self._rows, len(self.columns))


def _summed(into: Numbers, values: Floats, of: Floats, at: Numbers, size: int) -> Floats:
    return np.stack([np.bincount(into, values * column[at], size) for column in of.T], axis=1)


def fit(space: Space, wanted: Floats, counts: Floats, freedom: float) -> tuple[Floats, Floats]:
    """Return the bias and the weights (terms, kinds) with the smallest penalised loss.

    Args:
        space: the terms of the issues.
        wanted: for each issue, 1 at its kind.
        counts: how much each issue counts.
        freedom: the inverse of the penalty.
    """

    def loss(at: Floats) -> tuple[float, Floats]:
        bias, weights = at[0], at[1:]
        found = shares(space.scores(weights) + bias)
        errors = freedom * counts[:, None] * (found - wanted)
        value = -freedom * float((counts * np.log((found * wanted).sum(axis=1))).sum()) + 0.5 * float(
            (weights**2).sum()
        )
        return value, np.vstack([errors.sum(axis=0), space.back(errors) + weights])

    solved = _minimum(loss, np.zeros((len(space.columns) + 1, wanted.shape[1])))
    return solved[0], solved[1:]


def _minimum(loss: Callable[[Floats], tuple[float, Floats]], at: Floats) -> Floats:
    """Return the minimum of a smooth convex function of which value and gradient are known."""
    value, slope = loss(at)
    pairs: list[tuple[Floats, Floats]] = []
    for _ in range(ROUNDS):
        way, step = _direction(slope, pairs), 1.0 if pairs else 1.0 / max(float(np.abs(slope).sum()), 1.0)
        gain = float((way * slope).sum())
        tried, found = loss(at + step * way)
        # Armijo's condition: a step that does not lower the value enough is halved.
        while tried > value + 1e-4 * step * gain and step > _SHORTEST:
            step /= 2
            tried, found = loss(at + step * way)
        if step <= _SHORTEST:
            break
        pairs = [*pairs, (step * way, found - slope)][-_MEMORY:]
        at, value, slope = at + step * way, tried, found
        if float((pairs[-1][0] * pairs[-1][1]).sum()) <= _FLAT:
            break
    return at


def _direction(slope: Floats, pairs: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Return minus the gradient times the inverse curvature that the last steps show (two-loop recursion)."""
    way, taken = -slope, []
    for moved, turned in reversed(pairs):
        share = float((moved * way).sum()) / float((moved * turned).sum())
        way = way - share * turned
        taken.append(share)
    if pairs:
        moved, turned = pairs[-1]
        way = way * (float((moved * turned).sum()) / float((turned**2).sum()))
    for (moved, turned), share in zip(pairs, reversed(taken), strict=True):
        way = way + (share - float((turned * way).sum()) / float((moved * turned).sum())) * moved
    return way


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
