"""What the parts of the App say to each other: values, and protocols with what they promise."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, Protocol

from bot.limits import WHOLE, Share

if TYPE_CHECKING:
    from bot.report.document import Result
    from nodes.evidence import NumberedEvidence
    from nodes.state import BugTriageState, HumanExchange

Reaction = Literal["eyes", "rocket", "confused"]
QuestionState = Literal["open", "answered", "withdrawn", "expired"]
SignalKind = Literal["redirect", "stop", "answer", "correction"]

OwnerCheck = Callable[[], Awaitable[None]]
"""Awaited before every write to GitHub.

Raises:
    NotOursError: the attempt is no longer ours.
    StoppedError: a person said stop since the run began.
"""


@dataclass(frozen=True, slots=True)
class RepositoryRef:
    """A repository under an installation: the id is its identity, the names are what it is called today."""

    host: str
    """Where its pages are, such as ``github.com``."""
    installation_id: int
    id: int
    owner: str
    name: str
    clone_url: str = field(default="", compare=False)
    """As the payload says; empty asks GitHub."""

    @property
    def key(self) -> str:
        """The same for ever, whatever it is renamed to."""
        return f"{self.host}/{self.id}"


@dataclass(frozen=True, slots=True)
class IssueRef:
    """An issue by its repository's id and its number; owner and name are what they are today."""

    host: str
    installation_id: int
    repository_id: int
    owner: str
    name: str
    number: int
    clone_url: str = field(default="", compare=False)
    """The repository's, as the payload says; empty asks GitHub."""

    @property
    def key(self) -> str:
        """The issue_key of the store."""
        return f"{self.host}/{self.repository_id}#{self.number}"

    @property
    def repository(self) -> RepositoryRef:
        """The repository it is in."""
        return RepositoryRef(self.host, self.installation_id, self.repository_id, self.owner, self.name, self.clone_url)


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue as GitHub has it now. ``ref`` says where it is now, which is elsewhere if it was transferred."""

    ref: IssueRef
    title: str
    body: str
    """Empty where GitHub says null."""
    author_id: int | None
    """None where the account is gone."""
    author: str
    author_is_bot: bool
    state: str
    """``open`` or ``closed``."""
    locked: bool
    labels: tuple[str, ...]
    url: str
    updated_at: str
    is_pull_request: bool
    created_at: str = ""
    """As GitHub writes it; empty where it says nothing."""
    comments: int | None = None
    """How many it has; None where GitHub does not say."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as GitHub has it now."""

    id: int
    author_id: int | None
    author: str
    author_is_bot: bool
    body: str
    url: str
    created_at: str
    """As GitHub writes it, such as ``2024-01-01T00:00:00Z``; such strings sort by time."""
    updated_at: str
    ours: bool = False
    """Written by this App, by its id; what a text says of itself does not count."""


