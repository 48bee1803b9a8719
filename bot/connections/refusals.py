"""Counts what the server refuses and logs the counts at most once a minute, so that a flood cannot fill the log."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable

PERIOD = 60.0
"""Seconds between two log lines."""
_ADDRESSES = 1_000
"""Addresses counted between two log lines."""

logger = logging.getLogger(__name__)


class Refusals:
    """The first refusal after a quiet minute is logged at once; later ones are added up."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, period: float = PERIOD) -> None:
        self._clock = clock
        self._period = period
        self._reasons: Counter[str] = Counter()
        self._addresses: Counter[str] = Counter()
        self._logged_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def count(self, reason: str, address: str = "") -> None:
        """Count one refusal; ``reason`` is one of a fixed set."""
        self._reasons[reason] += 1
        if address and (address in self._addresses or len(self._addresses) < _ADDRESSES):
            self._addresses[address] += 1
        wait = 0.0 if self._logged_at is None else self._logged_at + self._period - self._clock()
        if wait <= 0:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(wait, self.flush)

    def flush(self) -> None:
        """Log what was counted since the last line."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._reasons:
            return
        self._logged_at = self._clock()
        reasons = ", ".join(f"{reason}: {count}" for reason, count in self._reasons.most_common())
        logger.warning("refused: %s%s", reasons, self._most(), extra={"action": "refused"})
        self._reasons.clear()
        self._addresses.clear()

    def _most(self) -> str:
        if not self._addresses:
            return ""
        address, count = self._addresses.most_common(1)[0]
        return f"; most from {address} ({count})"
