"""Query what led to a run and what followed from it: people's words, labels, judgements, the fix, the run before."""

from __future__ import annotations

import json
from dataclasses import dataclass

from bot.report.document import Result
from bot.store.databases.database import Connection, Database
from bot.store.issues.signals import StoredSignal, read_signals
from bot.store.pages.rows import RunRow
from bot.store.runs import RESULT_BEFORE, Origin
from bot.store.runs.feedback import Feedback, read_feedback, read_judged
from bot.store.runs.label_judgements import read_labelled
from bot.store.runs.outcomes import Outcome, read_outcome, read_outcomes

_LABELS = "SELECT payload FROM effects WHERE issue_key = ? AND kind = 'labels' AND subject = ''"
_CHANGED = "SELECT label, added, actor FROM label_actors WHERE issue_key = ? ORDER BY label"
_STICKY = "SELECT github_id FROM effects WHERE issue_key = ? AND kind = 'sticky' AND subject = ''"


@dataclass(frozen=True, slots=True)
class RunContext:
    """The background of a run besides its own result."""

    origin: Origin
    words: tuple[StoredSignal, ...]
    """Redirects, corrections and answers by command that the run received, the earliest first."""
    before: tuple[int, Result] | None
    """The latest earlier run of the issue that has a report: its number and result."""
    labels: tuple[str, ...]
    """Labels that the App set on the issue, or is about to set."""
    label_changes: tuple[tuple[str, bool, str], ...]
    """Labels that people added (True) or removed, and their logins."""
    outcome: Outcome | None
    """How the report compared with the fix; None unless the issue's last report is this run's."""
    feedback: tuple[Feedback, ...]
    pairs: tuple[tuple[float, bool], ...]
    """The repository's scored reports: confidence, and whether the first file was right."""
    judged: tuple[tuple[float, bool], ...]
    """The same for claims that people judged and that no fix has confirmed or refuted."""
    labelled: tuple[tuple[float, bool], ...]
    """The same for claims that only label changes judged."""
    comment_id: int | None
    """Id of the App's comment on the issue."""


async def run_context(database: Database, row: RunRow) -> RunContext:
    """Read the context of one run."""
    return await database.read(lambda db: _context(db, row))


def _context(db: Connection, row: RunRow) -> RunContext:
    key = row.issue_key
    fields = "body, author, why, asked_by, asked_in, last_signal"
    found = db.execute(f"SELECT {fields} FROM runs WHERE issue_key = ? AND run_no = ?", (key, row.number)).fetchone()
    *origin, last_signal = found or ("", "", "", "", None, 0)
    before = db.execute(RESULT_BEFORE, (key, row.number)).fetchone()
    sticky, labels = db.execute(_STICKY, (key,)).fetchone(), db.execute(_LABELS, (key,)).fetchone()
    outcome = read_outcome(db, key)
    changes = ((label, bool(added), actor) for label, added, actor in db.execute(_CHANGED, (key,)).fetchall())
    # A run in progress may still read a signal; a finished one has read the signals up to its last one.
    signals = read_signals(db, key, 0)
    return RunContext(
        origin=Origin(*origin),
        words=tuple(one for one in signals if not row.over or one.number <= last_signal),
        before=(before[0], Result.model_validate_json(before[1])) if before else None,
        labels=tuple(json.loads(labels[0])) if labels else (),
        label_changes=tuple(changes),
        outcome=outcome if outcome is not None and outcome.run == row.number else None,
        feedback=read_feedback(db, key, row.number),
        pairs=tuple(read_outcomes(db, row.repository_key)),
        judged=tuple(read_judged(db, row.repository_key)),
        labelled=tuple(read_labelled(db, row.repository_key)),
        comment_id=sticky[0] if sticky else None,
    )
