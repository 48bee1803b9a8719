"""Store judgements of reports: those of people, of whom the latest counts, and those by label changes.

A label change counts half, and only where no person judged the report.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot.ports import Judgement
from bot.store.databases.database import Connection, Keyed, query, transaction

FeedbackSource = Literal["command", "reaction", "label"]
_LAST = "SELECT max(run_no) FROM runs WHERE issue_key = ? AND result IS NOT NULL"
_NOTE = """
INSERT INTO feedback (issue_key, run_no, source, actor, is_right, why, at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (issue_key, run_no, source, actor)
DO UPDATE SET is_right = excluded.is_right, why = excluded.why, at = excluded.at
"""
# A label corrects a report only where no command judged the issue, and no other label says that the report is right.
_CORRECTIONS = """
SELECT judged.issue_key, sha, place, judged.why, judged.at FROM (
    SELECT issue_key, run_no, why, at FROM feedback WHERE source = 'command' AND is_right = 0
    UNION ALL
    SELECT issue_key, run_no, why, at FROM label_judgements WHERE is_right = 0 AND why <> '' AND NOT EXISTS (
        SELECT 1 FROM feedback
        WHERE feedback.issue_key = label_judgements.issue_key AND feedback.source = 'command'
    ) AND NOT EXISTS (
        SELECT 1 FROM label_judgements AS other
        WHERE other.issue_key = label_judgements.issue_key AND other.run_no = label_judgements.run_no
            AND other.is_right = 1
    )
) AS judged
JOIN runs ON runs.issue_key = judged.issue_key AND runs.run_no = judged.run_no
WHERE repository_key = ? AND sha <> ''
ORDER BY judged.at DESC, judged.issue_key LIMIT 5000
"""
_FEEDBACK_COUNTS = """
SELECT count(*) FILTER (WHERE source = 'command' AND is_right = 1),
    count(*) FILTER (WHERE source = 'command' AND is_right = 0),
    count(*) FILTER (WHERE source = 'reaction' AND is_right = 1),
    count(*) FILTER (WHERE source = 'reaction' AND is_right = 0)
FROM feedback WHERE issue_key >= ? AND issue_key < ?
"""
_LABELLED = """
SELECT count(*) FILTER (WHERE added = 1), count(*) FILTER (WHERE added = 0) FROM label_actors
WHERE issue_key >= ? AND issue_key < ? AND issue_key IN (SELECT issue_key FROM outcomes)
"""
_JUDGED = """
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
MAX_LABELS = 50
"""Labels of one issue that are compared with its report."""
_CHANGES = """
SELECT label, added, actor, label_actors.at FROM label_actors
JOIN runs ON runs.issue_key = label_actors.issue_key AND runs.run_no = ?
WHERE label_actors.issue_key = ? AND by_bot = 0 AND actor <> '' AND label_actors.at >= runs.changed_at
ORDER BY label_actors.at DESC, label LIMIT ?
"""
_OURS = "SELECT payload FROM effects WHERE issue_key = ? AND kind = 'labels' AND subject = ''"
_KEEP = """
INSERT INTO label_judgements (issue_key, run_no, label, actor, is_right, why, at) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
# An explicit judgement of the issue wins, and the fix wins over both.
_UNDECIDED = """
NOT EXISTS (SELECT 1 FROM feedback WHERE feedback.issue_key = label_judgements.issue_key)
AND NOT EXISTS (
    SELECT 1 FROM outcomes WHERE outcomes.issue_key = label_judgements.issue_key AND outcomes.state = 'scored'
)
"""
_JUDGED_BY_LABELS = f"""
SELECT min(runs.confidence), max(is_right) FROM label_judgements
JOIN runs ON runs.issue_key = label_judgements.issue_key AND runs.run_no = label_judgements.run_no
WHERE repository_key = ? AND runs.claimed = 1 AND runs.confidence IS NOT NULL AND {_UNDECIDED}
    AND label_judgements.run_no = (
        SELECT max(run_no) FROM label_judgements AS later WHERE later.issue_key = label_judgements.issue_key
    )
GROUP BY label_judgements.issue_key ORDER BY label_judgements.issue_key LIMIT 5000
"""
_COUNTS = """
SELECT count(*) FILTER (WHERE is_right = 1), count(*) FILTER (WHERE is_right = 0) FROM label_judgements
WHERE issue_key >= ? AND issue_key < ?
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


@dataclass(frozen=True, slots=True)
class Correction:
    """A report that a person called wrong, and their words."""

    issue: int
    """The issue's number."""
    sha: str
    """The commit that the report read."""
    claimed: str
    """The file that the report claimed; empty if it claimed none."""
    why: str
    at: float
    """Seconds since 1970."""


def read_corrections(db: Connection, repository_key: str) -> list[Correction]:
    """Read the corrections of a repository, the latest one of each issue, the latest first."""
    found: dict[str, Correction] = {}
    for key, sha, claimed, why, at in db.execute(_CORRECTIONS, (repository_key,)).fetchall():
        found.setdefault(key, Correction(int(key.rpartition("#")[2]), sha, claimed, why, at))
    return list(found.values())


@dataclass(frozen=True, slots=True)
class FeedbackCounts:
    """The numbers of judgements by people of a repository's reports, and of label changes on issues with a report."""

    right: int
    wrong: int
    thumbs_up: int
    thumbs_down: int
    labels_added: int
    labels_removed: int
    labels_right: int
    """Labels for the place that the report names."""
    labels_wrong: int
    """Labels for another place, or removed ones for the report's place."""


def read_feedback_counts(db: Connection, repository_key: str) -> FeedbackCounts:
    """Count people's judgements of a repository's reports and their label changes."""
    # "$" follows "#" in ASCII, so this is the range of all issues of the repository.
    bounds = (f"{repository_key}#", f"{repository_key}$")
    counts = (db.execute(statement, bounds).fetchone() for statement in (_FEEDBACK_COUNTS, _LABELLED, _COUNTS))
    return FeedbackCounts(*(number for row in counts for number in row))


def read_judged(db: Connection, repository_key: str) -> list[tuple[float, bool]]:
    """Read the claims that people judged and no fix has settled; the last judgement of an issue counts."""
    rows = db.execute(_JUDGED, (repository_key,)).fetchall()
    return [(float(confidence), bool(right)) for confidence, right in rows]


def keep_reactions(db: Connection, issue_key: str, run: int, found: Sequence[Feedback]) -> None:
    """Store the reactions to a report in place of the earlier ones, within a transaction."""
    # GitHub reports no removal of a reaction, so all stored ones are replaced.
    db.execute("DELETE FROM feedback WHERE issue_key = ? AND run_no = ? AND source = 'reaction'", (issue_key, run))
    rows = [(issue_key, run, item.source, item.actor, int(item.judgement.right), "", item.at) for item in found]
    db.executemany(_NOTE, rows)


def note_feedback(db: Connection, issue_key: str, feedback: Feedback) -> None:
    """Store a judgement of the issue's last report, within a transaction; without a report, nothing is stored."""
    (run,) = db.execute(_LAST, (issue_key,)).fetchone()
    if run is not None:
        judged = (int(feedback.judgement.right), feedback.judgement.why, feedback.at)
        db.execute(_NOTE, (issue_key, run, feedback.source, feedback.actor, *judged))


def read_feedback(db: Connection, issue_key: str, run: int) -> tuple[Feedback, ...]:
    """Read the judgements of one run's report within a larger transaction, the earliest first.

    ``why`` of a label's judgement is the label.
    """
    statement = """
        SELECT source, actor, is_right, why, at FROM feedback WHERE issue_key = ? AND run_no = ?
        UNION ALL
        SELECT 'label', actor, is_right, label, at FROM label_judgements WHERE issue_key = ? AND run_no = ?
        ORDER BY at, source, actor
    """
    rows = db.execute(statement, (issue_key, run, issue_key, run)).fetchall()
    return tuple(Feedback(source, actor, Judgement(bool(right), why), at) for source, actor, right, why, at in rows)


@dataclass(frozen=True, slots=True)
class LabelChange:
    """The latest change of one label on an issue by a person."""

    label: str
    added: bool
    actor: str
    at: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class LabelJudgement:
    """The judgement of a report by one label."""

    label: str
    actor: str
    right: bool
    why: str
    """The label's path if the report names another place; else empty."""
    at: float


@dataclass(frozen=True, slots=True)
class LabelsAfter:
    """The labels that people changed after an issue's last report, and those that the App had set."""

    changes: tuple[LabelChange, ...]
    ours: tuple[str, ...]


class LabelJudgements(Keyed):
    """Judgements of one issue's reports by labels."""

    @query
    def changes_after(self, db: Connection, run: int) -> LabelsAfter:
        """Return the changes by people after a run's report, the latest first and at most ``MAX_LABELS``."""
        rows = db.execute(_CHANGES, (run, self._key, MAX_LABELS)).fetchall()
        ours = db.execute(_OURS, (self._key,)).fetchone()
        changes = tuple(LabelChange(label, bool(added), actor, at) for label, added, actor, at in rows)
        return LabelsAfter(changes, tuple(json.loads(ours[0])) if ours else ())

    @transaction
    def keep(self, db: Connection, run: int, found: Sequence[LabelJudgement]) -> None:
        """Store the labels' judgements of a run's report in place of the earlier ones."""
        db.execute("DELETE FROM label_judgements WHERE issue_key = ? AND run_no = ?", (self._key, run))
        rows = [(self._key, run, item.label, item.actor, int(item.right), item.why, item.at) for item in found]
        db.executemany(_KEEP, rows)


def read_labelled(db: Connection, repository_key: str) -> list[tuple[float, bool]]:
    """Read the claims that only labels judged, one for each issue; right if any of its labels names the place."""
    return [(float(confidence), bool(right)) for confidence, right in db.execute(_JUDGED_BY_LABELS, (repository_key,))]
