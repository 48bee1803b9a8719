"""Store what people say on issues: answers to questions, at most two; commands, signals, labels and relations."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.jobs import Continue, Triage, Work
from bot.ports import AskedQuestion, CommandEffects, Comment, IssueRef, QuestionState, Relation, SignalKind
from bot.store.databases.database import Connection, Database, Keyed, TableGroup, of_key, query, transaction, upsert
from bot.store.jobs.deliveries import insert_job
from bot.store.runs.outcomes import Feedback, note_feedback
from nodes.context.ports import Signal
from nodes.limits import MAX_QUESTIONS
from nodes.state import CORRECTION, HumanExchange

_ROWS = """
SELECT slot, question_id, exchange, asked_at, state, answer, answered_by, answer_url
FROM questions WHERE issue_key = ? ORDER BY slot
"""
LABELLED = upsert("label_actors", "issue_key, label", "added, actor")
_SIGNAL = """
INSERT INTO signals (issue_key, comment_id, edited_at, ordinal, part, kind, text, actor, url)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_RELATE = upsert("relations", "issue_key, other", "duplicate, actor")
PACE = 0.5
"""Minimum seconds between two queries of a run. A signal after the last query of a run starts another run."""
_READ = "SELECT number, kind, text, actor, url FROM signals WHERE issue_key = ? AND number > ? ORDER BY number"


class NoSlotError(RuntimeError):
    """An issue has two questions already; the guards should have prevented a third."""


def read_questions(db: Connection, key: str) -> list[tuple[AskedQuestion, HumanExchange]]:
    """Return an issue's questions by slot, as posted and as the run asked them."""
    found = []
    for slot, question_id, text, *rest in db.execute(_ROWS, (key,)):
        exchange = HumanExchange.model_validate_json(text)
        asked = (exchange.question, exchange.reason, exchange.options)
        question = AskedQuestion(slot, question_id, *asked, *rest)
        found.append((replace(question, messages=exchange.messages), exchange))
    return found


def read_asked(db: Connection, key: str) -> tuple[AskedQuestion, ...]:
    """Return every question that was asked, by slot."""
    return tuple(asked for asked, _ in read_questions(db, key))


class Questions(Keyed):
    """The questions of one issue."""

    all = of_key(read_asked)

    async def open(self) -> AskedQuestion | None:
        """Return the open question; None if none is open."""
        return next((question for question in await self.all() if question.state == "open"), None)

    @query
    def exchanges(self, db: Connection) -> tuple[HumanExchange, ...]:
        """Return every settled question in the form that a new run inherits."""
        rows = read_questions(db, self._key)
        return tuple(_settled(asked, exchange) for asked, exchange in rows if asked.state != "open")

    @transaction
    def ask(self, db: Connection, exchange: HumanExchange) -> AskedQuestion:
        """Store a question in the next slot, unless its id is stored; raises ``NoSlotError`` if both are taken."""
        key = self._key
        earlier = read_asked(db, key)
        known = next((asked for asked in earlier if asked.question_id == exchange.question_id), None)
        if known is not None:
            return known
        # Transactions are serializable, so two attempts cannot take the same slot between this count and the insert.
        if len(earlier) >= MAX_QUESTIONS:
            raise NoSlotError(f"{key}: {len(earlier)} questions were asked already")
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        statement = "INSERT INTO questions (issue_key, slot, question_id, exchange, asked_at) VALUES (?, ?, ?, ?, ?)"
        db.execute(statement, (key, len(earlier) + 1, exchange.question_id, exchange.model_dump_json(), at))
        return read_asked(db, key)[-1]

    async def settle(
        self,
        question_id: str,
        state: QuestionState,
        answer: str | None = None,
        answered_by: str | None = None,
        answer_url: str | None = None,
    ) -> None:
        """Answer (with author and address), withdraw or expire an open question; a settled one stays unchanged."""
        # ``state = 'open'`` makes the first settlement final: an answer, an edit and the expiry may arrive at the same
        # time.
        statement = """
            UPDATE questions SET state = ?, answer = ?, answered_by = ?, answer_url = ?
            WHERE issue_key = ? AND question_id = ? AND state = 'open'
        """
        await self._change(statement, (state, answer, answered_by, answer_url, self._key, question_id))


