"""What can go wrong, by who can mend it."""

from __future__ import annotations


class BotError(Exception):
    """Something of ours."""


class UserError(BotError):
    """The person's to mend; the message is shown to them as it is, on one line."""


class UnreachableError(UserError):
    """What we need does not answer: wrongly named, or away for a while."""


class RetryableError(BotError):
    """Later, a counted number of times."""

    def __init__(self, message: str, *, after: float | None = None, limit: str | None = None) -> None:
        super().__init__(message)
        self.after = after
        """Seconds that the other side asked us to wait; None where it named none."""
        self.limit = limit
        """Which limit was reached, as it is counted; None where it is no matter of limits."""


class RateLimitedError(RetryableError):
    """A limit is reached, GitHub's or our own: not now. Without ``after`` wait 60 seconds, doubled each time."""

    def __init__(
        self, message: str, *, after: float | None = None, whole: bool = False, limit: str | None = "github"
    ) -> None:
        super().__init__(message, after=after, limit=limit)
        self.whole = whole
        """Every call of the installation would be refused until then, not only ones like this."""


class MovedError(RetryableError):
    """It is elsewhere: a write was not done; ask where the issue is now, then write there."""

    def __init__(self, message: str, *, to: str) -> None:
        super().__init__(message, after=1.0)
        self.to = to
        """The path that GitHub named."""


class OutcomeUnknownError(RetryableError):
    """A write was sent and no answer came: it may have happened, so look before repeating it."""


class RefusedError(BotError):
    """The other side said no, and will say it again: locked, archived, forbidden, not valid."""


class GoneError(RefusedError):
    """What was asked for is no longer there."""


class MissingPermissionError(RefusedError):
    """The installation was not granted a permission that the call needs."""

    def __init__(self, message: str, *, permissions: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.permissions = permissions
        """By the names that GitHub's API gives them; empty where GitHub names none."""


class UnreadableFileError(BotError):
    """A file is there and is not readable as text."""

    def __init__(self, reason: str, *, digest: str, line: int = 1, glimpse: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.digest = digest
        """Names this content of the file."""
        self.line = line
        """1-based, where reading failed."""
        self.glimpse = glimpse
        """What can be made out of it; empty where nothing can."""


class SuspendedError(RefusedError):
    """The installation is suspended or removed: everything of it is parked."""


class NotOursError(BotError):
    """Another attempt has this job by now: leave everything as it is."""


class StoppedError(BotError):
    """A person said stop, or took our comment away: write nothing more."""
