"""Estimates how likely the first file is right, from its lead and from how many kinds of evidence rank it first."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.rank import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

SIGNS = ("lead", "agreement", "calls")
RIVALS = 100
"""Number of best files that the first one is compared with."""
FEW = 5
"""Below this number of files, kinds of evidence agree by chance."""
KINDS = 6
"""Minimum divisor of the agreement: an issue with fewer kinds of evidence cannot reach full agreement."""
TIED = 3.0
"""Logit per unit of lead. It caps the confidence: with two tied files, neither is right more often than not."""
SILENT = frozenset({"prior", "bridge"})
"""Kinds that are no evidence by themselves."""


def signs(scores: Sequence[float], features: Mapping[str, Floats], weights: Mapping[str, float]) -> dict[str, float]:
    """Compute the inputs of the confidence.

    Args:
        scores: scores of the best files, best first.
        features: values by feature name, for the same files in the same order.
        weights: weights by feature name.
    """
    # A share instead of two counts: in small repositories, where few kinds apply, the counts gave far too high values.
    agreeing, speaking = votes(features, weights)
    calls = features.get("calls", np.zeros(1))
    return {
        "lead": scores[0] - (scores[1] if len(scores) > 1 else 0.0),
        "agreement": agreeing / max(speaking, KINDS),
        # A file that calls, or is called by, all likely functions is often only the entry point.
        "calls": float(calls[0] - calls[1:].max(initial=0.0)),
    }


def votes(features: Mapping[str, Floats], weights: Mapping[str, float]) -> tuple[int, int]:
    """Return how many kinds of evidence rank the first file highest, and how many apply to any file."""
    shares: defaultdict[str, Floats | float] = defaultdict(float)
    for name, weight in weights.items():
        kind = "title" if name.startswith("title") else kind_of(name)
        if name in features and kind not in SILENT and len(features[name]) >= FEW:
            shares[kind] = shares[kind] + weight * features[name]
    speaking = [np.round(values, 9) for values in shares.values() if np.max(values) > 0]
    agreeing = sum(bool(values[0] > values[1:].max()) for values in speaking)
    return agreeing, len(speaking)


def confidence(measured: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the probability that the first file is right: the fitted logistic regression, limited by the lead."""
    fitted = weights["bias"] + sum(weights[name] * value for name, value in measured.items())
    logit = min(fitted, TIED * measured["lead"])
    return round(1 / (1 + math.exp(-max(-30.0, min(30.0, logit)))), 4)
