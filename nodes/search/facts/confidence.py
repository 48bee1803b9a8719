"""How likely the first file is right, given the ranking's own number and which files strong facts are about."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nodes.search.facts.types import Fact

WEIGHTS = Path(__file__).with_name("confidence.json")
_EDGE = 1e-3


def fact_signs(paths: Sequence[str], facts: Sequence[Fact]) -> dict[str, float]:
    """Measure what facts say of the first file, each 0 or 1.

    Args:
        paths: the first files, best first.
        facts: the checked facts about them.
    """
    strong = {(fact.path, fact.kind) for fact in facts if fact.strong and fact.path}
    first = {kind for path, kind in strong if paths and path == paths[0]}
    others = any(path != paths[0] and path in paths for path, _ in strong) if paths else False
    return {
        "alone": float(bool(first) and not others),
        "shared": float(bool(first) and others),
        "elsewhere": float(not first and others),
        "two_kinds": float(len(first) > 1),
    }


def with_facts(ranked: float, paths: Sequence[str], facts: Sequence[Fact]) -> float:
    """Return the calibrated probability that the first file is right (logistic, fitted by ``tests.facts.calibrate``)."""
    if not paths or ranked <= 0:
        return 0.0
    weights = load()
    inside = min(max(ranked, _EDGE), 1 - _EDGE)
    logit = weights["bias"] + weights["ranked"] * math.log(inside / (1 - inside))
    logit += sum(weights[name] * value for name, value in fact_signs(paths, facts).items())
    return round(1 / (1 + math.exp(-logit)), 4)


@cache
def load() -> Mapping[str, float]:
    """Return the fitted weights."""
    weights: dict[str, float] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return weights
