"""What was left unread of a repository because it is too large."""

from __future__ import annotations

import time
from threading import Lock

_FORGIVEN = 600.0
"""Seconds after which a command that ran out of time counts no more: the machine may have been busy."""
_LEAST = 2.0
"""Seconds that every command gets."""


class Shortfalls:
    """Limits that reading met, by code. Safe to use from several threads."""

    def __init__(self) -> None:
        """Note nothing yet."""
        self._seen: set[str] = set()
        self._untold: set[str] = set()
        self._stuck: list[float] = []
        self._lock = Lock()

    def note(self, code: str) -> bool:
        """Note that a limit was met; returns whether it is the first time."""
        with self._lock:
            if code in self._seen:
                return False
            self._seen.add(code)
            self._untold.add(code)
            return True

    def untold(self) -> tuple[str, ...]:
        """Return what was noted since the last call: each limit is told once."""
        with self._lock:
            told, self._untold = tuple(sorted(self._untold)), set()
            return told

    def stuck(self) -> None:
        """Note that a command ran out of time."""
        with self._lock:
            self._stuck.append(time.monotonic())

    def patience(self, seconds: float) -> float:
        """Return how long the next command may take: a quarter for each one that was stuck lately."""
        with self._lock:
            self._stuck = [then for then in self._stuck if time.monotonic() - then < _FORGIVEN]
            return max(min(_LEAST, seconds), seconds / float(4 ** len(self._stuck)))
