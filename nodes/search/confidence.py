"""How likely the first file is right, from its lead and from how many kinds of evidence agree that it is the first."""

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
"""Best files among which the first is compared."""
FEW = 5
"""Among fewer files kinds agree by chance."""
KINDS = 6
"""Kinds of evidence that an issue has something of; where fewer speak, the others are no agreement."""
TIED = 3.0
"""How soon a lead tells two files apart: without any, neither can be right more often than not."""
SILENT = frozenset({"prior", "bridge"})
"""Kinds that are no evidence by themselves."""


def signs(scores: Sequence[float], features: Mapping[str, Floats], weights: Mapping[str, float]) -> dict[str, float]:
    """Measure what the confidence is made of.

    Args:
        scores: of the best files, best first.
        features: by name, of the same files in the same order.
        weights: of the features.
    """
    agreeing, speaking = votes(features, weights)
    calls = features.get("calls", np.zeros(1))
    return {
        "lead": scores[0] - (scores[1] if len(scores) > 1 else 0.0),
        "agreement": agreeing / max(speaking, KINDS),
        # What calls, or is called by, all that is likely is often only the way in.
        "calls": float(calls[0] - calls[1:].max(initial=0.0)),
    }


def votes(features: Mapping[str, Floats], weights: Mapping[str, float]) -> tuple[int, int]:
    """Count the kinds of evidence that speak most for the first file, and those that speak at all."""
    shares: defaultdict[str, Floats | float] = defaultdict(float)
    for name, weight in weights.items():
        kind = "title" if name.startswith("title") else kind_of(name)
        if name in features and kind not in SILENT and len(features[name]) >= FEW:
            shares[kind] = shares[kind] + weight * features[name]
    speaking = [np.round(values, 9) for values in shares.values() if np.max(values) > 0]
    agreeing = sum(bool(values[0] > values[1:].max()) for values in speaking)
    return agreeing, len(speaking)


def confidence(measured: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Estimate how likely the first file is right, by the fitted logistic regression, and by its lead alone."""
    fitted = weights["bias"] + sum(weights[name] * value for name, value in measured.items())
    logit = min(fitted, TIED * measured["lead"])
    return round(1 / (1 + math.exp(-max(-30.0, min(30.0, logit)))), 4)
