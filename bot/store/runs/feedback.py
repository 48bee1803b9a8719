"""Store people's judgements of reports: the latest one of each person and source counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.ports import Judgement
from bot.store.databases.database import Connection

FeedbackSource = Literal["command", "reaction", "label"]
_LAST = "SELECT max(run_no) FROM runs WHERE issue_key = ? AND result IS NOT NULL"
_NOTE = """
INSERT INTO feedback (issue_key, run_no, source, actor, is_right, why, at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (issue_key, run_no, source, actor)
DO UPDATE SET is_right = excluded.is_right, why = excluded.why, at = excluded.at
"""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A judgement and its origin."""

    source: FeedbackSource
    actor: str
    """The person's login."""
    judgement: Judgement
    at: float
    """Seconds since 1970."""


def note_feedback(db: Connection, issue_key: str, feedback: Feedback) -> None:
    """Store a judgement of the issue's last report, within a transaction; without a report, nothing is stored."""
    (run,) = db.execute(_LAST, (issue_key,)).fetchone()
    if run is not None:
        judged = (int(feedback.judgement.right), feedback.judgement.why, feedback.at)
        db.execute(_NOTE, (issue_key, run, feedback.source, feedback.actor, *judged))


def read_feedback(db: Connection, issue_key: str, run: int) -> tuple[Feedback, ...]:
    """Read the judgements of one run's report within a larger transaction, the earliest first."""
    statement = """
        SELECT source, actor, is_right, why, at FROM feedback
        WHERE issue_key = ? AND run_no = ? ORDER BY at, source, actor
    """
    rows = db.execute(statement, (issue_key, run)).fetchall()
    return tuple(Feedback(source, actor, Judgement(bool(right), why), at) for source, actor, right, why, at in rows)
