"""One run as a row of the list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from bot.store.pages.rows import RunRow
from bot.store.runs import RunStatus
from bot.web.views.words import Moment, line, moment, percent, span

_TONES: dict[RunStatus, Literal["good", "warn", "bad", "soft"]] = {
    "running": "warn",
    "waiting": "warn",
    "finished": "good",
    "stopped": "soft",
    "failed": "bad",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A run with the texts of its row."""

    run: RunRow
    title: str
    tone: str
    address: str

    @classmethod
    def of(cls, run: RunRow) -> Row:
        """Build the row of a run."""
        return cls(run, line(run.title) or "Untitled", _TONES[run.status], address(run))

    @property
    def confidence(self) -> str:
        """The confidence of its report as a percentage."""
        return percent(self.run.confidence)

    @property
    def claims(self) -> str:
        """Whether its report names a cause, in a short phrase; empty without a report."""
        return "" if not self.run.kind else "cause named" if self.run.claimed else "no cause"

    @property
    def began(self) -> Moment | None:
        """When the run began."""
        return moment(self.run.began_at)

    @property
    def lasted(self) -> str:
        """Time from the run's start to its last change; empty until the run is over, or if the start is unknown."""
        return span(self.run.changed_at - self.run.began_at) if self.run.over and self.run.began_at else ""


def address(run: RunRow) -> str:
    """Return the path of a run's page."""
    return f"/runs/{quote(run.owner)}/{quote(run.name)}/{run.issue}/{run.number}"
