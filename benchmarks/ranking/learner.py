"""A linear model that ranks fixed files first: listwise softmax, regularised towards hand-set weights with fixed signs.

Cao et al. (2007), "Learning to Rank: From Pairwise Approach to Listwise Approach", with the top-one probability. The
regularisation (L2 around a prior) is strong, because a few hundred issues contain little information. Newton's method
with an active set needs no step size and no random numbers, so the result is the same to the byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nodes.search.ranking.rank import CEILING

Floats = npt.NDArray[np.float64]
ROUNDS = 30
_EDGE = 1e-6
SETTLED = 1e-7
"""Relative change of the loss at which the iteration ends."""


@dataclass(frozen=True, slots=True)
class List:
    """One issue's candidates."""

    features: Floats
    """(candidates, features)."""
    wanted: npt.NDArray[np.bool_]
    weight: float
    """The weight of this issue."""


@dataclass(frozen=True, slots=True)
class Belief:
    """The prior."""

    weights: Floats
    pull: float
    """Strength of the L2 penalty around ``weights``."""
    signs: Floats
    """1: never negative, -1: never positive, 0: free. Evidence for a place must not lower its score."""


def fit_ranker(lists: Sequence[List], belief: Belief) -> Floats:
    """Return the weights with the smallest penalised loss."""
    usable = [item for item in lists if item.wanted.any()]
    weights = _allowed(belief.weights.copy(), belief.signs)
    loss, gradient, curvature = _loss(usable, belief, weights)
    for _ in range(ROUNDS):
        blocked = ((belief.signs > 0) & (weights <= 0) & (gradient > 0)) | (
            (belief.signs < 0) & (weights >= 0) & (gradient < 0)
        )
        free = ~blocked
        step = np.zeros(len(weights))
        step[free] = -np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        before = loss
        weights, loss, gradient, curvature = _downhill(usable, belief, weights, step, loss)
        if before - loss <= SETTLED * abs(before):
            break
    return weights


def _downhill(
    lists: Sequence[List], belief: Belief, weights: Floats, step: Floats, loss: float
) -> tuple[Floats, float, Floats, Floats]:
    """Take the largest step, halved as often as needed, that does not increase the loss."""
    for halvings in range(20):
        tried = _allowed(weights + step / 2**halvings, belief.signs)
        result = _loss(lists, belief, tried)
        if result[0] <= loss:
            return tried, *result
    return weights, *_loss(lists, belief, weights)


def _allowed(weights: Floats, signs: Floats) -> Floats:
    weights = np.where((signs > 0) & (weights < 0), 0.0, weights)
    return np.where((signs < 0) & (weights > 0), 0.0, weights)


def _loss(lists: Sequence[List], belief: Belief, weights: Floats) -> tuple[float, Floats, Floats]:
    """Return loss, gradient and Hessian; each of several relevant candidates competes with all irrelevant ones."""
    apart = weights - belief.weights
    loss = 0.5 * belief.pull * float(apart @ apart)
    gradient = belief.pull * apart
    curvature = belief.pull * np.eye(len(weights))
    for item in lists:
        scores = item.features @ weights
        share = item.weight / item.wanted.sum()
        for row in np.flatnonzero(item.wanted).tolist():
            rivals = ~item.wanted
            rivals[row] = True
            exponents = np.exp(scores[rivals] - scores[rivals].max())
            chance = exponents / exponents.sum()
            features = item.features[rivals]
            mean = chance @ features
            loss -= share * (float(scores[row] - scores[rivals].max()) - float(np.log(exponents.sum())))
            gradient += share * (mean - item.features[row])
            curvature += share * ((features * chance[:, None]).T @ features - np.outer(mean, mean))
    return loss, gradient, curvature


def fit_confidence(
    signs: Floats, right: npt.NDArray[np.bool_], counts: Floats, prior: Floats | None = None, pull: float = 2.0
) -> Floats:
    """Fit a logistic regression with the ceiling of the confidence, by Fisher scoring.

    Args:
        signs: (issues, signs).
        right: whether the first place was right.
        counts: the weight of each issue.
        prior: the bias and the weights that the fit is pulled to; zeros if None.
        pull: strength of the L2 penalty on all but the bias.

    Returns:
        The bias, then one weight per sign.
    """
    columns = np.column_stack([np.ones(len(signs)), signs])
    penalty = pull * np.diag([0.0] + [1.0] * signs.shape[1])
    start = np.zeros(columns.shape[1]) if prior is None else prior
    weights = start.copy()
    for _ in range(2 * ROUNDS):
        share = 1 / (1 + np.exp(-columns @ weights))
        chance = np.clip(CEILING * share, _EDGE, 1 - _EDGE)
        slope = counts * (1 - share) / (1 - chance)
        gradient = columns.T @ (slope * (right - chance)) - penalty @ (weights - start)
        curvature = (columns * (slope * (1 - share) * chance)[:, None]).T @ columns + penalty
        weights = weights + np.clip(np.linalg.solve(curvature, gradient), -2, 2)
    return weights
