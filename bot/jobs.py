"""What is left to do after a delivery, as values: a job says what happened, the worker decides what it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from bot.limits import installation_key
from bot.ports import Comment, IssueRef, RepositoryRef

Lane = Literal["run", "control"]
EDIT_DELAY = 60.0
"""Seconds within which edits of an issue count as one change (SPEC section 7)."""

PATIENCE = 14 * 86_400.0
"""Seconds for which a question waits (SPEC section 7)."""


class _Work(BaseModel):
    """Something to do, as it is stored."""

    model_config = ConfigDict(frozen=True)
    lane: ClassVar[Lane] = "run"
    rest: ClassVar[float] = 0.0
    merges: ClassVar[bool] = False
    """An equal one that waits is put off instead of storing a second."""

    @property
    def delay(self) -> float:
        """Seconds to wait before it is begun."""
        return self.rest

    @property
    def may_repeat(self) -> bool:
        """Whether a person may ask for the same several times in a row."""
        return False

    def repeats(self, last: _Work) -> bool:
        """Whether it asks for no more than the job that waits right before it in the queue."""
        return self == last


class _IssueWork(_Work):
    ref: IssueRef

    @property
    def installation(self) -> str:
        """The installation whose turn it takes."""
        return installation_key(self.ref.host, self.ref.installation_id)

    @property
    def key(self) -> str:
        """What it is ordered by."""
        return self.ref.key


class Triage(_IssueWork):
    """Look at an issue from the start."""

    kind: Literal["triage"] = "triage"
    why: Literal["opened", "reopened", "command", "backfill", "restart"]
    moved_from: str | None = None
    """The key of the issue that this one was before it was transferred."""
    by: int | None = None
    """Who asked for it by a command, by id."""
    asked_in: int | None = None
    """The comment with that command: who gave it is told if nothing comes of it."""

    @property
    def may_repeat(self) -> bool:
        """A second `/triage` asks for the run that waits already."""
        return self.why == "command"


class Edited(_IssueWork):
    """Title or body changed: it may answer a question, or call for another look."""

    kind: Literal["edited"] = "edited"
    rest: ClassVar[float] = EDIT_DELAY
    merges: ClassVar[bool] = True


class Reply(_IssueWork):
    """A person commented: it may answer a question."""

    kind: Literal["reply"] = "reply"
    comment: Comment


class Continue(_IssueWork):
    """Take up the issue's run where it stands: a person redirected, answered or lifted a mute by a command."""

    kind: Literal["continue"] = "continue"
    asked_in: int | None = None
    """As a triage's."""

    @property
    def may_repeat(self) -> bool:
        """The one that waits reads every signal that came before it begins."""
        return True


class Expire(_IssueWork):
    """A question has waited long enough."""

    kind: Literal["expire"] = "expire"
    rest: ClassVar[float] = PATIENCE
    question_id: str


class Commands(_IssueWork):
    """A person wrote something that may be a command."""

    kind: Literal["commands"] = "commands"
    lane: ClassVar[Lane] = "control"
    comment: Comment
    sender: str = ""
    """Whose delivery it is: on an edit that may be another than the comment's author. Their permission counts."""
    sender_id: int | None = None
    edited: bool = False
    before: str | None = None
    """The text before an edit, as the delivery says."""

    @property
    def may_repeat(self) -> bool:
        """A person may comment often."""
        return True

    def repeats(self, last: _Work) -> bool:
        """The same person writes the same again in another comment, before the first one was read."""
        return (
            isinstance(last, Commands)
            and (self.ref, self.sender_id, self.comment.author_id) == (last.ref, last.sender_id, last.comment.author_id)
            and self.comment.body.split() == last.comment.body.split()
        )


class CommentDeleted(_IssueWork):
    """A person deleted a comment of a bot, perhaps ours."""

    kind: Literal["comment_deleted"] = "comment_deleted"
    lane: ClassVar[Lane] = "control"
    comment_id: int


class LeftOver(_IssueWork):
    """Leave what GitHub's limits did not let us leave at once: reactions, mostly."""

    kind: Literal["left_over"] = "left_over"
    lane: ClassVar[Lane] = "control"
    rest: ClassVar[float] = 90.0
    merges: ClassVar[bool] = True
    again: int = 0
    """How often it was tried before."""

    @property
    def delay(self) -> float:
        """Longer each time, up to an hour: limits may hold for a day."""
        return min(self.rest * 2.0 ** min(self.again, 10), 3_600.0)


