"""Store people's judgements of reports; the latest of an issue counts."""

from dataclasses import dataclass

from bot.ports import Judgement
from bot.store.databases.database import Connection, upsert

_LAST = "SELECT max(run_no) FROM runs WHERE issue_key = ? AND result IS NOT NULL"
_NOTE = upsert("feedback", "issue_key, run_no, source, actor", "is_right, why, at")
CORRECTIONS = """
SELECT feedback.issue_key, sha, place, feedback.why, feedback.at FROM feedback
JOIN runs ON runs.issue_key = feedback.issue_key AND runs.run_no = feedback.run_no
WHERE source = 'command' AND is_right = 0 AND repository_key = ? AND sha <> ''
ORDER BY feedback.at DESC, feedback.issue_key LIMIT 5000
"""
FEEDBACK_COUNTS = """
SELECT count(*) FILTER (WHERE source = 'command' AND is_right = 1),
    count(*) FILTER (WHERE source = 'command' AND is_right = 0)
FROM feedback WHERE issue_key >= ? AND issue_key < ?
"""
LABELLED = """
SELECT count(*) FILTER (WHERE added = 1), count(*) FILTER (WHERE added = 0) FROM label_actors
WHERE issue_key >= ? AND issue_key < ? AND issue_key IN (SELECT issue_key FROM outcomes)
"""
JUDGED = """
SELECT runs.confidence, is_right FROM feedback
JOIN runs ON runs.issue_key = feedback.issue_key AND runs.run_no = feedback.run_no
WHERE repository_key = ? AND runs.claimed = 1 AND runs.confidence IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM outcomes WHERE outcomes.issue_key = feedback.issue_key AND outcomes.state = 'scored'
    ) AND NOT EXISTS (
        SELECT 1 FROM feedback AS later WHERE later.issue_key = feedback.issue_key
            AND (later.at, later.source, later.actor) > (feedback.at, feedback.source, feedback.actor)
    )
ORDER BY feedback.issue_key LIMIT 5000
"""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A judgement and its origin."""

    actor: str
    judgement: Judgement
    at: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A report that a person called wrong, and their words."""

    issue: int
    sha: str
    claimed: str
    """The file that the report claimed; empty if it claimed none."""
    why: str
    at: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class FeedbackCounts:
    """The numbers of judgements by people of a repository's reports, and of label changes on issues with a report."""

    right: int
    wrong: int
    labels_added: int
    labels_removed: int


def note_feedback(db: Connection, issue_key: str, feedback: Feedback) -> None:
    """Store a judgement of the issue's last report, within a transaction; without a report, nothing is stored."""
    (run,) = db.execute(_LAST, (issue_key,)).fetchone()
    if run is not None:
        judged = (int(feedback.judgement.right), feedback.judgement.why, feedback.at)
        db.execute(_NOTE, (issue_key, run, "command", feedback.actor, *judged))


def read_feedback(db: Connection, issue_key: str, run: int) -> tuple[Feedback, ...]:
    """Read the judgements of one run's report within a larger transaction, the earliest first."""
    statement = """
        SELECT actor, is_right, why, at FROM feedback WHERE issue_key = ? AND run_no = ?
        ORDER BY at, source, actor
    """
    rows = db.execute(statement, (issue_key, run)).fetchall()
    return tuple(Feedback(actor, Judgement(bool(right), why), at) for actor, right, why, at in rows)
