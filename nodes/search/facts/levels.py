"""How much may be said: which facts lead, which are shown, and whether a file is claimed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nodes.search.facts.inquiry import FIRST
from nodes.search.facts.types import LEADING, OF_CHANGES, Fact

if TYPE_CHECKING:
    from collections.abc import Sequence

Level = Literal["claimed", "several", "ranked", "none"]
"""claimed: strong facts on the first file alone; several: strong facts elsewhere; ranked: no strong fact, but the
search is sure; none: no place is shown."""
SURE = 0.85
"""Confidence from which the search's first place may be named without a fact."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What may be said of an issue."""

    level: Level
    headline: Fact | None = None
    """The fact that leads, where any does."""
    strong: tuple[Fact, ...] = ()
    """The strong facts on the first files, in their order of precedence."""
    names_function: bool = False
    """Whether the headline's function may be claimed: a strong fact is on it."""


@dataclass(frozen=True, slots=True)
class Bits:
    """What confidence is fitted with besides the ranking."""

    on_first: bool = False
    """A strong fact lies on the first file."""
    two_kinds: bool = False
    """Strong facts of two kinds lie on it."""
    elsewhere: bool = False
    """A strong fact lies on another file."""


def bits(facts: Sequence[Fact], files: Sequence[str]) -> Bits:
    """Say what facts add to the confidence in the first file."""
    strong = [fact for fact in facts if fact.strong]
    first = files[0] if files else None
    kinds = {fact.kind for fact in strong if fact.path == first}
    return Bits(bool(kinds), len(kinds) >= 2, any(fact.path != first for fact in strong))


def statement(facts: Sequence[Fact], files: Sequence[str], confidence: float) -> Statement:
    """Decide what may be said.

    Args:
        facts: all facts, those outside the first files too.
        files: the ranked files, best first.
        confidence: how sure the ranking is of its first file.
    """
    first = list(files[:FIRST])
    strong = tuple(
        sorted((fact for fact in facts if fact.strong and fact.path in first), key=lambda f: _order(f, first))
    )
    told = bits(facts, files)
    if told.on_first and not told.elsewhere:
        lead = strong[0]
        return Statement("claimed", lead, strong, names_function=lead.symbol is not None)
    if strong:
        return Statement("several", strong[0], strong)
    return Statement("ranked" if confidence >= SURE and files else "none")


def _order(fact: Fact, first: Sequence[str]) -> tuple[int, bool, int]:
    """The first file before others, facts about lines before facts about changes, then the order of kinds."""
    kind = LEADING.index(fact.kind) if fact.kind in LEADING else len(LEADING)
    return (
        first.index(fact.path or ""),
        fact.kind in OF_CHANGES and not (fact.kind == "introduced_in" and fact.line),
        kind,
    )