class Permission(IntEnum):
    """What somebody may do in a repository; each includes those below it."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5


class GitHubPort(Protocol):
    """One repository under one installation (``GitHub.for_repository(ref)``).

    Every call may raise RetryableError (``after`` says how long GitHub asked to wait), RefusedError, GoneError or
    SuspendedError; a call that creates may raise OutcomeUnknownError and is never repeated by the client.
    """

    async def issue(self, number: int) -> Issue | None:
        """The issue, followed to where it was moved; None where it is gone."""

    async def issues(self, *, since: str | None = None, limit: int = 100) -> list[Issue]:
        """Open issues, newest first, without pull requests; ``since`` bounds by when they were changed."""

    async def issues_page(self, page: int) -> tuple[list[Issue], bool]:
        """Up to a hundred issues of any state, newest first, less the pull requests; and whether more follow.

        Pages count from 1.
        """

    async def comments(self, number: int, since: str | None = None) -> list[Comment]:
        """All comments, oldest first; with ``since`` those changed at or after it."""

    async def create_comment(self, number: int, body: str, share: Share = WHOLE) -> Comment:
        """Post a comment, counted within a share of the writes; only 201 counts as posted."""

    async def has_comment(self, comment_id: int) -> bool:
        """Whether a comment is still there."""

    async def edit_comment(self, comment_id: int, body: str, share: Share = WHOLE) -> None:
        """Replace a comment's text, counted within a share of the writes.

        Raises:
            GoneError: a person deleted it.
        """

    async def react_to_issue(self, number: int, content: Reaction) -> None:
        """Leave a reaction; leaving it twice is the same as once."""

    async def react_to_comment(self, comment_id: int, content: Reaction) -> None:
        """Leave a reaction; leaving it twice is the same as once."""

    async def repository_labels(self) -> frozenset[str]:
        """The labels that exist in the repository."""

    async def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Add labels that exist."""

    async def remove_label(self, number: int, label: str) -> None:
        """Remove a label; one that is not there is removed already."""

    async def permission(self, login: str) -> Permission:
        """What somebody may do here, by the API's flags; a role's name does not count."""

    async def file(self, path: str) -> str | None:
        """A text file on the default branch; None where none exists.

        Raises:
            UnreadableFileError: one exists and cannot be read as text.
        """

    async def organisation_file(self, path: str) -> str | None:
        """A text file in the owner's ``.github`` repository; None where it is absent or not ours to read.

        Raises:
            UnreadableFileError: one exists and cannot be read as text.
        """

    async def tip(self) -> str | None:
        """The newest commit of the default branch; None where GitHub does not say."""

    async def clone_url_and_header(self) -> tuple[str, str]:
        """Where git fetches from, and the HTTP header that lets it, for the next minutes."""


@dataclass(frozen=True, slots=True)
class InstallationSeen:
    """An installation as GitHub describes it."""

    id: int
    suspended: bool
    permissions: Mapping[str, str]
    """Name and level, such as ``issues`` and ``write``."""


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """A delivery that GitHub could not hand over."""

    id: int
    guid: str
    event: str
    delivered_at: str


class AppPort(Protocol):
    """What the App may ask as itself, without an installation."""

    async def failed_deliveries(self, since: str) -> list[FailedDelivery]:
        """Deliveries whose last attempt since then failed, oldest first."""

    async def redeliver(self, delivery_id: int) -> None:
        """Ask GitHub to hand a delivery over again."""

    async def installation(self, number: int) -> InstallationSeen | None:
        """An installation by its id; None where there is none."""

    async def installation_of(self, repository: RepositoryRef) -> InstallationSeen | None:
        """The installation that a repository has now; None where there is none."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The run asked a question."""

    state: BugTriageState
    exchange: HumanExchange


@dataclass(frozen=True, slots=True)
class Finished:
    """The run ended; ``state.report`` is set."""

    state: BugTriageState


@dataclass(frozen=True, slots=True)
class Stopped:
    """The run ended without a result: it is not to be spoken of, or was broken off."""

    reason: str


@dataclass(frozen=True, slots=True)
class Withheld:
    """No analysis is shown: the issue holds a secret that anyone could read (``bot.leaks.holds_secret``)."""


Outcome = Waiting | Finished | Stopped | Withheld


@dataclass(frozen=True, slots=True)
class Effect:
    """What the store knows of one thing that GitHub is to have."""

    kind: str
    """``sticky``, ``question``, ``labels``, ``reaction``, ``answer``, ``reply``, and so on."""
    subject: str
    """Which one of its kind: a question's id, a comment's id, or empty."""
    wanted_hash: str
    payload: str
    done_hash: str | None = None
    intent_at: datetime | None = None
    """When a POST was last about to be sent; aware, UTC."""
    github_id: int | None = None
    """Of the comment that was made."""


