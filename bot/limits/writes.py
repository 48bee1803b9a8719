"""Write rate limits per installation, and pauses when GitHub limits calls: the rules, and what counts them."""

from typing import NamedTuple

from bot.errors import UserError

PER_MINUTE, PER_HOUR = 75, 480
"""Writes per minute and per hour, below GitHub's limits of 80 and 500 for requests that create content."""
UNNAMED_WAIT, LONGEST_WAIT = 60.0, 900.0
"""First and longest pause in seconds if GitHub names no time; the pause doubles each time."""


class WriteBudget(NamedTuple):
    """The fractions (0..1) of a minute's and an hour's write budget that one kind of write may use."""

    minute: float = 1.0
    hour: float = 1.0
    retries_on_time: bool = True
    """Whether a refused caller retries at the time that it received; that slot is then reserved for it."""

    @property
    def windows(self) -> tuple[tuple[float, int], ...]:
        """The windows as pairs of seconds and the number of writes allowed in them."""
        return (60.0, max(int(PER_MINUTE * self.minute), 1)), (3_600.0, max(int(PER_HOUR * self.hour), 1))


# The kinds of writes share one budget: a separate counter for each would leave room unused in a quiet hour.
WHOLE = WriteBudget()
"""The budget of reports and questions: all of it."""
FIRST_REPORTS = WriteBudget(minute=0.85, hour=0.75, retries_on_time=False)
"""The budget of first reports by rules, which a model's report later replaces."""
REPLIES = WriteBudget(minute=0.6, hour=0.5, retries_on_time=False)
LABELS = WriteBudget(minute=0.85, hour=0.6, retries_on_time=False)
REACTIONS = WriteBudget(minute=0.7, hour=0.4, retries_on_time=False)
"""Writes that can wait. The rest of each window, at least 192 writes an hour, is reserved for reports."""


class Writes:
    """The write limiter of an installation, asked before a write; this one of a client that only reads refuses all."""

    async def take(self, installation: str, budget: WriteBudget = WHOLE, repository: str = "") -> None:  # noqa: ARG002
        """Count one write.

        ``repository``: key of the repository, which leaves room for the installation's other repositories.

        Raises:
            RateLimitedError: the budget for this kind of write is used up; ``after`` says for how many seconds.
            UserError: the client only reads.
        """
        raise UserError("this command writes nothing to GitHub")

    async def check_paused(self, installation: str) -> None:
        """Return if GitHub may be called; raises ``RateLimitedError`` while it has limited the installation."""

    async def answered(self, installation: str, *, write: bool) -> None:
        """Record a response that is not a rate limit."""

    async def limited(self, installation: str, after: float | None, *, whole: bool, write: bool) -> None:
        """Record a response that is a rate limit.

        A limited write pauses writes only; reads continue. All calls pause if GitHub limits all of them (``whole``), or
        on the second limited read in a row.
        """


def installation_key(host: str, number: int) -> str:
    """Return the key under which all calls of an installation are counted."""
    return f"{host}/installation:{number}"


def pause_seconds(after: float | None, in_a_row: int) -> float:
    """Return the pause in seconds after consecutive limits: GitHub's value, else a minute, doubled each time."""
    # As GitHub's documentation asks after a secondary limit: a minute, then exponentially longer. An App that continues
    # may be banned.
    return min(UNNAMED_WAIT * 2.0 ** min(in_a_row - 1, 10), LONGEST_WAIT) if after is None else after
