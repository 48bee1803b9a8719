"""A fact: one checked relation between words of an issue and a line, or a change, of the repository."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "linked_here",
    "named_change",
    "introduced_in",
    "raised_here",
    "named_here",
    "pasted_here",
    "defined_once",
    "built_here",
    "read_here",
    "default_here",
    "raised_on_purpose",
    "guarded_by",
    "called_from",
    "tested_here",
    "changed_in",
    "documented_here",
    "sibling",
    "absent",
]
LEADING: tuple[Kind, ...] = (
    "linked_here",
    "introduced_in",
    "named_change",
    "raised_here",
    "pasted_here",
    "defined_once",
    "built_here",
    "read_here",
    "named_here",
)
"""Kinds that may lead a report, in their order; only a strong fact of one of them does."""
OF_CHANGES: frozenset[Kind] = frozenset({"named_change", "introduced_in", "changed_in"})
"""Kinds that speak of a commit; they name a file of the change, and rarely a line."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One relation that a check confirmed."""

    kind: Kind
    says: str
    """One plain sentence, true of the commit and of the issue."""
    words: str | None = None
    """Words of the issue, verbatim but for white space; None for a fact that follows another."""
    path: str | None = None
    line: int | None = None
    """1-based."""
    text: str | None = None
    """That line, verbatim, without its ending."""
    symbol: str | None = None
    """The definition that the line is in; for ``called_from`` the name that the line calls."""
    sha: str | None = None
    """The commit that the line is read at, where it is not the run's."""
    change: str | None = None
    """Full SHA of the change that the fact is about."""
    count: int | None = None
    """How many such places the repository's own code has."""
    strong: bool = False
    """Whether it may lead: its kind and every check of its kind allow it."""
    users: int | None = None
    """How many files of the repository's own code hold the name."""
    exact: bool | None = None
    """Whether the text of the frame, or of the linked line, was found again at this commit."""
    in_title: bool = False
    """Whether the name stands in the title of the report."""
    refuses: bool = False
    """Whether the line belongs to a statement that raises on purpose; the fault is often in what it was given."""
    follows: tuple[str, int] | None = None
    """Path and line of the fact that this one explains."""

    def as_json(self) -> dict[str, Any]:
        """Return the fact as ``report.facts`` holds it."""
        return {name: getattr(self, name) for name in _SHOWN}


_SHOWN = ("kind", "words", "path", "line", "text", "symbol", "sha", "change", "count", "says")
