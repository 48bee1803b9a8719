"""The effects table as a dictionary."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from bot.ports import Effect

START = datetime(2026, 1, 1, 10, 2, tzinfo=UTC)


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time


class DictEffects:
    """Keeps what the port promises, for the length of a test."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.rows: dict[tuple[str, str, str], Effect] = {}

    async def get(self, issue_key: str, kind: str, subject: str = "") -> Effect | None:
        return self.rows.get((issue_key, kind, subject))

    async def want(self, issue_key: str, kind: str, subject: str, wanted_hash: str, payload: str) -> Effect:
        known = self.rows.get((issue_key, kind, subject), Effect(kind, subject, "", ""))
        effect = replace(known, wanted_hash=wanted_hash, payload=payload)
        self.rows[issue_key, kind, subject] = effect
        return effect

    async def intent(self, issue_key: str, kind: str, subject: str) -> None:
        key = (issue_key, kind, subject)
        self.rows[key] = replace(self.rows[key], intent_at=self._clock())

    async def done(self, issue_key: str, kind: str, subject: str, done_hash: str, github_id: int | None = None) -> None:
        key = (issue_key, kind, subject)
        known = self.rows[key]
        self.rows[key] = replace(
            known, done_hash=done_hash, intent_at=None, github_id=known.github_id if github_id is None else github_id
        )

    async def pending(self, issue_key: str) -> list[Effect]:
        return [e for (key, _, _), e in self.rows.items() if key == issue_key and e.done_hash != e.wanted_hash]
