"""Store usage per scope and period, the rate of model calls, and which limits a repository reached."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

from bot.limits.ceilings import Amount, ReachedCeiling, Scope, day_of
from bot.store.databases.database import Connection, Database, Keyed, TableGroup, Value, query, transaction, upsert

_COLUMNS = "calls, tokens, cost_micros, issues, questions, answers"
_SPENT = f"SELECT {_COLUMNS} FROM usage WHERE scope = ? AND day = ?"
_SUMS = ", ".join(f"{name} = usage.{name} + excluded.{name}" for name in _COLUMNS.split(", "))
_ADD = f"""
INSERT INTO usage (scope, day, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope, day) DO UPDATE SET {_SUMS}
"""
_POSTPONE = """
INSERT INTO usage (scope, day, postponed) VALUES (?, ?, 1)
ON CONFLICT (scope, day) DO UPDATE SET postponed = usage.postponed + 1 RETURNING postponed
"""
SHORTEST_TO_REFUSE = 20.0
"""Seconds. A caller with a shorter wait sleeps and retains its place in the queue; a longer wait is refused."""
_MAX_WAIT = 6 * 3_600.0
# Seconds between a free slot and the latest retry time that is still continued; the sequence then starts again.
_PROMISED = 3_600.0
_READ = "SELECT next_at, closed_until, promised FROM paces WHERE name = ?"
_WRITE = upsert("paces", "name", "next_at, promised")
# A longer closure stays, unless it is so far ahead that it was written with a wrong clock.
_CLOSE = """
INSERT INTO paces (name, closed_until) VALUES (:name, :until)
ON CONFLICT (name) DO UPDATE SET closed_until =
    CASE WHEN paces.closed_until BETWEEN :until AND :longest THEN paces.closed_until ELSE :until END
