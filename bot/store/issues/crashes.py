"""Store which issues report which crash, and whether its alert was sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.store.databases.database import Connection, Keyed, query

WITHIN = 86_400.0
"""Seconds within which reports of one crash count together."""
REPORTERS = 3
"""Different reporters whose reports of one crash lead to an alert."""
_NOTE = """
INSERT INTO crashes (repository_key, fingerprint, issue_key, reporter, at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
"""
_RECENT = """
SELECT issue_key, reporter FROM crashes
WHERE repository_key = ? AND fingerprint = ? AND at > ? ORDER BY at, issue_key LIMIT 200
"""


@dataclass(frozen=True, slots=True)
class Crash:
    """The crashes that one issue reports."""

    fingerprints: tuple[str, ...]
    reporter: int
    """Id of the issue's author."""
    at: float
    """When the issue was opened, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Storm:
    """Several reports of one crash within ``WITHIN``."""

    fingerprint: str
    issues: tuple[int, ...]
    """Numbers of the issues, the earliest first."""
    reporters: int


class Crashes(Keyed):
    """The crashes of one repository."""

    @query
    def recent(self, db: Connection, fingerprint: str, until: float) -> Storm:
        """Return the reports of a crash in the ``WITHIN`` seconds before a time."""
        return _recent(db, self._key, fingerprint, until)


def note_crash(db: Connection, issue_key: str, crash: Crash, now: float) -> list[Storm]:
    """Store the crashes of an issue, within a transaction; return those that need an alert now, once per crash.

    An issue that was opened long ago, as in a backfill, leads to no alert.
    """
    repository = issue_key.rpartition("#")[0]
    # Stored before they are counted, so that this issue's own report counts.
    for fingerprint in crash.fingerprints:
        db.execute(_NOTE, (repository, fingerprint, issue_key, crash.reporter, crash.at))
    # By the time at which issues were opened: a backfill of years of issues must not look like an outage.
    storms = [_recent(db, repository, fingerprint, now) for fingerprint in dict.fromkeys(crash.fingerprints)]
    return [storm for storm in storms if storm.reporters >= REPORTERS and _is_first(db, repository, storm, now)]


def _is_first(db: Connection, repository: str, storm: Storm, now: float) -> bool:
    """Claim the alert of a crash; of concurrent transactions exactly one succeeds."""
    statement = "INSERT INTO crash_alerts (repository_key, fingerprint, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
    return bool(db.execute(statement, (repository, storm.fingerprint, now)).rowcount)


def _recent(db: Connection, repository: str, fingerprint: str, until: float) -> Storm:
    rows: Sequence[tuple[str, int]] = db.execute(_RECENT, (repository, fingerprint, until - WITHIN)).fetchall()
    issues = tuple(int(key.rpartition("#")[2]) for key, _ in rows)
    return Storm(fingerprint, issues, len({reporter for _, reporter in rows}))
