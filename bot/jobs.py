"""The jobs that follow from deliveries, as values: a job records what happened, the worker decides what to do."""

import json
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from bot.errors import BotError
from bot.limits.writes import installation_key
from bot.ports import Comment, RepositoryRef
from bot.work import BaseWork, ControlWork, IssueWork, Lane, PlacedWork, RepositoryWork

EDIT_DELAY = 60.0
"""Seconds within which edits of an issue are merged into one (SPEC section 7)."""

QUESTION_SECONDS = 14 * 86_400.0
"""Seconds until an unanswered question expires (SPEC section 7)."""
PageCommandName = Literal["triage", "right", "wrong"]
MAX_ARGUMENT = 600
"""Characters of a command's argument; the rest is cut off."""


# Jobs are stored as JSON: a new field needs a default, and no field may be renamed while old jobs wait or the processes
# of two releases share a database.
class Triage(IssueWork):
    """Triage an issue from the start."""

    kind: Literal["triage"] = "triage"
    why: Literal["opened", "reopened", "command", "backfill", "restart"]
    moved_from: str | None = None
    """The key that the issue had before it was transferred."""
    by: int | None = None
    """The id of the user who requested it with a command."""
    asked_in: int | None = None
    """The id of the comment with that command; its author receives a reply if the run has no result."""
    actor: str = ""
    """The login of the user who requested it with a command."""

    @property
    def may_repeat(self) -> bool:
        """A second `/triage` requests the run that already waits."""
        return self.why == "command"


class Edited(IssueWork):
    """Handle a changed title or body: it may answer a question or need a new triage."""

    kind: Literal["edited"] = "edited"
    rest: ClassVar[float] = EDIT_DELAY
    merges: ClassVar[bool] = True


class Reply(IssueWork):
    """Handle a person's comment: it may answer a question."""

    kind: Literal["reply"] = "reply"
    comment: Comment


class Continue(IssueWork):
    """Resume the issue's run after a command that redirects it, answers a question or lifts a mute."""

    kind: Literal["continue"] = "continue"
    repeatable: ClassVar[bool] = True  # the waiting job reads every signal that arrives before it starts
    asked_in: int | None = None
    """The id of the comment with the command, as in `Triage`."""
    actor: str = ""


class Expire(IssueWork):
    """Expire a question that was not answered in time."""

    kind: Literal["expire"] = "expire"
    rest: ClassVar[float] = QUESTION_SECONDS
    question_id: str


class Commands(ControlWork):
    """Run the commands in a person's comment, if it contains any."""

    kind: Literal["commands"] = "commands"
    repeatable: ClassVar[bool] = True
    comment: Comment
    sender: str = ""
    """Login of the user who caused the delivery. Their permission counts; an editor may differ from the author."""
    sender_id: int | None = None
    edited: bool = False
    before: str | None = None
    """The text before the edit, from the delivery."""

    def repeats(self, last: BaseWork) -> bool:
        """Return whether the same person repeats the same text in another comment before the first is processed."""
        return (
            isinstance(last, Commands)
            and (self.ref, self.sender_id, self.comment.author_id) == (last.ref, last.sender_id, last.comment.author_id)
            and self.comment.body.split() == last.comment.body.split()
        )


class Remind(IssueWork):
    """Remind once of a question that is still open."""

    kind: Literal["remind"] = "remind"
    question_id: str
    after: float
    """Seconds from the question to the reminder."""

    @property
    def delay(self) -> float:
        """The repository's setting when the question was asked."""
        return self.after


class Alert(ControlWork):
    """Alert maintainers to a crash that several people report; the issue is the first that reports it."""

    kind: Literal["alert"] = "alert"
    fingerprint: str
    at: float
    """When the alert became due, in seconds since 1970."""


class PageCommand(ControlWork):
    """Run a command that a person gave on the page of a run."""

    kind: Literal["page_command"] = "page_command"
    repeatable: ClassVar[bool] = True
    name: PageCommandName
    argument: str = ""
    by: str
    """Login of the person who was logged in; their permission on GitHub counts when the job runs."""
    by_id: int | None = None
    is_operator: bool = False
    """The operator's token was used, which needs no permission on GitHub."""


class CommentDeleted(ControlWork):
    """Handle a person's deletion of a bot's comment, which may be ours."""

    kind: Literal["comment_deleted"] = "comment_deleted"
    comment_id: int


