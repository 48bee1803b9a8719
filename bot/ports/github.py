"""GitHub as the App sees it: repositories, issues, comments, and the calls that the App makes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, Protocol

from bot.limits.writes import WHOLE, WriteBudget

if TYPE_CHECKING:
    from nodes.context import OpenPull

Reaction = Literal["eyes", "rocket", "confused"]


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

    def issue(self, number: int) -> IssueRef:
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


@dataclass(frozen=True, slots=True)
class Rating:
    """A person's 👍 or 👎 on a comment."""

    login: str
    up: bool
    at: float
    """Seconds since 1970."""


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


class GitHubPort(Protocol):
    """One repository under one installation (``GitHub.for_repository(ref)``).

    Every call may raise RetryableError (``after`` is the wait that GitHub asks for, in seconds), RefusedError,
    GoneError or
    SuspendedError. A call that creates something may raise OutcomeUnknownError; the client never repeats such a call.
    """

    async def issue(self, number: int) -> Issue | None:
        """Return the issue, following a transfer; None if it was deleted."""

    async def rendered(self, number: int) -> str:
        """Return an issue and its first hundred comments as HTML, with readable links to private attachments."""

    async def issues(self, *, since: str | None = None, limit: int = 100) -> list[Issue]:
        """Return open issues, newest first, without pull requests; ``since`` is a lower bound of the last change."""

    async def issues_page(self, page: int) -> tuple[list[Issue], bool]:
        """Return up to 100 issues of any state, newest first, without the pull requests; and whether more pages follow.

        Pages count from 1.
        """

    async def open_pulls(self, limit: int) -> list[OpenPull]:
        """Return the open pull requests that changed last, without their files.

        It needs the permission to read pull requests, which is optional.
        """

    async def pull_files(self, number: int) -> tuple[str, ...]:
        """Return the paths of at most 100 files that a pull request changes; it needs the same permission."""

    async def comments(self, number: int, since: str | None = None) -> list[Comment]:
        """Return all comments, oldest first; with ``since``, only those changed at or after it."""

    async def create_comment(self, number: int, body: str, budget: WriteBudget = WHOLE) -> Comment:
        """Post a comment, counted against the given part of the write budget; only status 201 counts as posted."""

    async def has_comment(self, comment_id: int) -> bool:
        """Return whether a comment still exists."""

    async def ratings(self, comment_id: int) -> list[Rating]:
        """Return people's 👍 and 👎 on a comment, at most a hundred; empty if the comment was deleted."""

    async def edit_comment(self, comment_id: int, body: str, budget: WriteBudget = WHOLE) -> None:
        """Replace a comment's text, counted against the given part of the write budget.

        Raises:
            GoneError: a person deleted it.
        """

    async def react_to_issue(self, number: int, content: Reaction) -> None:
        """Add a reaction to an issue; idempotent."""

    async def react_to_comment(self, comment_id: int, content: Reaction) -> None:
        """Add a reaction to a comment; idempotent."""

    async def repository_labels(self) -> frozenset[str]:
        """Return the labels that exist in the repository."""

    async def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Add existing labels to an issue."""

    async def remove_label(self, number: int, label: str) -> None:
        """Remove a label from an issue; do nothing if the issue does not have it."""

    async def issue_types(self) -> frozenset[str]:
        """Return the issue types that the repository has from its organisation; empty on servers without types."""

    async def set_type(self, number: int, name: str, suggestion: Mapping[str, str] | None = None) -> str:
        """Set an issue's type, or suggest it to people with a confidence and a rationale; return the issue's type."""

    async def permission(self, login: str) -> Permission:
        """Return a user's permission, from the API's permission flags; role names are ignored."""

    async def file(self, path: str) -> str | None:
        """Return a text file of the default branch; None if it does not exist.

        Raises:
            UnreadableFileError: the file exists but cannot be read as text.
        """

    async def organisation_file(self, path: str) -> str | None:
        """Return a text file of the owner's ``.github`` repository; None if it is absent or we lack access.

        Raises:
            UnreadableFileError: the file exists but cannot be read as text.
        """

    async def tip(self) -> str | None:
        """Return the newest commit of the default branch; None if GitHub does not return it."""

    async def clone_url_and_header(self) -> tuple[str, str]:
        """Return the URL that git fetches from, and an HTTP authentication header that is valid for some minutes."""


@dataclass(frozen=True, slots=True)
class InstallationSeen:
    """An installation as GitHub's API describes it."""

    id: int
    suspended: bool
    permissions: Mapping[str, str]
    """Permission levels by name, such as ``write`` for ``issues``."""


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """A delivery that GitHub could not deliver."""

    id: int
    guid: str
    event: str
    delivered_at: str


class AppPort(Protocol):
    """API calls that the App makes as itself, without an installation."""

    async def failed_deliveries(self, since: str) -> list[FailedDelivery]:
        """Return deliveries whose last attempt since then failed, oldest first."""

    async def redeliver(self, delivery_id: int) -> None:
        """Ask GitHub to redeliver a delivery."""

    async def installation(self, number: int) -> InstallationSeen | None:
        """Return an installation by its id; None if it does not exist."""

    async def installation_of(self, repository: RepositoryRef) -> InstallationSeen | None:
        """Return the current installation of a repository; None if there is none."""
