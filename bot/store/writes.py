"""What was written to GitHub under each installation in the last hour, and until when it wants to hear nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.errors import RateLimitedError
from bot.limits import PER_MINUTE, WHOLE, Share, quiet_for
from bot.store.database import Connection, Database, Value

SEEN_FOR = 1.0
"""Seconds for which a process believes what it read of a quiet period; reads are many, writes look each time."""
_AHEAD = 10.0
"""Seconds by which machines' clocks may differ; a write further ahead was counted before a clock was set back."""
_LONGEST = 6 * 3_600.0
_PROMISED = 3_600.0
_APART = 60.0 / PER_MINUTE
"""Seconds between two who come back after a quiet period: as often as they may write."""

_QUIET = "SELECT until, in_a_row FROM quiet WHERE installation = ?"
_LIMITED = """
INSERT INTO quiet (installation, in_a_row) VALUES (:installation, 1)
ON CONFLICT (installation) DO UPDATE SET in_a_row = quiet.in_a_row + CASE WHEN quiet.until > :now THEN 0 ELSE 1 END
RETURNING in_a_row
"""
# Calls that were under way when a quiet period began say nothing new.
_UNTIL = "UPDATE quiet SET until = CASE WHEN until > ? THEN until ELSE ? END WHERE installation = ?"
_PARTS = """
SELECT count(*) FILTER (WHERE repository = ?), count(DISTINCT CASE WHEN repository <> ? THEN repository END), count(*)
FROM writes WHERE installation = ? AND at > ?
"""
_OTHERS = """
SELECT 1 FROM repositories WHERE host = ? AND installation_id = ? AND repository_key <> ? AND gone = 0 LIMIT 1
"""
_NOT_RESERVED = 0.75
"""The part of a window that repositories beyond their even part may fill."""
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


class StoredWrites:
    """The same for every process that works on the store."""

    def __init__(self, database: Database, clock: Callable[[], float] | None = None) -> None:
        self._database = database
        self._clock = clock or database.clock
        self._seen: dict[str, _Quiet] = {}
        self._refused: set[str] = set()
        """Installations of which a write was refused, and none has been answered since."""

    async def take(self, installation: str, share: Share = WHOLE, repository: str = "") -> None:
        """Count one write.

        Args:
            installation: its key.
            share: what writes of this kind may fill.
            repository: key of the repository that is written to. It leaves room for the installation's others.

        Raises:
            RateLimitedError: there is no room for writes of this kind; ``after`` says until when.
        """
        now = self._clock()
        taken = await self._database.do(lambda db: _take(db, installation, share, repository, now))
        if taken.in_a_row:
            self._refused.add(installation)
        if taken.wait > 0:
            raise RateLimitedError(taken.why, after=taken.wait, limit=taken.limit)

    async def check_quiet(self, installation: str) -> None:
        """Return if GitHub may be asked.

        Those who are refused are told times one after the other, so that they do not come back all at once.

        Raises:
            RateLimitedError: it wants to hear nothing from this installation now.
        """
        now = self._clock()
        known = self._seen.get(installation)
        if known is None or not 0 <= now - known.read_at < SEEN_FOR:
            known = await self._look(installation, now)
        if known.until > now:
            until = known.until
            wait = await self._database.do(lambda db: _promised(db, installation, until, now, _APART))
            raise RateLimitedError("waiting as GitHub asked", after=wait, limit="github.quiet")

    async def answered(self, installation: str, *, write: bool) -> None:
        """GitHub answered a call: the next limit is the first in a row."""
        known = self._seen.get(installation)
        keys = [installation] if known is not None and known.in_a_row else []
        keys += [_writing(installation)] if write and installation in self._refused else []
        if keys:
            statement = "UPDATE quiet SET in_a_row = 0 WHERE installation = ?"
            await self._database.do(lambda db: db.executemany(statement, [(key,) for key in keys]).rowcount)
            self._seen.pop(installation, None)
            self._refused.discard(installation)

    async def limited(self, installation: str, after: float | None, *, whole: bool, write: bool) -> None:
        """GitHub answered with a limit.

        Of a write: nobody writes for a while, and reading goes on. All calls are meant if it says so (``whole``), or if
        it is the second read in a row.
        """
        now = self._clock()
        key, allowed = (_writing(installation), 0) if write and not whole else (installation, 0 if whole else 1)
        await self._database.do(lambda db: _limited(db, key, after, now, allowed))
        self._seen.pop(installation, None)

    async def _look(self, installation: str, now: float) -> _Quiet:
        until, in_a_row = await self._database.read(lambda db: _known_quiet(db, installation, now))
        known = _Quiet(now, until, in_a_row)
        self._seen[installation] = known
        return known


