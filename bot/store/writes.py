"""Store the last hour's writes to GitHub per installation, and until when GitHub refuses requests."""

from dataclasses import dataclass

from bot.errors import RateLimitedError
from bot.limits.writes import PER_MINUTE, WHOLE, WriteBudget, Writes, pause_seconds
from bot.store.databases.database import Connection, Database, TableGroup, Value, transaction

SEEN_FOR = 1.0
"""Seconds for which a process caches a quiet period. Reads are frequent; every write checks the table."""
_AHEAD = 10.0
"""Seconds by which machines' clocks may differ; a write further ahead was counted before a clock was set back."""
# The longest wait that GitHub's headers may ask for (`bot.github.responses`).
_MAX_WAIT = 6 * 3_600.0
# As in `bot.store.runs.usage`: retry times are spread over at most this many seconds.
_PROMISED = 3_600.0
_APART = 60.0 / PER_MINUTE
"""Seconds between two callers that retry after a quiet period: the rate at which they may write."""

_QUIET = "SELECT until, in_a_row FROM quiet WHERE installation = ?"
_LIMITED = """
INSERT INTO quiet (installation, in_a_row) VALUES (:installation, 1)
ON CONFLICT (installation) DO UPDATE SET in_a_row = quiet.in_a_row + CASE WHEN quiet.until > :now THEN 0 ELSE 1 END
RETURNING in_a_row
"""
# Calls that were in flight when a quiet period began add no information, so they do not count as another limit.
_UNTIL = "UPDATE quiet SET until = CASE WHEN until > ? THEN until ELSE ? END WHERE installation = ?"
_PARTS = """
SELECT count(*) FILTER (WHERE repository = ?), count(DISTINCT CASE WHEN repository <> ? THEN repository END), count(*)
FROM writes WHERE installation = ? AND at > ?
"""
_OTHERS = """
SELECT 1 FROM repositories WHERE host = ? AND installation_id = ? AND repository_key <> ? AND gone = 0 LIMIT 1
"""
_NOT_RESERVED = 0.75
"""The part of a window that a repository may fill beyond its equal part."""
_PROMISE = """
INSERT INTO quiet (installation, promised) VALUES (:installation, :first)
ON CONFLICT (installation) DO UPDATE SET promised =
    CASE WHEN quiet.promised + :apart BETWEEN :first AND :last THEN quiet.promised + :apart ELSE :first END
RETURNING promised
"""


@dataclass(frozen=True, slots=True)
class _Quiet:
    read_at: float
    until: float = 0.0
    in_a_row: int = 0


