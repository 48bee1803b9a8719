"""The search result that a report is written from: first files, facts about them and confidence."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.search.facts import Fact
from nodes.search.types import Location


@dataclass(frozen=True, slots=True)
class Survey:
    """The part of a search that a report uses."""

    leads: tuple[Location, ...] = ()
    """The best place of each of the first five files, best file first."""
    facts: tuple[Fact, ...] = ()
    """All checked facts, ordered by kind; facts about other files influence the statement but are not shown."""
    ranked: float = 0.0
    """Calibrated probability that the first file is one that the fix changes, by the ranking only."""
    confidence: float = 0.0
    """The same probability with the strong facts about files included."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the first files, in order."""
        return tuple(lead.path for lead in self.leads)
