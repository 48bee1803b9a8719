"""The values that the parts of the App exchange: GitHub's objects, effects, questions, runs and commands."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Literal
from urllib.parse import urlsplit

from nodes.messages import Message
from nodes.report import TriageReport
from nodes.state import Finished, Waiting

Reaction = Literal["eyes", "rocket", "confused"]
QuestionState = Literal["open", "answered", "withdrawn", "expired"]
SignalKind = Literal["redirect", "stop", "answer", "correction"]
OwnerCheck = Callable[[], Awaitable[None]]
"""Awaited before every write to GitHub.

Raises:
    JobTakenOverError: another attempt has claimed the job.
    StoppedError: a person stopped the run after it started.
"""


@dataclass(frozen=True, slots=True)
class RepositoryRef:
    """A repository under an installation: the id is its identity, owner and name are its current names."""

    host: str
    """Host of its pages, such as ``github.com``."""
    installation_id: int
    id: int
    owner: str
    name: str
    clone_url: str = field(default="", compare=False)
    """The clone URL from the payload; if empty, the client requests it from GitHub."""

    @property
    def key(self) -> str:
        """The permanent key, unaffected by renames."""
        return f"{self.host}/{self.id}"

    def issue(self, number: int) -> "IssueRef":
        """Return the reference to an issue of this repository."""
        return IssueRef(self.host, self.installation_id, self.id, self.owner, self.name, number, self.clone_url)


@dataclass(frozen=True, slots=True)
class IssueRef:
    """An issue by its repository's id and its number; owner and name are the current ones."""

    host: str
    installation_id: int
    repository_id: int
    owner: str
    name: str
    number: int
    clone_url: str = field(default="", compare=False)
    """The repository's clone URL from the payload; if empty, the client requests it from GitHub."""

    @property
    def key(self) -> str:
        """The ``issue_key`` in the store."""
        return f"{self.host}/{self.repository_id}#{self.number}"

    @property
    def repository(self) -> RepositoryRef:
        """The issue's repository."""
        return RepositoryRef(self.host, self.installation_id, self.repository_id, self.owner, self.name, self.clone_url)


@dataclass(frozen=True, slots=True)
class Issue:
    """The current state of an issue on GitHub. ``ref`` is its current place, which changes on a transfer."""

    ref: IssueRef
    title: str
    body: str
    """Empty if GitHub returns null."""
    author_id: int | None
    """None if the account was deleted."""
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
    """GitHub's timestamp; empty if GitHub returns none."""
    reopened: bool = False
    """Whether it was closed and a person opened it again."""
    not_planned: bool = False
    """Whether it was closed because nothing will be done."""
    comments: int | None = None
    """The number of comments; None if GitHub does not return it."""
    type: str | None = None
    """The issue's type, empty if it has none; None where GitHub has no types."""

    @property
    def server_url(self) -> str:
        """The address of the server that has its page, without a trailing slash."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}" if parts.netloc else f"https://{self.ref.host}"


@dataclass(frozen=True, slots=True)
class Comment:
    """The current state of a comment on GitHub."""

    id: int
    author_id: int | None
    author: str
    author_is_bot: bool
    body: str
    url: str
    created_at: str
    """GitHub's timestamp, such as ``2024-01-01T00:00:00Z``; these strings sort by time."""
    updated_at: str
    ours: bool = False
    """Whether this App wrote it, judged by the App's id and not by the comment's text."""


def is_bot(kind: str, login: str) -> bool:
    """Return whether no person acts under an account: an App, a bot, or the substitute for an imported author."""
    return kind in ("Bot", "Mannequin") or login.endswith("[bot]")


class Permission(IntEnum):
    """A user's permission in a repository; each level includes the lower ones."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5


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

    @property
    def is_done(self) -> bool:
        """Whether GitHub has what is wanted."""
        return self.done_hash == self.wanted_hash


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
    messages: Mapping[str, Message] = field(default_factory=dict)
    """Those of the question and its options, by the English sentence."""


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
class PersonJudgement:
    """A person's judgement of the issue's last report."""

    right: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class CommandEffects:
    """The effects of a command. The store's part is applied in one transaction; ``publish`` then applies GitHub's."""

    signals: tuple[NewSignal, ...] = ()
    start: bool = False
    """Queue a new run of the issue (or, with an answer or redirect, its next step)."""
    muted: bool | None = None
    """Set (True) or lift (False) the issue's mute; None leaves it unchanged."""
    relations: tuple[Relation, ...] = ()
    judgement: PersonJudgement | None = None
    add_labels: tuple[str, ...] = ()
    remove_labels: tuple[str, ...] = ()
    reaction: Reaction | None = None
    reply: str | None = None
    """A short reply comment; most commands need none."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """No analysis is shown: the issue contains a publicly readable secret (``nodes.trust.secrets``)."""


Outcome = Waiting | Finished | Withheld


def report_of(outcome: Outcome) -> TriageReport | None:
    """Return the report of a run that ended; None if there is none."""
    return outcome.state.report if isinstance(outcome, Finished) else None