class EffectsPort(Protocol):
    """The effects table (SPEC section 8), each method one transaction."""

    async def get(self, issue_key: str, kind: str, subject: str = "") -> Effect | None:
        """What is known of an effect."""

    async def want(self, issue_key: str, kind: str, subject: str, wanted_hash: str, payload: str) -> Effect:
        """Say what GitHub is to have; the latest wins. What is known of it already (id, done, intent) stays."""

    async def claim(self, issue_key: str, kind: str, subject: str, payload: str) -> Effect:
        """Say what GitHub is to have, unless somebody has said it: of several at once exactly one is the first."""

    async def forget(self, issue_key: str, kind: str, subject: str = "") -> None:
        """Forget what is known of an effect: GitHub has it no longer, and the next one is posted anew."""

    async def intent(self, issue_key: str, kind: str, subject: str) -> None:
        """Note, durably, that a POST is about to be sent now."""

    async def done(self, issue_key: str, kind: str, subject: str, done_hash: str, github_id: int | None = None) -> None:
        """Note that GitHub has it; the intent is over."""

    async def pending(self, issue_key: str) -> list[Effect]:
        """Effects that are wanted and not done, oldest first."""

    async def beginning(self, issue_key: str, kind: str, prefix: str) -> list[Effect]:
        """Effects of a kind whose subject begins with a prefix, done or not, by subject."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A row of the questions table: asked once, in this slot, over all runs of the issue."""

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


class QuestionsPort(Protocol):
    """The questions table, for one issue at a time."""

    async def all(self, issue_key: str) -> tuple[AskedQuestion, ...]:
        """Every question that was put, by slot."""

    async def ask(self, issue_key: str, exchange: HumanExchange) -> AskedQuestion:
        """Note a question under its id, in the next slot; one that is there already is returned as it is."""

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
        """Answer, withdraw or expire an open question; a settled one stays as it was settled first."""


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as ``/triage status`` and ``/triage why`` tell of it."""

    number: int
    status: str
    """``queued``, ``running``, ``waiting``, ``finished``, ``stopped``, ``failed``."""
    sha: str
    brain: str
    config_hash: str
    result: Result | None = None
    evidence: tuple[NumberedEvidence, ...] = ()
    """What it gathered, in the order of its numbers."""


@dataclass(frozen=True, slots=True)
class NewSignal:
    """A row for the signals table."""

    kind: SignalKind
    text: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """What a person said of two issues."""

    other: int
    """The other issue's number in the same repository."""
    duplicate: bool
    """False: said not to be one."""


@dataclass(frozen=True, slots=True)
class CommandEffects:
    """What a command leads to. The store's part is applied in one transaction; GitHub's part follows by ``publish``."""

    signals: tuple[NewSignal, ...] = ()
    start: bool = False
    """Queue a new run of the issue (or, with an answer or redirect, its next step)."""
    muted: bool | None = None
    """Set or lift the issue's mute."""
    relations: tuple[Relation, ...] = ()
    add_labels: tuple[str, ...] = ()
    remove_labels: tuple[str, ...] = ()
    reaction: Reaction | None = None
    reply: str | None = None
    """A short comment; most commands need none."""


class ControlPort(Protocol):
    """What commands read of the store, and where what they lead to is written. One issue."""

    async def commands_run(self, comment_id: int) -> tuple[str, ...]:
        """The commands of a comment that were run before, as ``Command.canonical`` writes them, with repetitions."""

    async def last_run(self) -> RunView | None:
        """The issue's newest run."""

    async def questions(self) -> tuple[AskedQuestion, ...]:
        """The questions put on this issue."""

    async def muted(self) -> bool:
        """Did a person tell us to leave this issue alone?"""

    async def limits_met(self) -> tuple[str, ...]:
        """Limits that were met in the repository today, by code."""

    async def apply(self, comment: Comment, ordinal: int, canonical: str, effects: CommandEffects) -> None:
        """Record the command as run and apply the store's part of its effects, in one transaction.

        Keyed by (comment id, updated_at, ordinal): applying it twice is the same as once.
        """