def _settled(asked: AskedQuestion, exchange: HumanExchange) -> HumanExchange:
    return exchange.model_copy(
        update={
            # The limit of ``HumanExchange.answer``; a longer text would make the state of the run invalid.
            "answer": asked.answer[:1_000] if asked.answer is not None else None,
            "answered_by": asked.answered_by,
            "answer_url": asked.answer_url,
            "withdrawn": asked.state != "answered",
        }
    )


def read_label_changes(db: Connection, issue_key: str) -> dict[str, bool]:
    """Return the label changes of an issue."""
    rows = db.execute("SELECT label, added FROM label_actors WHERE issue_key = ?", (issue_key,))
    return {label: bool(added) for label, added in rows}


def read_relations(db: Connection, issue_key: str) -> tuple[Relation, ...]:
    """Return the relations of an issue."""
    rows = db.execute("SELECT other, duplicate FROM relations WHERE issue_key = ? ORDER BY other", (issue_key,))
    return tuple(Relation(other, bool(duplicate)) for other, duplicate in rows)


@dataclass(frozen=True, slots=True)
class StoredSignal:
    """One row."""

    number: int
    """Increases with time."""
    kind: SignalKind
    text: str
    actor: str
    url: str

    @property
    def instruction(self) -> str:
        """The instruction that a new run receives, at most 600 characters."""
        return f"{CORRECTION if self.kind == 'correction' else ''}{self.text}"[:600]


def read_signals(db: Connection, issue_key: str, after: int) -> list[StoredSignal]:
    """Return all signals with a number above ``after``, oldest first."""
    return [StoredSignal(*row) for row in db.execute(_READ, (issue_key, after))]


class IssueSignals(Keyed):
    """The signals of one issue."""

    def __init__(self, database: Database, issue_key: str) -> None:
        super().__init__(database, issue_key)
        self._queried_at = float("-inf")

    async def unread(self, after: int) -> Sequence[Signal]:
        """Return redirects numbered above ``after``, oldest first; none within ``PACE`` seconds of the last query."""
        # The run asks before each decision, and a run by rules decides many times a second.
        now = time.monotonic()
        if now - self._queried_at < PACE:
            return ()
        self._queried_at = now
        return [Signal(item.number, item.text) for item in await self.since(after) if item.kind == "redirect"]

    since = of_key(read_signals)


class Control(TableGroup):
    """The commands of one issue: what they read together, and what they change."""

    def __init__(self, database: Database, ref: IssueRef) -> None:
        super().__init__(database)
        self._ref = ref

    async def labelled(self, label: str, actor: str, *, added: bool) -> None:
        """Record that a person added or removed a label; the latest change wins."""
        await self._change(LABELLED, (self._ref.key, label, int(added), actor))

    async def commands_run(self, comment_id: int) -> tuple[str, ...]:
        """Return the commands of a comment that ran before, as ``Command.canonical`` writes them, with repetitions."""
        statement = "SELECT canonical FROM commands WHERE issue_key = ? AND comment_id = ? ORDER BY edited_at, ordinal"
        return tuple(text for (text,) in await self._rows(statement, (self._ref.key, comment_id)))

    @transaction
    def apply(self, db: Connection, comment: Comment, ordinal: int, canonical: str, effects: CommandEffects) -> None:
        """Record a command as run, and apply its effects, once for each (comment id, updated_at, ordinal)."""
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
            note_feedback(db, issue_key, Feedback(comment.author, effects.judgement, now))
        if effects.muted is not None:
            db.execute(upsert("issues", "issue_key", "muted"), (issue_key, int(effects.muted)))
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
