"""Read what commands need from the store, and write the effects of each command in one transaction."""

from __future__ import annotations

from dataclasses import dataclass

from bot.jobs import Continue, JudgeLabels, Triage, Work
from bot.ports import CommandEffects, Comment, IssueRef, RunView
from bot.report.document import Result
from bot.store.databases.database import Connection, Database, Table
from bot.store.issues.questions import LABELLED
from bot.store.jobs.deliveries import insert_job
from bot.store.runs.feedback import Feedback, note_feedback
from bot.store.runs.issue_runs import IssueRuns
from bot.store.runs.run_events import RunEvidence

_RELATE = """
INSERT INTO relations (issue_key, other, duplicate, actor) VALUES (?, ?, ?, ?)
ON CONFLICT (issue_key, other) DO UPDATE SET duplicate = excluded.duplicate, actor = excluded.actor
"""
_MUTE = """
INSERT INTO issues (issue_key, muted) VALUES (?, ?) ON CONFLICT (issue_key) DO UPDATE SET muted = excluded.muted
"""


class Control(Table):
    """The commands of one issue: what they read together, and what they change."""

    def __init__(self, database: Database, ref: IssueRef) -> None:
        super().__init__(database)
        self._ref = ref

    async def commands_run(self, comment_id: int) -> tuple[str, ...]:
        """Return the commands of a comment that ran before, as ``Command.canonical`` writes them, with repetitions."""
        statement = "SELECT canonical FROM commands WHERE issue_key = ? AND comment_id = ? ORDER BY edited_at, ordinal"
        key = (self._ref.key, comment_id)
        return tuple(text for (text,) in await self._rows(statement, key))

    async def last_run(self) -> RunView | None:
        """Return the issue's newest run."""
        run = await IssueRuns(self._database, self._ref.key).last()
        if run is None:
            return None
        result = Result.model_validate_json(run.result) if run.result else None
        stored = await RunEvidence(self._database, f"{self._ref.key}:{run.number}").get(
            result.evidence if result else ()
        )
        evidence = result.numbered(stored) if result else ()
        return RunView(run.number, run.status, run.sha, run.brain, run.config_hash, result, evidence)

    async def apply(self, comment: Comment, ordinal: int, canonical: str, effects: CommandEffects) -> None:
        """Record the command as run and apply the store's part of its effects, in one transaction.

        Idempotent: the key is (comment id, updated_at, ordinal).
        """
        now = self._clock()
        applied = _AppliedCommand(self._ref, comment, ordinal, canonical, effects)
        await self._database.do(lambda db: _apply(db, applied, now))


@dataclass(frozen=True, slots=True)
class _AppliedCommand:
    """A command that is being applied."""

    ref: IssueRef
    comment: Comment
    ordinal: int
    canonical: str
    effects: CommandEffects

    @property
    def key(self) -> tuple[str, int, str, int]:
        return (self.ref.key, self.comment.id, self.comment.updated_at, self.ordinal)


def _apply(db: Connection, applied: _AppliedCommand, now: float) -> None:
    issue_key, effects = applied.ref.key, applied.effects
    # First, because it guards everything below: an attempt after a crash finds its row and changes nothing.
    once = "INSERT INTO commands VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
    if not db.execute(once, (*applied.key, applied.canonical)).rowcount:
        return
    _append_signals(db, applied)
    for relation in effects.relations:
        row = (issue_key, relation.other, int(relation.duplicate), applied.comment.author)
        db.execute(_RELATE, row)
    for labels, added in ((effects.add_labels, 1), (effects.remove_labels, 0)):
        # GitHub will name the App as the actor. The change is a person's decision, so the App must not revert it.
        rows = [(issue_key, label, added, applied.comment.author, 0, now) for label in labels]
        db.executemany(LABELLED, rows)
    if effects.add_labels or effects.remove_labels:
        # The delivery that follows does not count, because its sender is the App.
        db.lock([issue_key])
        guid = f"labels:{issue_key}:{applied.comment.id}:{applied.comment.updated_at}"
        insert_job(db, guid, applied.ordinal, JudgeLabels(ref=applied.ref), now)
    if effects.judgement is not None:
        note_feedback(db, issue_key, Feedback("command", applied.comment.author, effects.judgement, now))
    if effects.muted is not None:
        db.execute(_MUTE, (issue_key, int(effects.muted)))
    if effects.start:
        # Ids of an issue's jobs must grow in the order of commits (`Connection.lock`).
        db.lock([issue_key])
        # The time of the edit is part of the id, so a command that an edit adds may start a run too.
        guid = f"command:{issue_key}:{applied.comment.id}:{applied.comment.updated_at}"
        insert_job(db, guid, applied.ordinal, _started(applied), now)


def _append_signals(db: Connection, applied: _AppliedCommand) -> None:
    statement = """
        INSERT INTO signals (issue_key, comment_id, edited_at, ordinal, part, kind, text, actor, url)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
    for part, one in enumerate(applied.effects.signals):
        row = (*applied.key, part, one.kind, one.text, applied.comment.author, applied.comment.url)
        db.execute(statement, row)


def _started(applied: _AppliedCommand) -> Work:
    """Return a job that continues the run for an answer or a redirect, or else a new triage."""
    continues = any(signal.kind in ("answer", "redirect") for signal in applied.effects.signals)
    actor = applied.comment.author
    # A command given on a page has a negative id, and no comment to reply to.
    asked_in = applied.comment.id if applied.comment.id > 0 else None
    if continues:
        return Continue(ref=applied.ref, asked_in=asked_in, actor=actor)
    return Triage(ref=applied.ref, why="command", by=applied.comment.author_id, asked_in=asked_in, actor=actor)