class StoredWrites(TableGroup, Writes):
    """Counts writes and quiet periods for all processes that share the store."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._seen: dict[str, _Quiet] = {}
        self._refused: set[str] = set()
        """Installations with a refused write and no successful one since."""

    async def take(self, installation: str, budget: WriteBudget = WHOLE, repository: str = "") -> None:
        """Count a write (of a repository, so that others have room), or raise ``RateLimitedError`` with the wait."""
        refused = await self._take(installation, budget, repository)
        if refused is not None:
            raise refused

    @transaction
    def _take(self, db: Connection, installation: str, budget: WriteBudget, repository: str) -> RateLimitedError | None:
        """Count one write; or count nothing and return the error, since raising it here would undo its retry time."""
        now = self._clock()
        paused = self._paused(db, installation, budget, now)
        if paused is not None:
            return paused
        delete_expired = "DELETE FROM writes WHERE installation = ? AND (at <= ? OR at > ?)"
        db.execute(delete_expired, (installation, now - 3_600.0, now + _AHEAD))
        # The window that stays full longest determines the wait and the interval between retries.
        windows = ((_free_at(db, installation, now, *window), window[0] / window[1]) for window in budget.windows)
        free, apart = max(windows)
        key, whose = installation, "our own"
        if free <= now and repository:
            free = max(_free_with_reserve(db, installation, repository, now, window) for window in budget.windows)
            # The repository has its own sequence of retry times, apart from the one that all of the installation share.
            key, whose = f"{installation} {repository}", "the repository's part of our"
        if free > now:
            wait = _reserved_retry(db, key, free, now, apart) if budget.retries_on_time else free - now
            why = f"{whose} rate limit for writes to GitHub is reached"
            return RateLimitedError(why, after=wait, limit="github.writes")
        insert = "INSERT INTO writes (installation, repository, at) VALUES (?, ?, ?)"
        db.execute(insert, (installation, repository, now))
        return None

    def _paused(self, db: Connection, installation: str, budget: WriteBudget, now: float) -> RateLimitedError | None:
        """Return the error for a write while GitHub refuses writes."""
        until, in_a_row = _read_pause(db, _writing(installation), now)
        if in_a_row:
            self._refused.add(installation)
        if until <= now:
            return None
        # Only callers that return on time get a slot of their own; others would leave it unused.
        wait = _reserved_retry(db, installation, until, now, _APART) if budget.retries_on_time else until - now
        return RateLimitedError("writes are paused, as GitHub asked", after=wait, limit="github.quiet")

    async def check_writes_paused(self, installation: str, budget: WriteBudget = WHOLE) -> None:
        """Raise ``RateLimitedError`` while GitHub accepts no writes; it saves the reads that prepare one."""
        paused = await self._database.do(lambda db: self._paused(db, installation, budget, self._clock()))
        if paused is not None:
            raise paused

    async def check_paused(self, installation: str) -> None:
        """Raise ``RateLimitedError`` in a quiet period, with a time of its own for each caller to retry."""
        now = self._clock()
        cached = self._seen.get(installation)
        if cached is None or not 0 <= now - cached.read_at < SEEN_FOR:
            cached = _Quiet(now, *await self._database.read(lambda db: _read_pause(db, installation, now)))
            self._seen[installation] = cached
        if cached.until > now:
            until = cached.until
            wait = await self._database.do(lambda db: _reserved_retry(db, installation, until, now, _APART))
            raise RateLimitedError("requests are paused, as GitHub asked", after=wait, limit="github.quiet")

    async def answered(self, installation: str, *, write: bool) -> None:
        """Reset the count of consecutive limits, because GitHub answered a call."""
        cached = self._seen.get(installation)
        keys = [installation] if cached is not None and cached.in_a_row else []
        keys += [_writing(installation)] if write and installation in self._refused else []
        if keys:
            statement = "UPDATE quiet SET in_a_row = 0 WHERE installation = ?"
            await self._database.do(lambda db: db.executemany(statement, [(key,) for key in keys]).rowcount)
            self._seen.pop(installation, None)
            self._refused.discard(installation)

    async def limited(self, installation: str, after: float | None, *, whole: bool, write: bool) -> None:
        """Start a quiet period, because GitHub answered with a rate limit.

        A limited write stops only writes; reads continue. All calls stop if GitHub limits all of them (``whole``) or
        on the second limited read in a row.
        """
        key, allowed = (_writing(installation), 0) if write and not whole else (installation, 0 if whole else 1)
        await self._limit(key, after, allowed)
        self._seen.pop(installation, None)

    @transaction
    def _limit(self, db: Connection, key: str, after: float | None, allowed: int) -> None:
        """Start a quiet period after more than ``allowed`` consecutive limits."""
        now = self._clock()
        (in_a_row,) = db.execute(_LIMITED, {"installation": key, "now": now}).fetchone()
        if in_a_row > allowed:
            until = now + pause_seconds(after, in_a_row - allowed)
            db.execute(_UNTIL, (until, until, key))


def _writing(installation: str) -> str:
    """Return the key of the quiet period for writes."""
    return f"{installation} writes"


def _read_pause(db: Connection, key: str, now: float) -> tuple[float, int]:
    """Return the end of the quiet period, and the number of consecutive limits."""
    until, in_a_row = db.execute(_QUIET, (key,)).fetchone() or (0.0, 0)
    # Ignore times too far ahead: a clock that was set back must not extend an hour's wait to a day.
    return (until if until < now + _MAX_WAIT else 0.0), in_a_row


def _free_at(db: Connection, installation: str, now: float, seconds: float, limit: int) -> float:
    """Return when a window has room; ``now`` or earlier if it has room already."""
    nth = "SELECT at FROM writes WHERE installation = ? AND at > ? ORDER BY at DESC LIMIT 1 OFFSET ?"
    row = db.execute(nth, (installation, now - seconds, limit - 1)).fetchone()
    return float(row[0]) + seconds if row else now


def _free_with_reserve(
    db: Connection, installation: str, repository: str, now: float, window: tuple[float, int]
) -> float:
    """Return when a repository may write without using room that the installation's other repositories may need.

    It may always write up to an equal part, and beyond that only while a quarter of the window is free.
    """
    seconds, limit = window
    own, active, total = db.execute(_PARTS, (repository, repository, installation, now - seconds)).fetchone()
    room = int(limit * _NOT_RESERVED)
    # The equal part includes one more repository, which has written nothing yet.
    if total < room or own < limit // (active + 2):
        return now
    host, _, number = installation.rpartition("/installation:")
    others = db.execute(_OTHERS, (host, int(number) if number.isdecimal() else 0, repository)).fetchone()
    if others is None:
        return now
    return _free_at(db, installation, now, seconds, max(room, 1))


def _reserved_retry(db: Connection, installation: str, free: float, now: float, apart: float) -> float:
    """Return the seconds to the caller's own retry time: if all retried at once, all but one would be refused."""
    parameters: dict[str, Value] = {"installation": installation, "first": free, "apart": apart}
    parameters["last"] = max(free, now) + _PROMISED
    return float(db.execute(_PROMISE, parameters).fetchone()[0]) - now
