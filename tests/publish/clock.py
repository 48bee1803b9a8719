"""A clock that tests set."""

from __future__ import annotations

from datetime import UTC, datetime

START = datetime(2026, 1, 1, 10, 2, tzinfo=UTC)


class Clock:
    """A clock that stops until a test sets it."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time

    def seconds(self) -> float:
        return self.time.timestamp()
