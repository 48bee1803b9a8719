"""Define the payload fields that are read, and check whether a body fits its event."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, OnErrorOmit, ValidationError, WrapValidator, create_model

from bot.ports import is_bot

T = TypeVar("T")
_SUBJECTS = {
    "issues": {"issue"},
    "issue_comment": {"issue", "comment"},
    "installation": {"installation"},
    "installation_repositories": {"installation"},
    "repository": {"repository"},
}
"""The required parts of each event's payload; beyond them, only parts common to all events are allowed."""
_BESIDE = {"issues": {"label", "milestone"}}
"""Additional parts of some actions of an event."""

_OF_OTHER_EVENTS = (
    *("alert", "check_run", "check_suite", "client_payload", "deployment", "discussion", "forkee", "hook", "key"),
    *("member", "membership", "merge_group", "milestone", "package", "parent_issue", "pages", "project"),
    *("project_card", "project_column", "pull_request", "ref", "release", "repository_ruleset", "review", "rule"),
    *("sha", "starred_at", "sub_issue", "team", "workflow_job", "workflow_run"),
)
"""Parts that distinguish payloads of unused events from those of used ones; their content is not read."""
_OF_SOME_EVENTS = frozenset({*_OF_OTHER_EVENTS, "issue", "comment", "label"})
_PRESENT: Any = dict.fromkeys(_OF_OTHER_EVENTS, (Any, None))
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A string; GitHub's null becomes an empty string."""


def _or_none(value: object, handler: Callable[[object], object]) -> object:
    try:
        return handler(value)
    except ValidationError:
        return None


Optional = Annotated[T | None, WrapValidator(_or_none)]
"""A field that handlers do not require: an invalid value becomes None, so that the delivery is still accepted."""
OptionalText = Annotated[Text, WrapValidator(lambda value, handler: _or_none(value, handler) or "")]
"""A string that handlers do not require: an invalid value becomes an empty string."""
OptionalItems = Optional[tuple[OnErrorOmit[T], ...]]
"""A list whose invalid items are dropped; None if the value is not a list."""


class _PayloadPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class User(_PayloadPart):
    """A person, a bot or an organisation."""

    id: Optional[int] = None
    login: OptionalText = ""
    type: OptionalText = ""

    @property
    def is_bot(self) -> bool:
        """Whether no person acts under this account."""
        return is_bot(self.type, self.login)


class _Label(_PayloadPart):
    name: Text = ""


class IssuePart(_PayloadPart):
    """An issue as it was when the delivery was created."""

    number: int
    user: Optional[User] = None
    pull_request: Any = None
    """Any value but null means that it is a pull request."""


class CommentPart(_PayloadPart):
    """A comment as it was when the delivery was created."""

    id: int
    user: Optional[User] = None
    body: Text = ""
    html_url: OptionalText = ""
    created_at: OptionalText = ""
    updated_at: OptionalText = ""


class RepositoryPart(_PayloadPart):
    """A repository; installation events identify it by ``id`` and names only, without owner or URLs."""

    id: int
    name: OptionalText = ""
    full_name: OptionalText = ""
    html_url: OptionalText = ""
    clone_url: OptionalText = ""
    owner: Optional[User] = None
    private: Optional[bool] = None
    archived: Optional[bool] = None


class _InstallationPart(_PayloadPart):
    id: int
    account: Optional[User] = None
    html_url: OptionalText = ""


class _From(_PayloadPart):
    old_issue: Optional[IssuePart] = None
    old_repository: Optional[RepositoryPart] = None
    new_issue: Optional[IssuePart] = None
    new_repository: Optional[RepositoryPart] = None
    body: Optional[dict[str, Any]] = None


class Payload(_PayloadPart):
    """The fields of a delivery's body that are read; all other fields are ignored."""

    action: Text = ""
    sender: Optional[User] = None
    issue: IssuePart | None = None
    comment: CommentPart | None = None
    repository: RepositoryPart | None = None
    installation: _InstallationPart | None = None
    label: Optional[_Label] = None
    changes: Annotated[_From, WrapValidator(lambda value, handler: _or_none(value, handler) or _From())] = _From()
    organization: Any = None
    repositories: OptionalItems[RepositoryPart] = None
    repositories_added: OptionalItems[RepositoryPart] = None
    repositories_removed: OptionalItems[RepositoryPart] = None


class AnyPayload(_PayloadPart):
    """A JSON object with any content."""


DistinctPayload = create_model("DistinctPayload", __base__=Payload, **_PRESENT)
"""A payload that remembers which of these parts it has, for ``mismatch``."""


def mismatch(event: str, payload: Payload) -> str:
    """Return why a body cannot be a payload of this event; empty if it can, or if the event is not used.

    The check prevents a captured delivery from being sent as another event, since the signature covers only the body.
    """
    needed = _SUBJECTS.get(event)
    if needed is None:
        return ""
    if missing := sorted(name for name in needed if getattr(payload, name) is None):
        return f"{', '.join(missing)} missing"
    if event.startswith("installation"):
        return _misfit_of_installation(event, payload)
    foreign = (payload.model_fields_set & _OF_SOME_EVENTS) - needed - _BESIDE.get(event, set())
    return f"unexpected {', '.join(sorted(foreign))}" if foreign else ""


def _misfit_of_installation(event: str, payload: Payload) -> str:
    """Return why a payload does not fit an installation event; only these describe an installation's account."""
    if payload.repository is not None or payload.organization is not None:
        return "it is about a repository or an organisation"
    if payload.installation is None or payload.installation.account is None:
        return "no account in it"
    lists = payload.repositories_added is not None or payload.repositories_removed is not None
    return "" if lists == (event == "installation_repositories") else "other lists of repositories"