class LeftOver(ControlWork):
    """Retry the writes, mostly reactions, that GitHub's limits delayed."""

    kind: Literal["left_over"] = "left_over"
    rest: ClassVar[float] = 90.0
    merges: ClassVar[bool] = True
    again: int = 0

    @property
    def delay(self) -> float:
        """Seconds to wait, doubled with each try up to an hour, since limits may last a day."""
        # The exponent is bounded too, because a float overflows at 2**1024.
        return min(self.rest * 2.0 ** min(self.again, 10), 3_600.0)


class Ended(ControlWork):
    """Handle an issue that was closed, deleted or transferred."""

    kind: Literal["ended"] = "ended"
    # Not behind a run: a run in progress reads before each write whether its issue has ended.
    how: Literal["closed", "deleted", "transferred"]
    moved_to: str | None = None


class Score(IssueWork):
    """Find the commit that closed the issue and compare its changes with the report."""

    kind: Literal["score"] = "score"


class Labelled(ControlWork):
    """Handle a label that a person added or removed."""

    kind: Literal["labelled"] = "labelled"
    label: str
    added: bool
    actor: str


class Typed(ControlWork):
    """Handle an issue's type that a person set or removed."""

    kind: Literal["typed"] = "typed"


class LearnPast(RepositoryWork):
    """Read the next page of a repository's past issues, for comparison with new ones."""

    kind: Literal["learn_past"] = "learn_past"
    lane: ClassVar[Lane] = "control"
    rest: ClassVar[float] = 5.0


class ApiRun(RepositoryWork):
    """Triage an issue submitted over the HTTP API; its text is stored in a row of its own."""

    # One at a time for each repository, so that API runs never occupy every slot.
    kind: Literal["api_run"] = "api_run"
    id: str


class NoLongerDone(PlacedWork):
    """Work that an earlier release stored; it is settled without effect."""

    kind: Literal["notify", "digest", "judge_labels"]


class InstallationChanged(BaseWork):
    """Handle an installation that was created, deleted, suspended or given other repositories or permissions."""

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
        """The ordering key: jobs of one lane with equal keys run one at a time, in order."""
        return installation_key(self.host, self.id)

    @property
    def installation(self) -> str:
        """The key of the installation, for fair scheduling between installations."""
        return self.key


class RepositoryChanged(PlacedWork):
    """Handle a repository that was renamed, transferred, archived, unarchived, deleted or changed in visibility."""

    kind: Literal["repository"] = "repository"
    ref: RepositoryRef
    lane: ClassVar[Lane] = "control"
    how: Literal["renamed", "transferred", "archived", "unarchived", "privatized", "publicized", "deleted"]
    private: bool = False
    archived: bool = False


_InRunLane = Triage | Edited | Reply | Continue | Expire | Remind | Score
_InControlLane = Alert | Commands | PageCommand | LeftOver | CommentDeleted | Ended | Labelled | Typed
OnIssueWork = _InRunLane | _InControlLane
Work = OnIssueWork | LearnPast | ApiRun | NoLongerDone | InstallationChanged | RepositoryChanged
# ``kind`` chooses the class, so a row of an older release is parsed as the class of the same name today.
_stored: TypeAdapter[Work] = TypeAdapter(
    Annotated[Work, Field(discriminator="kind")], config=ConfigDict(defer_build=True)
)


class UnknownWorkError(BotError):
    """A newer release stored the work, and only its processes can run it."""


@dataclass(frozen=True, slots=True)
class Job:
    """A stored job that an attempt has claimed."""

    id: int
    work: Work
    attempt: int
    """The number of this attempt, from 1; only the newest attempt may write to GitHub."""
    owner: str
    delivery: str = ""
    """The delivery or job that caused this job."""
    waited: int = 0
    """The number of earlier attempts that ended because a limit was reached; they do not count as failures."""
    late: int = 0
    """The number of earlier attempts that exceeded the job's time limit, as far as this process knows."""

    @property
    def tried(self) -> int:
        """The number of this attempt, from 1, without attempts that ended at a limit."""
        return self.attempt - self.waited


def load(text: str) -> Work:
    """Parse stored work; raises ``UnknownWorkError`` for work that this release cannot read."""
    try:
        return _stored.validate_json(text)
    except ValidationError as error:
        raise UnknownWorkError(f"this release does not know the job {kind_of(text)!r}") from error


def kind_of(text: str) -> str:
    """Return the kind of stored work, also of work that only a newer release knows."""
    return str(json.loads(text)["kind"])
