"""How likely the first file is right, from its lead and from whether its words alone would have put it first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

LEADS = {"lead": 2, "lead_over_fifth": 5}
"""The first place's lead over these."""
ALONE = {"best_title": "title_chunk", "best_words": "words_chunk"}
"""Whether it has more of these than any other file: two kinds of evidence seldom agree by chance."""
SIGNS = (*LEADS, *ALONE)
DEEPEST = max(LEADS.values())
"""How many of the best files are looked at."""


def signs(scores: Sequence[float], features: Mapping[str, Floats], first: int) -> dict[str, float]:
    """Measure what the confidence is made of.

    Args:
        scores: of the best files, best first; fewer than five count as if nothing else were near.
        features: by name, of all files.
        first: the first file's row in each of them.
    """
    leads = {name: lead_over(scores, place) for name, place in LEADS.items()}
    alone = {name: float(_is_alone(features[column], first)) for name, column in ALONE.items() if column in features}
    return leads | alone


def confidence(measured: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Estimate how likely the first file is right, by the fitted logistic regression."""
    logit = weights["bias"] + sum(weights[name] * value for name, value in measured.items())
    return round(1 / (1 + math.exp(-max(-30.0, min(30.0, logit)))), 4)


def lead_over(scores: Sequence[float], place: int) -> float:
    """How far the first is ahead of a later place (1-based); of nothing, where there are too few."""
    return scores[0] - (scores[place - 1] if len(scores) >= place else 0.0)


def _is_alone(values: Floats, first: int) -> bool:
    """Whether one value is above all others, by more than a rounding error; to be best of a few says nothing."""
    rounded = np.round(values, 9)
    return bool(np.count_nonzero(rounded >= rounded[first]) == 1 and np.count_nonzero(rounded > 0) >= DEEPEST)
