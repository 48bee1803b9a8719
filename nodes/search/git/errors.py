"""Errors of a repository that cannot be searched, and the limits that left parts of one unread."""

import time
from threading import Lock

_TIMEOUT_LIFETIME = 600.0
"""Seconds after which a timeout no longer counts: the machine may have been busy."""
_MIN_SECONDS = 2.0
"""Minimum seconds for every command."""


class SearchError(Exception):
    """The repository or the revision cannot be searched as given."""


class NotARepository(SearchError):  # noqa: N818 - callers catch it by the condition's name
    """The path does not exist or contains no git repository."""


class EmptyRepository(SearchError):  # noqa: N818 - see NotARepository
    """The repository has no commits."""


class UnknownRevision(SearchError):  # noqa: N818 - see NotARepository
    """No commit has that name."""


class GitFailed(SearchError):  # noqa: N818 - see NotARepository
    """Git is missing, or failed to read the repository's objects."""


class CodeNotReadable(SearchError):  # noqa: N818 - see NotARepository
    """There is no code to search; the message is a clause that a report can quote."""


class Shortfalls:
    """The limits that were reached, by code. Safe to use from several threads."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._unreported: set[str] = set()
        self._timeouts: list[float] = []
        self._slow: dict[str, float] = {}
        self._lock = Lock()

    def note(self, code: str) -> bool:
        """Record that a limit was reached; return whether it is the first time."""
        with self._lock:
            if code in self._seen:
                return False
            self._seen.add(code)
            self._unreported.add(code)
            return True

    def unreported_limits(self) -> tuple[str, ...]:
        """Return the limits recorded since the last call; each limit is returned once."""
        with self._lock:
            reported, self._unreported = tuple(sorted(self._unreported)), set()
            return reported

    def record_timeout(self, commit: str = "") -> None:
        """Record that a command timed out, and the commit if it read all files of one."""
        with self._lock:
            self._timeouts.append(time.monotonic())
            self._slow[commit] = time.monotonic()

    def is_slow(self, commit: str) -> bool:
        """Return whether a command that read all files of a commit timed out recently."""
        with self._lock:
            return bool(commit) and time.monotonic() - self._slow.get(commit, -_TIMEOUT_LIFETIME) < _TIMEOUT_LIFETIME

    def timeout_for(self, seconds: float) -> float:
        """Return the seconds for the next command: each recent timeout divides them by four."""
        with self._lock:
            self._timeouts = [then for then in self._timeouts if time.monotonic() - then < _TIMEOUT_LIFETIME]
            # One history triggers many queries; without this, each would wait for the full limit in turn.
            return max(min(_MIN_SECONDS, seconds), seconds / float(4 ** len(self._timeouts)))
