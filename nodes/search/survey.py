"""What a search knows of an issue when its report is written: first files, facts about them, confidence."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.search.facts import Fact
from nodes.search.types import Location


@dataclass(frozen=True, slots=True)
class Survey:
    """The part of a search that a report is made of."""

    leads: tuple[Location, ...] = ()
    """The best place of each of the first five files, best file first."""
    facts: tuple[Fact, ...] = ()
    """All checked facts, in the order of their kinds; those about other files count, and are not shown."""
    ranked: float = 0.0
    """Calibrated probability that the first file is one that the fix changes, by the ranking alone."""
    confidence: float = 0.0
    """The same, given which files have strong facts."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The first files, in order."""
        return tuple(lead.path for lead in self.leads)