"""
_NOTE = """
INSERT INTO limited (repository_key, day, what, times) VALUES (?, ?, ?, 1)
ON CONFLICT (repository_key, day, what) DO UPDATE SET times = limited.times + 1
"""
# The first issue that reports limits today reports all that are known then, and keeps them when its report is
# rewritten.
_TELL = """
UPDATE limited SET told = :issue WHERE repository_key = :key AND day = :day AND NOT EXISTS (
    SELECT 1 FROM limited AS other
    WHERE other.repository_key = :key AND other.day = :day AND other.told <> :issue
)
"""
# A missing permission is reported once: it is still missing on the next day.
_REPORTED = """
SELECT what FROM limited WHERE repository_key = :key AND day = :day AND told = :issue AND NOT EXISTS (
    SELECT 1 FROM limited AS before
    WHERE before.repository_key = :key AND before.day < :day AND before.what = limited.what
      AND before.told <> :issue AND before.what LIKE 'permission.%'
) ORDER BY what
"""


class UsageCounters(TableGroup):
    """The usage counters of all scopes."""

    @transaction
    def reserve(self, db: Connection, scopes: Sequence[Scope], amount: Amount) -> ReachedCeiling | None:
        """Add an amount to every scope; or add nothing and return the ceiling that it would exceed."""
        return reserve(db, scopes, amount)

    @transaction
    def refund(self, db: Connection, scopes: Sequence[Scope], amount: Amount) -> None:
        """Subtract a reserved amount that was not used; a negative amount adds what was used beyond the reservation."""
        _add(db, scopes, Amount() - amount)

    @transaction
    def postpone(self, db: Connection, scope: Scope) -> int:
        """Count that a run was postponed because of its model; returns the new count."""
        return int(db.execute(_POSTPONE, (scope.key, scope.period)).fetchone()[0])


def reserve(db: Connection, scopes: Sequence[Scope], amount: Amount) -> ReachedCeiling | None:
    """Add an amount to every scope or to none, within a transaction; returns the ceiling that it would exceed."""
    # All scopes are checked before any is charged: a refused reservation leaves no trace.
    for scope in scopes:
        spent = read_spent(db, scope) if scope.ceiling else Amount()
        for field in fields(Amount):
            limit, requested = scope.ceiling.get(field.name), getattr(amount, field.name)
            # Only what is requested counts: a scope without tokens left may still answer a command.
            if limit is not None and requested and getattr(spent, field.name) + requested > limit:
                return ReachedCeiling(scope.kind, field.name, limit)
    _add(db, scopes, amount)
    return None


def read_spent(db: Connection, scope: Scope) -> Amount:
    """Return the usage of a scope."""
    row = db.execute(_SPENT, (scope.key, scope.period)).fetchone()
    return Amount(*map(int, row)) if row else Amount()


def _add(db: Connection, scopes: Sequence[Scope], amount: Amount) -> None:
    db.executemany(_ADD, [(scope.key, scope.period, *astuple(amount)) for scope in scopes])


@dataclass(frozen=True, slots=True)
class Slot:
    """When a call may be made, or when to ask again."""

    wait: float
    """Seconds."""
    granted: bool
    """The call is counted and may be made after the wait."""


class StoredPace(TableGroup):
    """Allows a burst of one minute's calls, then a steady rate (GCRA: one row, the time when the queue is empty)."""

    def __init__(self, database: Database, name: str, calls_per_minute: float) -> None:
        super().__init__(database)
        self._name = name
        self._apart = 60.0 / calls_per_minute
        self._burst = max(calls_per_minute, 1.0)

    @transaction
    def take(self, db: Connection) -> Slot:
        """Reserve a place in the queue if the wait is short; a refused caller receives its own time to ask again."""
        now = self._clock()
        row = db.execute(_READ, (self._name,)).fetchone() or (0.0, 0.0, 0.0)
        # Ignore times too far ahead: a clock that was set back must not close the queue for a day.
        next_at, closed, promised = (at if at < now + _MAX_WAIT else 0.0 for at in row)
        # ``next_at`` may be ahead of the clock by the calls of one burst.
        free = max(now, closed, next_at - (self._burst - 1) * self._apart)
        if free - now <= SHORTEST_TO_REFUSE:
            db.execute(_WRITE, (self._name, max(next_at, now) + self._apart, promised))
            return Slot(free - now, granted=True)
        # Refused callers get retry times one interval apart: at a common time, all but one would be refused again.
        retry_at = promised + self._apart if free <= promised + self._apart <= free + _PROMISED else free
        db.execute(_WRITE, (self._name, next_at, retry_at))
        return Slot(retry_at - now, granted=False)

    async def close(self, seconds: float) -> None:
        """Refuse all calls for this many seconds, because the model server asked for it."""
        now = self._database.clock()
        parameters: dict[str, Value] = {"name": self._name, "until": now + seconds, "longest": now + _MAX_WAIT}
        await self._change(_CLOSE, parameters)


class RepositoryLimited(Keyed):
    """The limits of one repository."""

    async def note(self, what: str) -> None:
        """Count that a limit was reached, by its code, such as ``repository.tokens``."""
        await self._change(_NOTE, (self._key, self._today(), what))

    @query
    def today(self, db: Connection) -> dict[str, int]:
        """Return the limits that were reached today, and how often."""
        return read_limited(db, self._key, self._today())

    async def unreported(self, issue_key: str) -> tuple[str, ...]:
        """Return the limits that this issue's report shows; empty if another issue's report has shown them today."""
        parameters = {"issue": issue_key, "key": self._key, "day": self._today()}
        await self._change(_TELL, parameters)
        return tuple(what for (what,) in await self._rows(_REPORTED, parameters))

    def _today(self) -> str:
        return day_of(self._clock())


def read_limited(db: Connection, repository_key: str, day: str) -> dict[str, int]:
    """Return the limits that were reached on a day, and how often, within a larger transaction."""
    statement = "SELECT what, times FROM limited WHERE repository_key = ? AND day = ? ORDER BY what"
    return dict(db.execute(statement, (repository_key, day)).fetchall())