@dataclass(frozen=True, slots=True)
class _Taken:
    """What became of a write that somebody wants to make."""

    wait: float = 0.0
    """Seconds; 0 where it was counted."""
    in_a_row: int = 0
    """Writes that GitHub refused before this one."""
    why: str = ""
    limit: str = ""


def _take(db: Connection, installation: str, share: Share, repository: str, now: float) -> _Taken:
    until, in_a_row = _known_quiet(db, _writing(installation), now)
    if until > now:
        wait = _promised(db, installation, until, now, _APART) if share.comes_back else until - now
        return _Taken(wait, in_a_row, "writing nothing for a while, as GitHub asked", "github.quiet")
    gone = "DELETE FROM writes WHERE installation = ? AND (at <= ? OR at > ?)"
    db.execute(gone, (installation, now - 3_600.0, now + _AHEAD))
    free, apart = max((_free_at(db, installation, now, *window), window[0] / window[1]) for window in share.windows)
    if free > now:
        wait = _promised(db, installation, free, now, apart) if share.comes_back else free - now
        return _Taken(wait, in_a_row, "our own share of writes to GitHub is used up", "github.writes")
    others = max((_free_of_others(db, installation, repository, now, window) for window in share.windows), default=now)
    if repository and others > now:
        # A time of its own as above, but not one of those that all the installation's repositories wait for.
        wait = _promised(db, f"{installation} {repository}", others, now, apart) if share.comes_back else others - now
        return _Taken(wait, in_a_row, "the repository's part of our writes to GitHub is used up", "github.writes")
    db.execute("INSERT INTO writes (installation, repository, at) VALUES (?, ?, ?)", (installation, repository, now))
    return _Taken(in_a_row=in_a_row)


def _writing(installation: str) -> str:
    """Under which name it stands for how long nobody writes."""
    return f"{installation} writes"


def _known_quiet(db: Connection, key: str, now: float) -> tuple[float, int]:
    """Until when to be quiet, and after how many limits in a row."""
    until, in_a_row = db.execute(_QUIET, (key,)).fetchone() or (0.0, 0)
    # A clock that was set back must not make an hour's wait a day's.
    return (until if until < now + _LONGEST else 0.0), in_a_row


def _free_at(db: Connection, installation: str, now: float, seconds: float, most: int) -> float:
    """When there is room in a window; now, or before, where there is."""
    nth = "SELECT at FROM writes WHERE installation = ? AND at > ? ORDER BY at DESC LIMIT 1 OFFSET ?"
    row = db.execute(nth, (installation, now - seconds, most - 1)).fetchone()
    return float(row[0]) + seconds if row else now


def _free_of_others(db: Connection, installation: str, repository: str, now: float, window: tuple[float, int]) -> float:
    """When a repository may write without using what the installation's other repositories may need.

    Up to an even part it may always write; beyond that only while a quarter of the window is free.
    """
    seconds, most = window
    own, active, total = db.execute(_PARTS, (repository, repository, installation, now - seconds)).fetchone()
    room = int(most * _NOT_RESERVED)
    # One more repository is counted: the one that has written nothing yet.
    if total < room or own < most // (active + 2) or not _has_others(db, installation, repository):
        return now
    return _free_at(db, installation, now, seconds, max(room, 1))


def _has_others(db: Connection, installation: str, repository: str) -> bool:
    host, _, number = installation.rpartition("/installation:")
    given = (host, int(number) if number.isdecimal() else 0, repository)
    return db.execute(_OTHERS, given).fetchone() is not None


def _promised(db: Connection, installation: str, free: float, now: float, apart: float) -> float:
    """Seconds to a time of one's own: everybody at the same time would be refused again, all but one."""
    given: dict[str, Value] = {
        "installation": installation,
        "first": free,
        "last": max(free, now) + _PROMISED,
        "apart": apart,
    }
    return float(db.execute(_PROMISE, given).fetchone()[0]) - now


def _limited(db: Connection, key: str, after: float | None, now: float, allowed: int) -> None:
    """Be quiet after more than so many limits in a row."""
    (in_a_row,) = db.execute(_LIMITED, {"installation": key, "now": now}).fetchone()
    if in_a_row > allowed:
        until = now + quiet_for(after, in_a_row - allowed)
        db.execute(_UNTIL, (until, until, key))
