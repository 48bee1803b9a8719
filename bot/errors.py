"""Exceptions, grouped by who can fix the problem."""


class BotError(Exception):
    """Base class of our exceptions."""


def unanswered(host: str, cause: Exception) -> str:
    """Say in words that a host gave no answer, and how; the class of the exception says that to programmers only."""
    name = type(cause).__name__
    if "Timeout" in name:
        return f"{host} does not answer in time"
    return f"{host} {'broke off its answer' if name.startswith(('Read', 'Write', 'Remote')) else 'cannot be reached'}"


class UserError(BotError):
    """The user can fix it; the message is shown to them verbatim, on one line."""


class UnreachableError(UserError):
    """A required service does not respond: its address is wrong, or it is temporarily down."""


class RetryableError(BotError):
    """The operation may succeed later; the worker retries it a limited number of times."""

    def __init__(self, message: str, *, after: float | None = None, limit: str | None = None) -> None:
        super().__init__(message)
        self.after = after
        """Seconds that the service asked us to wait; None if it gave no time."""
        self.limit = limit
        """The code under which the reached limit is counted; None if the cause is not a limit."""


class RateLimitedError(RetryableError):
    """A rate limit is reached, GitHub's or our own. Without ``after``, wait 60 seconds, doubled each time."""

    def __init__(
        self, message: str, *, after: float | None = None, whole: bool = False, limit: str | None = "github"
    ) -> None:
        super().__init__(message, after=after, limit=limit)
        self.whole = whole
        """Whether GitHub would refuse every call of the installation until then, not only calls of this kind."""


class AppRefusedError(RetryableError):
    """GitHub does not accept the App's signature: its key, its id or this machine's clock is wrong."""


class MovedError(RetryableError):
    """The target has moved, and the write was not done. Look up where the issue is now, then write there."""

    def __init__(self, message: str, *, to: str) -> None:
        super().__init__(message, after=1.0)
        self.to = to
        """The new path, from GitHub's redirect."""


class OutcomeUnknownError(RetryableError):
    """A write was sent and no response came. It may have succeeded, so check before repeating it."""


class RefusedError(BotError):
    """The service refuses permanently: the target is locked, archived, forbidden or invalid."""


class GoneError(RefusedError):
    """The requested object no longer exists."""


class MissingPermissionError(RefusedError):
    """The installation was not granted a permission that the call needs."""

    def __init__(self, message: str, *, permissions: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.permissions = permissions
        """The permissions, as GitHub's API names them; empty if GitHub names none."""


class UnreadableFileError(BotError):
    """A file exists but is not readable as text."""

    def __init__(self, reason: str, *, digest: str, line: int = 1, glimpse: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.digest = digest
        """Identifies this content of the file."""
        self.line = line
        """The 1-based line where reading failed."""
        self.glimpse = glimpse
        """The part of the text that could be decoded; empty if none."""


class SuspendedError(RefusedError):
    """The installation is suspended or removed; all its jobs are parked."""


class JobTakenOverError(BotError):
    """Another attempt has claimed this job; change nothing."""


class StoppedError(BotError):
    """A person gave the stop command or deleted our comment; write nothing more."""
