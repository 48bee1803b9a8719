"""The shape of payloads: the fields that are read, and whether a body can be a payload of its event."""

from __future__ import annotations

import contextlib
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)


def _text(value: object) -> object:
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_text)]
"""A string; GitHub's null is an empty one."""


T = TypeVar("T")


def _or_none(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    try:
        return handler(value)
    except ValidationError:
        return None


def _or_empty(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    return _or_none(value, handler) or ""


def _sound_ones(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    """Those items of a list that are sound; None instead of anything that is no list."""
    if not isinstance(value, list):
        return None
    sound: list[object] = []
    for item in value:
        with contextlib.suppress(ValidationError):
            sound.extend(handler([item]))
    return tuple(sound)


Optional = Annotated[T | None, WrapValidator(_or_none)]
"""What a handler can do without: an odd value counts as none, since it must not cost the delivery."""
OptionalText = Annotated[Text, WrapValidator(_or_empty)]
"""A string that a handler can do without."""
OptionalItems = Annotated[tuple[T, ...] | None, WrapValidator(_sound_ones)]
"""A list of which the sound items count."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class User(_Part):
    """A person, a bot or an organisation."""

    id: Optional[int] = None
    login: OptionalText = ""
    type: OptionalText = ""

    @property
    def is_bot(self) -> bool:
        """Whether no person writes under this name."""
        return self.type in ("Bot", "Mannequin") or self.login.endswith("[bot]")


class _App(_Part):
    id: Optional[int] = None


class _Label(_Part):
    name: Text = ""


class IssuePart(_Part):
    """An issue as it was when the delivery was made."""

    number: int
    user: Optional[User] = None
    pull_request: Any = None
    """Anything but null means that it is a pull request."""
    performed_via_github_app: Optional[_App] = None


class CommentPart(_Part):
    """A comment as it was when the delivery was made."""

    id: int
    user: Optional[User] = None
    body: Text = ""
    html_url: OptionalText = ""
    created_at: OptionalText = ""
    updated_at: OptionalText = ""
    performed_via_github_app: Optional[_App] = None


class RepositoryPart(_Part):
    """A repository; installation events name them by ``full_name`` alone."""

    id: int
    name: OptionalText = ""
    full_name: OptionalText = ""
    html_url: OptionalText = ""
    clone_url: OptionalText = ""
    owner: Optional[User] = None
    private: Optional[bool] = None
    archived: Optional[bool] = None


class _InstallationPart(_Part):
    id: int
    account: Optional[User] = None
    html_url: OptionalText = ""


class _From(_Part):
    old_issue: Optional[IssuePart] = None
    old_repository: Optional[RepositoryPart] = None
    new_issue: Optional[IssuePart] = None
    new_repository: Optional[RepositoryPart] = None
    body: Optional[dict[str, Any]] = None


class Subjects(_Part):
    """The parts by which payloads of other events are told from those that are used; their content is not read."""

    alert: Any = None
    check_run: Any = None
    check_suite: Any = None
    deployment: Any = None
    discussion: Any = None
    forkee: Any = None
    hook: Any = None
    key: Any = None
    member: Any = None
    membership: Any = None
    milestone: Any = None
    package: Any = None
    parent_issue: Any = None
    pages: Any = None
    project: Any = None
    pull_request: Any = None
    ref: Any = None
    release: Any = None
    review: Any = None
    rule: Any = None
    sub_issue: Any = None
    team: Any = None
    workflow_run: Any = None


class Payload(Subjects):
    """The fields of a delivery's body that are read; all others are ignored."""

    action: Text = ""
    sender: Optional[User] = None
    issue: IssuePart | None = None
    comment: CommentPart | None = None
    repository: RepositoryPart | None = None
    installation: _InstallationPart | None = None
    label: Optional[_Label] = None
    changes: Optional[_From] = None
    organization: Any = None
    repositories: OptionalItems[RepositoryPart] = None
    repositories_added: OptionalItems[RepositoryPart] = None
    repositories_removed: OptionalItems[RepositoryPart] = None


class AnyPayload(_Part):
    """An object, whatever is in it."""


_OF_SOME_EVENTS = frozenset({*Subjects.model_fields, "issue", "comment", "label"})
_SUBJECTS = {
    "issues": {"issue"},
    "issue_comment": {"issue", "comment"},
    "installation": {"installation"},
    "installation_repositories": {"installation"},
    "repository": {"repository"},
}
"""The parts that payloads of an event have; of the others, only what comes with every event may be there."""
_BESIDE = {"issues": {"label", "milestone"}}
"""Parts that only some actions of an event have."""


def misfit(event: str, payload: Payload) -> str:
    """Why a body cannot be a payload of this event; empty if it can, or if the event is not one of those used."""
    needed = _SUBJECTS.get(event)
    if needed is None:
        return ""
    if missing := sorted(name for name in needed if getattr(payload, name) is None):
        return f"{', '.join(missing)} missing in it"
    if event.startswith("installation"):
        return _misfit_of_installation(event, payload)
    foreign = (payload.model_fields_set & _OF_SOME_EVENTS) - needed - _BESIDE.get(event, set())
    return f"{', '.join(sorted(foreign))} in it" if foreign else ""


def _misfit_of_installation(event: str, payload: Payload) -> str:
    """Every event names its installation, by id alone; these two describe it."""
    if payload.repository is not None or payload.organization is not None:
        return "it is about a repository or an organisation"
    if payload.installation is None or payload.installation.account is None:
        return "no account in it"
    lists = payload.repositories_added is not None or payload.repositories_removed is not None
    return "" if lists == (event == "installation_repositories") else "other lists of repositories"
