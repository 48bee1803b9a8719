"""Store usage per scope and period. It is reserved in advance, so that concurrent callers cannot exceed a ceiling."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields

from bot.ceilings import Amount, Reached, Scope
from bot.store.database import Connection, Database

_COLUMNS = "calls, tokens, cost_micros, issues, questions, answers"
_SPENT = f"SELECT {_COLUMNS} FROM usage WHERE scope = ? AND day = ?"  # noqa: S608  names of columns
_ADD = """
INSERT INTO usage (scope, day, calls, tokens, cost_micros, issues, questions, answers)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope, day) DO UPDATE SET calls = usage.calls + excluded.calls, tokens = usage.tokens + excluded.tokens,
    cost_micros = usage.cost_micros + excluded.cost_micros, issues = usage.issues + excluded.issues,
    questions = usage.questions + excluded.questions, answers = usage.answers + excluded.answers
"""
_POSTPONE = """
INSERT INTO usage (scope, day, postponed) VALUES (?, ?, 1)
ON CONFLICT (scope, day) DO UPDATE SET postponed = usage.postponed + 1 RETURNING postponed
"""


class Usage:
    """The usage counters of all scopes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def reserve(self, scopes: Sequence[Scope], amount: Amount) -> Reached | None:
        """Add an amount to every scope; or add nothing and return the ceiling that it would exceed."""
        return await self._database.do(lambda db: reserve(db, scopes, amount))

    async def refund(self, scopes: Iterable[Scope], amount: Amount) -> None:
        """Subtract a reserved amount that was not used; a negative amount adds what was used beyond the reservation."""
        await self._database.do(lambda db: _add(db, scopes, Amount() - amount))

    async def spent(self, scope: Scope) -> Amount:
        """Return the usage of a scope."""
        return await self._database.read(lambda db: _spent(db, scope))

    async def postpone(self, scope: Scope) -> int:
        """Count that a run was postponed because of its model; returns the new count."""
        given = (scope.key, scope.period)
        return int(await self._database.do(lambda db: db.execute(_POSTPONE, given).fetchone()[0]))


def reserve(db: Connection, scopes: Sequence[Scope], amount: Amount) -> Reached | None:
    """Add an amount to every scope or to none, within a transaction; returns the ceiling that it would exceed."""
    for scope in scopes:
        spent = _spent(db, scope) if scope.ceiling else Amount()
        for field in fields(Amount):
            most, more = getattr(scope.ceiling, field.name), getattr(amount, field.name)
            if most is not None and more and getattr(spent, field.name) + more > most:
                return Reached(scope.kind, field.name, most)
    _add(db, scopes, amount)
    return None


def _spent(db: Connection, scope: Scope) -> Amount:
    row = db.execute(_SPENT, (scope.key, scope.period)).fetchone()
    return Amount(*map(int, row)) if row else Amount()


def _add(db: Connection, scopes: Iterable[Scope], amount: Amount) -> None:
    db.executemany(_ADD, [(scope.key, scope.period, *astuple(amount)) for scope in scopes])
