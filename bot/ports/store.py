"""The store as publishing and commands see it: effects, questions, signals, and the view of a run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from bot.ports.github import (
    Comment,
    Reaction,
)

if TYPE_CHECKING:
    from bot.report.document import Result
    from nodes.evidence import NumberedEvidence
    from nodes.report import TriageReport

QuestionState = Literal["open", "answered", "withdrawn", "expired"]


SignalKind = Literal["redirect", "stop", "answer", "correction"]


@dataclass(frozen=True, slots=True)
class Effect:
    """The stored state of one thing that should exist on GitHub."""

    kind: str
    """``sticky``, ``question``, ``labels``, ``reaction``, ``answer``, ``reply``, and so on."""
    subject: str
    """The identity within its kind: a question's id, a comment's id, or empty."""
    wanted_hash: str
    payload: str
    done_hash: str | None = None
    intent_at: datetime | None = None
    """When a POST was last announced; timezone-aware, UTC."""
    github_id: int | None = None
    """The id of the created comment."""


class EffectsPort(Protocol):
    """The effects table (SPEC section 8); each method is one transaction."""

    async def get(self, issue_key: str, kind: str, subject: str = "") -> Effect | None:
        """Return the stored effect; None if there is none."""

    async def set_wanted(self, issue_key: str, kind: str, subject: str, wanted_hash: str, payload: str) -> Effect:
        """Set what should exist on GitHub; the last call wins. The stored id, done hash and intent are retained."""

    async def claim(self, issue_key: str, kind: str, subject: str, payload: str) -> Effect:
        """Set what should exist on GitHub unless it is set already; of concurrent calls exactly one succeeds."""

    async def forget(self, issue_key: str, kind: str, subject: str = "") -> None:
        """Delete the stored effect because it no longer exists on GitHub; the next one is created again."""

    async def record_intent(self, issue_key: str, kind: str, subject: str) -> None:
        """Record durably that a POST is about to be sent."""

    async def record_refusal(self, issue_key: str, kind: str, subject: str) -> None:
        """Record that GitHub refused the POST, so that no later attempt waits for it."""

    async def record_done(
        self, issue_key: str, kind: str, subject: str, done_hash: str, github_id: int | None = None
    ) -> None:
        """Record that the effect exists on GitHub, and clear the intent."""

    async def pending(self, issue_key: str) -> list[Effect]:
        """Return effects that are wanted but not done, oldest first."""

    async def with_prefix(self, issue_key: str, kind: str, prefix: str) -> list[Effect]:
        """Return effects of a kind whose subject starts with a prefix, done or not, sorted by subject."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A row of the questions table: asked once, in this slot, across all runs of the issue."""

    slot: int
    """1 or 2."""
    question_id: str
    text: str
    reason: str
    options: tuple[str, ...]
    asked_at: str
    state: QuestionState = "open"
    answer: str | None = None
    answered_by: str | None = None
    answer_url: str | None = None


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as ``/triage status`` and ``/triage why`` show it."""

    number: int
    status: str
    """``queued``, ``running``, ``waiting``, ``finished``, ``stopped``, ``failed``."""
    sha: str
    brain: str
    config_hash: str
    result: Result | None = None
    evidence: tuple[NumberedEvidence, ...] = ()
    """The gathered evidence, in the order of its numbers."""


@dataclass(frozen=True, slots=True)
class NewSignal:
    """A row for the signals table."""

    kind: SignalKind
    text: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """A person's statement about this issue and another one."""

    other: int
    """The other issue's number in the same repository."""
    duplicate: bool
    """Whether the person called them duplicates; False means explicitly not duplicates."""


@dataclass(frozen=True, slots=True)
class OpenReport:
    """The newest report of an open issue."""

    number: int
    title: str
    since: float
    """When its first run with a report began, in seconds since 1970."""
    report: TriageReport
    relations: tuple[Relation, ...]
    """Duplicates that people confirmed or denied."""


@dataclass(frozen=True, slots=True)
class UnansweredQuestion:
    """A question on an open issue that nobody answered."""

    number: int
    title: str
    text: str
    asked_at: str
    """GitHub's format of a timestamp."""
    expired: bool
    """The report was written without an answer."""


@dataclass(frozen=True, slots=True)
class OpenReports:
    """The stored reports and questions of a repository's open issues at one moment."""

    reports: tuple[OpenReport, ...]
    """A limited number, the newest issue first."""
    all: int
    """Number of open issues with a report, including those beyond the limit."""
    questions: tuple[UnansweredQuestion, ...]
    """A limited number, the oldest first."""
    closed: int
    """Number of issues with a report that were closed in the period."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A person's judgement of the issue's last report."""

    right: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class TaughtWord:
    """A word, or two, that people taught for a place: files there count more for issues that name it."""

    word: str
    """In the form in which words are compared."""
    path: str
    """A file or folder; empty to forget the word."""


@dataclass(frozen=True, slots=True)
class CommandEffects:
    """The effects of a command. The store's part is applied in one transaction; ``publish`` then applies GitHub's."""

    signals: tuple[NewSignal, ...] = ()
    start: bool = False
    """Queue a new run of the issue (or, with an answer or redirect, its next step)."""
    digest: bool = False
    """Queue the digest of the repository, for a comment on this issue."""
    muted: bool | None = None
    """Set (True) or lift (False) the issue's mute; None leaves it unchanged."""
    relations: tuple[Relation, ...] = ()
    judgement: Judgement | None = None
    taught: TaughtWord | None = None
    add_labels: tuple[str, ...] = ()
    remove_labels: tuple[str, ...] = ()
    reaction: Reaction | None = None
    reply: str | None = None
    """A short reply comment; most commands need none."""


class ControlPort(Protocol):
    """The store's interface for commands, for one issue."""

    async def commands_run(self, comment_id: int) -> tuple[str, ...]:
        """Return the commands of a comment that already ran, in the form of ``Command.canonical``, with repetitions."""

    async def last_run(self) -> RunView | None:
        """Return the issue's newest run."""

    async def questions(self) -> tuple[AskedQuestion, ...]:
        """Return the questions asked on this issue."""

    async def muted(self) -> bool:
        """Return whether a person muted this issue."""

    async def limits_reached(self) -> tuple[str, ...]:
        """Return the codes of the limits reached in the repository today."""

    async def has_named_path(self) -> bool:
        """Return whether a command named the place of this issue's fault."""

    async def taught(self) -> tuple[TaughtWord, ...]:
        """Return the words that people taught in the repository, in alphabetical order."""

    async def apply(self, comment: Comment, ordinal: int, canonical: str, effects: CommandEffects) -> None:
        """Record that the command ran and apply the store's part of its effects, in one transaction.

        Idempotent by (comment id, updated_at, ordinal).
        """
