"""Store judgements of reports by label changes; each counts half, and only where no person judged the report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from bot.store.databases.database import Connection, Keyed

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
_LABELLED = f"""
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

    async def changes_after(self, run: int) -> LabelsAfter:
        """Return the changes by people after a run's report, the latest first and at most ``MAX_LABELS``."""
        return await self._database.read(lambda db: _changes(db, self._key, run))

    async def keep(self, run: int, found: Sequence[LabelJudgement]) -> None:
        """Store the labels' judgements of a run's report in place of the earlier ones."""
        await self._database.do(lambda db: _keep(db, self._key, run, found))


def read_labelled(db: Connection, repository_key: str) -> list[tuple[float, bool]]:
    """Read the claims that only labels judged, one for each issue; right if any of its labels names the place."""
    return [(float(confidence), bool(right)) for confidence, right in db.execute(_LABELLED, (repository_key,))]


def count_labels(db: Connection, bounds: tuple[str, str]) -> tuple[int, int]:
    """Count the labels that agree with a report and those that do not, between two keys of issues."""
    agree, differ = db.execute(_COUNTS, bounds).fetchone()
    return agree, differ


def _changes(db: Connection, key: str, run: int) -> LabelsAfter:
    rows = db.execute(_CHANGES, (run, key, MAX_LABELS)).fetchall()
    ours = db.execute(_OURS, (key,)).fetchone()
    changes = tuple(LabelChange(label, bool(added), actor, at) for label, added, actor, at in rows)
    return LabelsAfter(changes, tuple(json.loads(ours[0])) if ours else ())


def _keep(db: Connection, key: str, run: int, found: Sequence[LabelJudgement]) -> int:
    db.execute("DELETE FROM label_judgements WHERE issue_key = ? AND run_no = ?", (key, run))
    rows = [(key, run, one.label, one.actor, int(one.right), one.why, one.at) for one in found]
    db.executemany(_KEEP, rows)
    return len(rows)
