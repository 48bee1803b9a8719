"""How much is written to GitHub under one installation, and when to be quiet."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from bot.errors import RateLimitedError

PER_MINUTE, PER_HOUR = 75, 480
"""Below GitHub's 80 and 500 for requests that create content."""
_UNNAMED_WAIT = 60.0
"""Seconds that GitHub's documentation asks for where an answer names none."""


class Share(NamedTuple):
    """The parts of a minute's and of an hour's writes that one kind of write may fill, 0..1."""

    minute: float = 1.0
    hour: float = 1.0


class WriteBucket:
    """One installation's share; who may only take a part of it leaves the rest to those who matter more."""

    def __init__(
        self, *, minute: int = PER_MINUTE, hour: int = PER_HOUR, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._minute, self._hour, self._clock = minute, hour, clock
        self._writes: deque[float] = deque()
        self._limited_in_a_row = 0
        self._quiet_until = 0.0

    def take(self, share: Share = Share()) -> None:  # noqa: B008  it cannot be changed
        """Count one write.

        Args:
            share: how far writes of this kind may fill the bucket.

        Raises:
            RateLimitedError: it is full for writes of this kind; ``after`` says until when.
        """
        now = self._clock()
        while self._writes and self._writes[0] <= now - 3600:
            self._writes.popleft()
        for seconds, most, part in ((60, self._minute, share.minute), (3600, self._hour, share.hour)):
            allowed = max(int(most * part), 1)
            recent = [when for when in self._writes if when > now - seconds]
            if len(recent) >= allowed:
                raise RateLimitedError("our own share of writes is used up", after=recent[-allowed] + seconds - now)
        self._writes.append(now)

    def check_quiet(self) -> None:
        """Raise RateLimitedError while GitHub wants to hear nothing from this installation."""
        left = self._quiet_until - self._clock()
        if left > 0:
            raise RateLimitedError("waiting as GitHub asked", after=left)

    def answered(self) -> None:
        """GitHub answered a call."""
        self._limited_in_a_row = 0

    def limited(self, after: float | None) -> None:
        """GitHub answered with a limit; the second time in a row means that all calls are meant, not only that one."""
        self._limited_in_a_row += 1
        if self._limited_in_a_row > 1:
            self._quiet_until = max(self._quiet_until, self._clock() + (after or _UNNAMED_WAIT))
