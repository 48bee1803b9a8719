"""The input of every finder of facts: the issue, the code with its history, and the ranked files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodes.search.facts.code import Code
    from nodes.search.facts.issue import Issue
    from nodes.search.facts.types import Fact
    from nodes.search.history.claims import Claims
    from nodes.search.history.log import Log
    from nodes.search.types import Query

# Of 809 files behind these that had a fact in development issues, 13 were in the fix.
FIRST = 5
"""Number of ranked files that a report may show."""


@dataclass(frozen=True, slots=True)
class FinderInput:
    """One issue at one commit."""

    query: Query
    issue: Issue
    code: Code
    first: tuple[str, ...] = ()
    """The first files of the ranking."""
    found: tuple[Fact, ...] = ()
    """The facts of the preceding finders, for finders that extend other facts."""

    @property
    def log(self) -> Log:
        """Return the history up to the commit."""
        return self.code.log

    @property
    def claims(self) -> Claims:
        """Return the versions, days and changes that the report gives for the fault."""
        from nodes.search.history.claims import read_claims  # noqa: PLC0415 - finders that read code do not need it

        return read_claims(self.query.title, "\n\n".join((self.query.body, *self.query.extra)))

    @property
    def shown(self) -> tuple[Fact, ...]:
        """Return the facts found so far in the first files, strong ones first."""
        in_first = [fact for fact in self.found if fact.path in self.first]
        return tuple(sorted(in_first, key=lambda fact: (not fact.strong, self.first.index(fact.path or ""))))
