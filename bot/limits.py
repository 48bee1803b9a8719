"""How much is written to GitHub under one installation, and when to be quiet: the rules, and who keeps them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

PER_MINUTE, PER_HOUR = 75, 480
"""Below GitHub's 80 and 500 for requests that create content."""
UNNAMED_WAIT, LONGEST_WAIT = 60.0, 900.0
"""Seconds to be quiet where GitHub names no time, doubled each time up to the second."""


class Share(NamedTuple):
    """The parts of a minute's and of an hour's writes that one kind of write may fill, 0..1."""

    minute: float = 1.0
    hour: float = 1.0
    comes_back: bool = True
    """Whether who is refused comes again at the time that it was told; that time is then nobody else's."""

    @property
    def windows(self) -> tuple[tuple[float, int], ...]:
        """So many writes in so many seconds."""
        return (60.0, max(int(PER_MINUTE * self.minute), 1)), (3_600.0, max(int(PER_HOUR * self.hour), 1))


WHOLE = Share()
"""For reports and questions: everything."""
FIRST_REPORTS = Share(minute=0.85, hour=0.75, comes_back=False)
"""For reports by rules that a model's report replaces."""
REPLIES = Share(minute=0.6, hour=0.5, comes_back=False)
LABELS = Share(minute=0.85, hour=0.6, comes_back=False)
REACTIONS = Share(minute=0.7, hour=0.4, comes_back=False)
"""Work that can be done later. The rest of each window, 192 writes of an hour and more, is for reports alone."""


class Writes(Protocol):
    """Everybody who writes under an installation asks here, whichever process it is in."""

    async def take(self, installation: str, share: Share = WHOLE, repository: str = "") -> None:
        """Count one write.

        Args:
            installation: its key.
            share: what writes of this kind may fill.
            repository: key of the repository that is written to. It leaves room for the installation's others.

        Raises:
            RateLimitedError: there is no room for writes of this kind; ``after`` says until when.
        """

    async def check_quiet(self, installation: str) -> None:
        """Return if GitHub may be asked.

        Raises:
            RateLimitedError: it wants to hear nothing from this installation now.
        """

    async def answered(self, installation: str, *, write: bool) -> None:
        """GitHub answered a call."""

    async def limited(self, installation: str, after: float | None, *, whole: bool, write: bool) -> None:
        """GitHub answered with a limit.

        Of a write: nobody writes for a while, and reading goes on. All calls are meant if it says so (``whole``), or if
        it is the second read in a row.
        """


def installation_key(host: str, number: int) -> str:
    """What an installation is called wherever something is counted for it."""
    return f"{host}/installation:{number}"


def quiet_for(after: float | None, in_a_row: int) -> float:
    """Seconds to be quiet after so many limits in a row: what GitHub named, else a minute, doubled each time."""
    return min(UNNAMED_WAIT * 2.0 ** min(in_a_row - 1, 10), LONGEST_WAIT) if after is None else after
