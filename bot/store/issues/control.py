"""Read what commands need from the store, and write the effects of each command in one transaction."""

from __future__ import annotations

from bot.jobs import Continue, Triage, Work
from bot.ports import CommandEffects, Comment, IssueRef
from bot.store.databases.database import Connection, Database, Table, transaction
from bot.store.issues.questions import LABELLED
from bot.store.jobs.deliveries import insert_job
from bot.store.runs.feedback import Feedback, note_feedback

_SIGNAL = """
INSERT INTO signals (issue_key, comment_id, edited_at, ordinal, part, kind, text, actor, url)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
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

    @transaction
    def apply(self, db: Connection, comment: Comment, ordinal: int, canonical: str, effects: CommandEffects) -> None:
        """Record the command as run and apply the store's part of its effects.

        Idempotent: the key is (comment id, updated_at, ordinal).
        """
        issue_key, now = self._ref.key, self._clock()
        row = (issue_key, comment.id, comment.updated_at, ordinal)
        # First, because it guards everything below: an attempt after a crash finds its row and changes nothing.
        once = "INSERT INTO commands VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        if not db.execute(once, (*row, canonical)).rowcount:
            return
        for part, signal in enumerate(effects.signals):
            db.execute(_SIGNAL, (*row, part, signal.kind, signal.text, comment.author, comment.url))
        for relation in effects.relations:
            db.execute(_RELATE, (issue_key, relation.other, int(relation.duplicate), comment.author))
        for labels, added in ((effects.add_labels, 1), (effects.remove_labels, 0)):
            # GitHub will name the App as the actor. The change is a person's decision, so the App must not revert it.
            db.executemany(LABELLED, [(issue_key, label, added, comment.author) for label in labels])
        if effects.judgement is not None:
            note_feedback(db, issue_key, Feedback("command", comment.author, effects.judgement, now))
        if effects.muted is not None:
            db.execute(_MUTE, (issue_key, int(effects.muted)))
        # The time of the edit is part of an id, so a command that an edit adds may start a run too.
        edit = f"{issue_key}:{comment.id}:{comment.updated_at}"
        # Ids of an issue's jobs must grow in the order of commits (`Connection.lock`).
        db.lock([issue_key])
        if effects.start:
            insert_job(db, f"command:{edit}", ordinal, self._started(comment, effects), now)

    def _started(self, comment: Comment, effects: CommandEffects) -> Work:
        """Return a job that continues the run for an answer or a redirect, or else a new triage."""
        # A command given on a page has a negative id, and no comment to reply to.
        asked_in = comment.id if comment.id > 0 else None
        if any(signal.kind in ("answer", "redirect") for signal in effects.signals):
            return Continue(ref=self._ref, asked_in=asked_in, actor=comment.author)
        return Triage(ref=self._ref, why="command", by=comment.author_id, asked_in=asked_in, actor=comment.author)
