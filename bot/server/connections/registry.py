"""Limit the server's connections: their number, the duration of each phase, and which is closed at the limit."""

import asyncio
import ipaddress
import logging
import resource
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Literal, Protocol

MAX_CONNECTIONS = 512
"""Connections, whatever the descriptors allow: each may use about 100 kB."""
RESERVED = 96
"""Descriptors for the store, the log, the worker's pipes and calls of GitHub."""
FEWEST = 64
_REQUESTED = 4_096
logger = logging.getLogger(__name__)
PERIOD = 60.0
"""Seconds between two log lines."""
_ADDRESSES = 1_000
"""Addresses counted between two log lines."""
Phase = Literal["head", "body", "answer", "idle", "closing"]
"""The state of a connection: waiting for a request's head or body, our answer, the next request, or its end."""
PHASE_SECONDS: Mapping[Phase, float] = {"head": 10.0, "body": 30.0, "idle": 10.0, "closing": 10.0}
"""Seconds that a phase may last; our own answer ends by itself, or is a stream."""
STALLED_SECONDS = 30.0
"""Seconds for which a caller may leave an answer unread."""
_SWEEP = 1.0
_BATCH = 16
"""At the limit one in this many connections is closed at a time, since choosing them reads the whole registry."""


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
        # Bounded, because a caller may use any number of addresses.
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
        # At most one line a period, or a flood of requests would fill the disk with its own refusals.
        self._logged_at = self._clock()
        reasons = ", ".join(f"{reason}: {count}" for reason, count in self._reasons.most_common())
        most = "".join(f"; most from {address} ({count})" for address, count in self._addresses.most_common(1))
        logger.warning("refused: %s%s", reasons, most, extra={"action": "refused"})
        self._reasons.clear()
        self._addresses.clear()


class OpenConnection(Protocol):
    """One connection, as the registry sees it."""

    phase: Phase
    since: float
    """When the phase began, by the loop's clock."""
    stalled_since: float | None
    """The time since which the caller has not read our answer."""
    address: str
    protected: bool
    """Never closed to make room: a delivery that arrived completely."""

    def end(self, reason: str) -> None:
        """Close it; ``reason`` is counted unless it is empty."""

    def is_closing(self) -> bool:
        """Return whether it is closed as soon as the caller has read everything."""


class Connections:
    """The open connections, within a limit.

    At the limit the address with the most connections loses those that wait longest. A caller with hundreds of
    half-open requests thus loses its own connections. Behind a proxy, where all share one address, the oldest are
    closed: a delivery takes milliseconds and is never among them.
    """

    def __init__(self, most: int, patience: Mapping[Phase, float] = PHASE_SECONDS) -> None:
        self.most = most
        self._patience = patience
        self.refusals = Refusals()
        self._open: set[OpenConnection] = set()
        self._sweeping: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: OpenConnection) -> None:
        """Register a new connection; it is closed at once if no other one can be closed for it."""
        if len(self._open) >= self.most and not self._make_room():
            connection.end("too many connections")
            return
        self._open.add(connection)
        if self._sweeping is None:
            self._sweep_later()

    def remove(self, connection: OpenConnection) -> None:
        """Remove a connection that ended."""
        self._open.discard(connection)

    def _make_room(self) -> bool:
        movable = [connection for connection in self._open if not connection.protected]
        if not movable:
            return False
        (busiest, _count), *_ = Counter(connection.address for connection in movable).most_common(1)
        candidates = [connection for connection in movable if connection.address == busiest]
        # Connections that the server waits for come first, then the oldest.
        candidates.sort(key=lambda connection: (connection.phase == "answer", connection.since))
        for connection in candidates[: max(1, self.most // _BATCH)]:
            self._open.discard(connection)
            connection.end("connection that waited longest, closed at the limit of connections")
        return True

    def _sweep_later(self) -> None:
        self._sweeping = asyncio.get_running_loop().call_later(_SWEEP, self._sweep)

    def _sweep(self) -> None:
        """End connections that are late; runs every second while there are any."""
        now = asyncio.get_running_loop().time()
        for connection in list(self._open):
            if connection.is_closing() and connection.phase != "closing":
                connection.phase, connection.since = "closing", now
            elif now - connection.since > self._patience.get(connection.phase, float("inf")):
                connection.end("" if connection.phase == "idle" else f"{connection.phase} that took too long")
            elif connection.stalled_since is not None and now - connection.stalled_since > STALLED_SECONDS:
                connection.end("response that was not read")
        self._sweeping = None
        if self._open:
            self._sweep_later()


def connection_limit() -> int:
    """Raise the soft limit of descriptors as far as needed and allowed; return how many connections fit."""
    # Many systems start a service with a soft limit of 1,024, which a process may raise up to its hard limit.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    requested = _REQUESTED if hard == resource.RLIM_INFINITY else min(hard, _REQUESTED)
    if soft != resource.RLIM_INFINITY and soft < requested:
        resource.setrlimit(resource.RLIMIT_NOFILE, (requested, hard))
        soft = requested
    return fitting(_REQUESTED if soft == resource.RLIM_INFINITY else soft)


def fitting(descriptors: int) -> int:
    """Return how many connections fit; a quarter stays free for those that are accepted before others are closed."""
    most = max(FEWEST, min(MAX_CONNECTIONS, (descriptors - RESERVED) * 3 // 4))
    if most < MAX_CONNECTIONS:
        logger.warning(
            "%s file descriptors allow %s connections: raise the limit (ulimit -n) to %s for all %s",
            *(descriptors, most, MAX_CONNECTIONS * 4 // 3 + RESERVED + 1, MAX_CONNECTIONS),
            extra={"action": "few_descriptors"},
        )
    return most


def address_group(host: str) -> str:
    """Return an IPv4 address, or the /64 network of an IPv6 one, because one caller has at least 2⁶⁴ addresses."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        # A socket that accepts both families shows an IPv4 caller as ::ffff:a.b.c.d.
        mapped = address.ipv4_mapped
        return str(mapped or ipaddress.ip_network((address, 64), strict=False).network_address)
    return host
