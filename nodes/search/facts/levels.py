"""The statement that facts allow: which facts lead, which are shown, and whether a file is claimed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nodes.search.facts.inquiry import FIRST
from nodes.search.facts.types import LEADING, OF_CHANGES, Fact, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Level = Literal["claimed", "several", "ranked", "none"]
"""The level of a statement. ``claimed``: strong facts on the first file only, or weaker ones if the search is sure.
``several``: strong facts on the first file and on others. ``ranked``: no strong fact, but the search is sure. ``none``:
no place is shown."""
# A person refers to these places directly; on the first file of development issues 87 to 95 % were right.
FIRM = frozenset({"linked_here", "raised_here", "pasted_here"})
SUPPORTING: tuple[Kind, ...] = (
    "raised_here",
    "built_here",
    "pasted_here",
    "defined_once",
    "read_here",
    "default_here",
)
"""Kinds that explain why a file is relevant, even if a single such fact may be a coincidence; by precedence."""
# Below it, facts that are not strong were right in 41 of 89 development issues.
SUPPORTED = 0.75
"""Minimum confidence of the ranking for a weak fact to support a claim about the file."""
# From here on the first file was right without any strong fact in 25 of 27 development issues.
SURE = 0.85
"""Minimum confidence for the search's first place to be named without a fact."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The statement that a report may make about an issue."""

    level: Level
    headline: Fact | None = None
    """The fact that leads, or None."""
    strong: tuple[Fact, ...] = ()
    """The strong facts on the first files, in order of precedence."""


@dataclass(frozen=True, slots=True)
class ConfidenceInputs:
    """The inputs of the fitted confidence besides the ranking."""

    on_first: bool = False
    """A strong fact is on the first file."""
    two_kinds: bool = False
    """Strong facts of two kinds are on two lines of the first file."""
    elsewhere: bool = False
    """A strong fact, at least as strong as those on the first file, is on another of the first files."""
    supported: bool = False
    """Only weak facts relate the first file to the report, and no strong fact is elsewhere."""


def confidence_inputs(facts: Sequence[Fact], files: Sequence[str]) -> ConfidenceInputs:
    """Return what facts add to the confidence in the first file."""
    # Files after the first five that have a fact are right in 2 % of cases, so they neither support nor contradict.
    shown = set(files[:FIRST])
    strong = [fact for fact in facts if fact.strong and not fact.refuses and fact.path in shown]
    first = files[0] if files else None
    # The line that called a library makes no claim: what the library was given is often decided elsewhere.
    on_first = [fact for fact in strong if fact.path == first and not fact.by_library]
    # An option that another file declares is read in many places, so it does not count against the first file.
    others = [fact for fact in strong if fact.path != first and fact.kind in LEADING]
    # A name that is defined once elsewhere does not count against what the reporter refers to directly.
    if any(map(_is_firm, on_first)):
        others = [fact for fact in others if _is_firm(fact)]
    # Two kinds on one line are one observation.
    two = len({fact.kind for fact in on_first}) >= 2 and len({fact.line for fact in on_first}) >= 2
    supported = (
        not on_first
        and not others
        and not _fails_elsewhere(facts, first)
        and any(fact.path == first and _supports(fact, facts) for fact in facts)
    )
    return ConfidenceInputs(bool(on_first), two, bool(others), supported)


def _fails_elsewhere(facts: Sequence[Fact], first: str | None) -> bool:
    """Return whether the report's stack traces end in other files than the first."""
    raised = {fact.path for fact in facts if fact.kind == "raised_here"}
    return bool(raised) and first not in raised


def _supports(fact: Fact, facts: Sequence[Fact]) -> bool:
    """Return whether a fact relates the words to its file and to no other."""
    same = {one.path for one in facts if one.kind == fact.kind and one.words == fact.words}
    return fact.kind in SUPPORTING and fact.line is not None and same == {fact.path}


def _is_firm(fact: Fact) -> bool:
    """Return whether the reporter refers to the place directly: a link, a frame, pasted code or a name in the title."""
    return fact.kind in FIRM or fact.in_title


def statement(facts: Sequence[Fact], files: Sequence[str], confidence: float) -> Statement:
    """Decide what a report may state.

    Args:
        facts: all facts, including those outside the first files.
        files: the ranked files, best first.
        confidence: how sure the ranking is of its first file.
    """
    first = list(files[:FIRST])
    strong = tuple(sorted(filter(_is_strong_in(first), facts), key=lambda f: _order(f, first)))
    signs = confidence_inputs(facts, files)
    if signs.on_first and not signs.elsewhere:
        lead = strong[0]
        return Statement("claimed", lead, strong)
    # With strong facts on other files too, the first file was right in 73 % of development issues instead of 92 %.
    if signs.on_first:
        return Statement("several", strong[0], strong)
    refused = bool(strong) and strong[0].path == first[0]
    if refused and not (signs.supported and confidence >= (SUPPORTED if strong[0].by_library else SURE)):
        return Statement("several", strong[0], strong)
    if strong and not refused:  # strong facts on other files only: the fix is in those files in one of three cases
        return Statement("none")
    if signs.supported and confidence >= SUPPORTED:
        weak = (fact for fact in facts if fact.path == first[0] and _supports(fact, facts))
        return Statement("claimed", min((*strong[:1], *weak), key=lambda fact: SUPPORTING.index(fact.kind)))
    return Statement("ranked" if confidence >= SURE and files else "none")


def _is_strong_in(first: Sequence[str]) -> Callable[[Fact], bool]:
    """Return a test for the strong facts on the first files; one that cannot lead counts on the first file only."""
    return lambda fact: fact.strong and fact.path in first and (fact.path == first[0] or fact.kind in LEADING)


def _order(fact: Fact, first: Sequence[str]) -> tuple[int, bool, int]:
    """Return a sort key: facts on the first file, then facts about lines before facts about changes, then by kind.

    A single pasted line comes after the other kinds.
    """
    kind = LEADING.index(fact.kind) if fact.kind in LEADING else len(LEADING)
    if fact.kind == "pasted_here" and fact.count == 1:  # often a line to compare with, in another function
        kind = len(LEADING)
    return (
        first.index(fact.path or ""),
        fact.kind in OF_CHANGES and not (fact.kind == "introduced_in" and fact.line),
        kind,
    )