class Ended(_IssueWork):
    """The issue was closed, deleted or moved away."""

    kind: Literal["ended"] = "ended"
    lane: ClassVar[Lane] = "control"
    how: Literal["closed", "deleted", "transferred"]
    moved_to: str | None = None


class Score(_IssueWork):
    """Look for the commit that closed the issue, and compare what it changed with what was reported."""

    kind: Literal["score"] = "score"


class Labelled(_IssueWork):
    """A person put a label on or took one off."""

    kind: Literal["labelled"] = "labelled"
    lane: ClassVar[Lane] = "control"
    label: str
    added: bool
    actor: str


class LearnPast(_Work):
    """Read the next page of a repository's old issues, to compare new ones with."""

    kind: Literal["learn_past"] = "learn_past"
    lane: ClassVar[Lane] = "control"
    rest: ClassVar[float] = 5.0
    ref: RepositoryRef

    @property
    def installation(self) -> str:
        """The installation whose turn it takes."""
        return installation_key(self.ref.host, self.ref.installation_id)

    @property
    def key(self) -> str:
        """What it is ordered by; an issue that there never is stands for the repository."""
        return f"{self.ref.key}#0"


class ApiRun(_Work):
    """Triage what was asked for over HTTP; what that is stands in its own row."""

    kind: Literal["api_run"] = "api_run"
    ref: RepositoryRef
    id: str

    @property
    def installation(self) -> str:
        """The installation whose turn it takes."""
        return installation_key(self.ref.host, self.ref.installation_id)

    @property
    def key(self) -> str:
        """What it is ordered by: a repository has one at a time, so that they cannot fill every slot."""
        return f"{self.ref.key}#0"


class InstallationChanged(_Work):
    """The App was installed, removed, suspended, or given other repositories."""

    kind: Literal["installation"] = "installation"
    lane: ClassVar[Lane] = "control"
    host: str
    id: int
    account: str = ""
    how: Literal["created", "deleted", "suspend", "unsuspend", "new_permissions_accepted", "repositories"]
    added: tuple[RepositoryRef, ...] = ()
    removed: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """What it is ordered by."""
        return installation_key(self.host, self.id)

    @property
    def installation(self) -> str:
        """The installation whose turn it takes."""
        return self.key


class RepositoryChanged(_Work):
    """A repository was renamed, moved, archived, hidden, shown or deleted."""

    kind: Literal["repository"] = "repository"
    lane: ClassVar[Lane] = "control"
    ref: RepositoryRef
    how: Literal["renamed", "transferred", "archived", "unarchived", "privatized", "publicized", "deleted"]
    private: bool = False
    archived: bool = False

    @property
    def installation(self) -> str:
        """The installation whose turn it takes."""
        return installation_key(self.ref.host, self.ref.installation_id)

    @property
    def key(self) -> str:
        """What it is ordered by."""
        return self.ref.key


OnIssueWork = (
    Triage | Edited | Reply | Continue | Expire | Commands | LeftOver | CommentDeleted | Ended | Score | Labelled
)
Work = OnIssueWork | LearnPast | ApiRun | InstallationChanged | RepositoryChanged
_stored: TypeAdapter[Work] = TypeAdapter(Annotated[Work, Field(discriminator="kind")])


@dataclass(frozen=True, slots=True)
class Job:
    """A stored job, claimed by an attempt."""

    id: int
    work: Work
    attempt: int
    """Which attempt this is, from 1; a write to GitHub is allowed to the newest alone."""
    owner: str
    delivery: str = ""
    """The delivery, or the job, that it follows from."""
    waited: int = 0
    """How many attempts before this one ended because a limit was reached, which is nobody's fault."""
    late: int = 0
    """How many attempts before this one took longer than a job may, as far as this process knows."""

    @property
    def tried(self) -> int:
        """Which attempt this is, limits aside, from 1."""
        return self.attempt - self.waited


def dump(work: Work) -> str:
    """Write work as it is stored."""
    return work.model_dump_json()


def load(text: str) -> Work:
    """Read stored work."""
    return _stored.validate_json(text)
