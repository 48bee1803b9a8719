"""Store questions: at most two per issue, ever; each is settled once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from bot.ports import AskedQuestion, QuestionState
from bot.store.access import Tenant
from bot.store.databases.database import Connection, Database
from nodes.state import MAX_QUESTIONS, HumanExchange

_ROWS = """
SELECT slot, question_id, exchange, asked_at, state, answer, answered_by, answer_url
FROM questions WHERE issue_key = ? ORDER BY slot
"""


class NoSlotError(RuntimeError):
    """An issue has two questions already; the guards should have prevented a third."""


def _now() -> datetime:
    return datetime.now(UTC)


class Questions:
    """The questions of one repository's issues."""

    def __init__(self, database: Database, tenant: Tenant, clock: Callable[[], datetime] = _now) -> None:
        self._database = database
        self._tenant = tenant
        self._clock = clock

    async def all(self, issue_key: str) -> tuple[AskedQuestion, ...]:
        """Return every question that was asked, by slot."""
        key = self._tenant.own(issue_key)
        return tuple(asked for asked, _ in await self._database.read(lambda db: read_questions(db, key)))

    async def exchanges(self, issue_key: str) -> tuple[HumanExchange, ...]:
        """Return every settled question in the form that a new run inherits."""
        key = self._tenant.own(issue_key)
        rows = await self._database.read(lambda db: read_questions(db, key))
        return tuple(_settled(asked, exchange) for asked, exchange in rows if asked.state != "open")

    async def ask(self, issue_key: str, exchange: HumanExchange) -> AskedQuestion:
        """Store a question under its id, in the next slot; one that is stored already is returned unchanged.

        Raises:
            NoSlotError: both slots are taken.
        """
        key = self._tenant.own(issue_key)
        at = self._clock().strftime("%Y-%m-%dT%H:%M:%SZ")
        return await self._database.do(lambda db: _ask(db, key, exchange, at))

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
        await self._database.do(lambda db: db.execute(statement, parameters).rowcount)


def read_questions(db: Connection, key: str) -> list[tuple[AskedQuestion, HumanExchange]]:
    """Read an issue's questions by slot, as posted and as the run asked them, within a larger transaction."""
    found = []
    for slot, question_id, text, asked_at, state, answer, answered_by, answer_url in db.execute(_ROWS, (key,)):
        exchange = HumanExchange.model_validate_json(text)
        asked = AskedQuestion(
            slot=slot,
            question_id=question_id,
            text=exchange.question,
            reason=exchange.reason,
            options=exchange.options,
            asked_at=asked_at,
            state=state,
            answer=answer,
            answered_by=answered_by,
            answer_url=answer_url,
        )
        found.append((asked, exchange))
    return found


def _ask(db: Connection, key: str, exchange: HumanExchange, at: str) -> AskedQuestion:
    earlier = [asked for asked, _ in read_questions(db, key)]
    known = next((asked for asked in earlier if asked.question_id == exchange.question_id), None)
    if known is not None:
        return known
    # Transactions are serializable, so two attempts cannot take the same slot between this count and the insert.
    if len(earlier) >= MAX_QUESTIONS:
        raise NoSlotError(f"{key}: {len(earlier)} questions were asked already")
    statement = "INSERT INTO questions (issue_key, slot, question_id, exchange, asked_at) VALUES (?, ?, ?, ?, ?)"
    db.execute(statement, (key, len(earlier) + 1, exchange.question_id, exchange.model_dump_json(), at))
    return read_questions(db, key)[-1][0]


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
