"""Questions that were asked on issues, at most two, and the signals, labels and relations of people."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.ports import AskedQuestion, QuestionState, Relation, SignalKind
from bot.store.access import Tenant
from bot.store.databases.database import Connection, Database, Keyed, Table, query, transaction
from nodes.context.ports import Signal
from nodes.state import CORRECTION, MAX_QUESTIONS, HumanExchange

_ROWS = """
SELECT slot, question_id, exchange, asked_at, state, answer, answered_by, answer_url
FROM questions WHERE issue_key = ? ORDER BY slot
"""
LABELLED = """
INSERT INTO label_actors (issue_key, label, added, actor) VALUES (?, ?, ?, ?)
ON CONFLICT (issue_key, label) DO UPDATE SET added = excluded.added, actor = excluded.actor
"""
"""The latest change wins."""
PACE = 0.5
"""Minimum seconds between two queries of a run. A signal after the last query of a run starts another run."""
_READ = "SELECT number, kind, text, actor, url FROM signals WHERE issue_key = ? AND number > ? ORDER BY number"


class NoSlotError(RuntimeError):
    """An issue has two questions already; the guards should have prevented a third."""


class Questions(Table):
    """The questions of one repository's issues."""

    def __init__(self, database: Database, tenant: Tenant) -> None:
        super().__init__(database)
        self._tenant = tenant

    @query
    def all(self, db: Connection, issue_key: str) -> tuple[AskedQuestion, ...]:
        """Return every question that was asked, by slot."""
        return tuple(asked for asked, _ in read_questions(db, self._tenant.own(issue_key)))

    @query
    def exchanges(self, db: Connection, issue_key: str) -> tuple[HumanExchange, ...]:
        """Return every settled question in the form that a new run inherits."""
        rows = read_questions(db, self._tenant.own(issue_key))
        return tuple(_settled(asked, exchange) for asked, exchange in rows if asked.state != "open")

    @transaction
    def ask(self, db: Connection, issue_key: str, exchange: HumanExchange) -> AskedQuestion:
        """Store a question under its id, in the next slot; one that is stored already is returned unchanged.

        Raises:
            NoSlotError: both slots are taken.
        """
        key = self._tenant.own(issue_key)
        earlier = [asked for asked, _ in read_questions(db, key)]
        known = next((asked for asked in earlier if asked.question_id == exchange.question_id), None)
        if known is not None:
            return known
        # Transactions are serializable, so two attempts cannot take the same slot between this count and the insert.
        if len(earlier) >= MAX_QUESTIONS:
            raise NoSlotError(f"{key}: {len(earlier)} questions were asked already")
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        statement = "INSERT INTO questions (issue_key, slot, question_id, exchange, asked_at) VALUES (?, ?, ?, ?, ?)"
        db.execute(statement, (key, len(earlier) + 1, exchange.question_id, exchange.model_dump_json(), at))
        return read_questions(db, key)[-1][0]

    async def settle(
        self,
        issue_key: str,
        question_id: str,
        state: QuestionState,
        *,
        answer: str | None = None,
        answered_by: str | None = None,
        answer_url: str | None = None,
    ) -> None:
        """Answer, withdraw or expire an open question; a settled one stays unchanged."""
        # ``state = 'open'`` makes the first settlement final: an answer, an edit and the expiry may arrive at the same
        # time.
        statement = """
            UPDATE questions SET state = ?, answer = ?, answered_by = ?, answer_url = ?
            WHERE issue_key = ? AND question_id = ? AND state = 'open'
        """
        parameters = (state, answer, answered_by, answer_url, self._tenant.own(issue_key), question_id)
        await self._change(statement, parameters)


def read_questions(db: Connection, key: str) -> list[tuple[AskedQuestion, HumanExchange]]:
    """Read an issue's questions by slot, as posted and as the run asked them, within a larger transaction."""
    found = []
    for slot, question_id, text, *rest in db.execute(_ROWS, (key,)):
        exchange = HumanExchange.model_validate_json(text)
        asked = (exchange.question, exchange.reason, exchange.options)
        question = AskedQuestion(slot, question_id, *asked, *rest)
        found.append((replace(question, messages=exchange.messages), exchange))
    return found


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


class People(Keyed):
    """People's decisions on one issue."""

    async def labelled(self, label: str, actor: str, *, added: bool) -> None:
        """Record that a person added or removed a label; the latest change wins."""
        await self._change(LABELLED, (self._key, label, int(added), actor))

    @query
    def label_changes(self, db: Connection) -> dict[str, bool]:
        """Return the labels that a person added (True) or removed (False). The App never changes them."""
        return read_label_changes(db, self._key)


def read_label_changes(db: Connection, issue_key: str) -> dict[str, bool]:
    """Read the label changes of an issue within a larger transaction."""
    rows = db.execute("SELECT label, added FROM label_actors WHERE issue_key = ?", (issue_key,))
    return {label: bool(added) for label, added in rows}


def read_relations(db: Connection, issue_key: str) -> tuple[Relation, ...]:
    """Read the relations of an issue within a larger transaction."""
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


class IssueSignals(Keyed):
    """The signals of one issue; implements the graph's signal port."""

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
        return [
            Signal(item.number, "redirect", item.text) for item in await self.since(after) if item.kind == "redirect"
        ]

    @query
    def since(self, db: Connection, after: int) -> list[StoredSignal]:
        """Return all signals with a number above ``after``, oldest first."""
        return read_signals(db, self._key, after)


def read_signals(db: Connection, issue_key: str, after: int) -> list[StoredSignal]:
    """Read signals within a larger transaction."""
    return [StoredSignal(*row) for row in db.execute(_READ, (issue_key, after))]
