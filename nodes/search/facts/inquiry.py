"""What every finder of facts is given: the issue, the code, the history, and what the search put first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodes.search.facts.code import Code
    from nodes.search.facts.issue import Issue
    from nodes.search.facts.types import Fact
    from nodes.search.history.log import Log
    from nodes.search.types import Query

FIRST = 5
"""Files of a ranking that a report may show."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One issue at one commit."""

    query: Query
    issue: Issue
    code: Code
    log: Log
    first: tuple[str, ...] = ()
    """The first files of the ranking."""
    found: tuple[Fact, ...] = ()
    """What the finders before found; those that follow a fact read it."""

    @property
    def shown(self) -> tuple[Fact, ...]:
        """The facts found so far that lie in the first files, strong ones first."""
        mine = [fact for fact in self.found if fact.path in self.first]
        return tuple(sorted(mine, key=lambda fact: (not fact.strong, self.first.index(fact.path or ""))))
