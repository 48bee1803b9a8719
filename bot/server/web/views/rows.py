"""One run as a row of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from bot.report.words import percent, span
from bot.server.web.views.words import Moment, line, moment
from bot.store.pages.rows import Outcome, RunRow

_TONES = {"running": "warn", "waiting": "warn", "finished": "good", "stopped": "soft", "failed": "bad"}
OUTCOMES: Mapping[Outcome, str] = {
    "right": "right",
    "wrong": "wrong",
    "awaiting": "awaiting fix",
    "unknown": "fix not found",
    "unclaimed": "no claim",
}
"""The outcomes of reports, in words."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run with the texts of its row."""

    run: RunRow
    title: str
    tone: str
    address: str
    earlier: tuple[Row, ...] = ()
    """Earlier runs of the issue that the list shows below this one, the latest first."""
    more: int = 0
    """Earlier runs that it does not show."""

    @classmethod
    def of(cls, run: RunRow, earlier: Sequence[RunRow] = (), number: int = 0) -> Row:
        """Build the row of a run.

        Args:
            run: the run.
            earlier: earlier runs of its issue to show, the latest first.
            number: how many earlier runs there are.
        """
        # A new run has a title once it has read the issue.
        title = next((one.title for one in (run, *earlier) if one.title), "")
        below = tuple(cls.of(one) for one in earlier)
        return cls(run, line(title) or "Untitled", _TONES[run.status], address(run), below, number - len(below))

    @property
    def outcome(self) -> str:
        """The outcome of its report; empty without a report and after a later one."""
        return OUTCOMES.get(self.run.outcome, "")

    @property
    def is_judged(self) -> bool:
        """Whether a person judged the report and no fix was compared yet."""
        return self.run.outcome in ("right", "wrong") and self.run.fix != "scored"

    @property
    def place(self) -> str:
        """The claimed file; empty if none is claimed."""
        return line(self.run.place)

    @property
    def symbol(self) -> str:
        """The claimed function; empty if none is claimed."""
        return line(self.run.symbol)

    @property
    def confidence(self) -> str:
        """The confidence in the claimed place as a percentage; empty without one."""
        return percent(self.run.confidence) if self.run.place else ""

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
