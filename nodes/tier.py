"""Choose the tier of an issue by inexpensive signals that the trace can name (seed 004)."""

from __future__ import annotations

from typing import NamedTuple

from nodes.facts import IssueFacts
from nodes.report import Kind
from nodes.state import Tier

_NEEDS_NO_CODE = frozenset({"question", "feature", "spam"})
MANY_COMPONENTS = 4
"""The number of different files or modules from which an issue is treated as spanning components."""


class Tiered(NamedTuple):
    """A tier and the signal that decided it."""

    tier: Tier
    signal: str


def tier_of(kind: Kind, facts: IssueFacts) -> Tiered:
    """Choose a tier: simple issues end after the investigator, and complex ones get the strongest model."""
    if kind in _NEEDS_NO_CODE:
        return Tiered("simple", kind)
    if not (facts.words or facts.traces or facts.errors or facts.code_blocks):
        return Tiered("simple", "empty")
    if len({*facts.paths, *facts.modules}) >= MANY_COMPONENTS:
        return Tiered("complex", "several components")
    if len({trace.language for trace in facts.traces}) > 1:
        return Tiered("complex", "traces of different programs")
    if not (facts.traces or facts.errors or facts.symbols):
        return Tiered("complex", "no trace, error or name")
    return Tiered("medium", "a trace, an error or a name to search for")
