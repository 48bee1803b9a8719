"""Converts GitHub's JSON to the bot's types; missing fields have defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bot.ports import Comment, FailedDelivery, Issue, IssueRef, Permission, RepositoryRef

MAX_BODY = 131_072
"""Characters; GitHub itself accepts at most 65,536."""
_REPOSITORY = re.compile(r"/repos/([^/]{1,100})/([^/]{1,100})$")
_FLAGS = (
    ("admin", Permission.ADMIN),
    ("maintain", Permission.MAINTAIN),
    ("push", Permission.WRITE),
    ("triage", Permission.TRIAGE),
    ("pull", Permission.READ),
)
_ROLES = {
    "admin": Permission.ADMIN,
    "maintain": Permission.MAINTAIN,
    "write": Permission.WRITE,
    "triage": Permission.TRIAGE,
    "read": Permission.READ,
}

Json = Mapping[str, Any]


def issue_of(data: Json, repository: RepositoryRef) -> Issue:
    """An issue. Owner and name of the repository are those in the JSON, which are current."""
    named = _REPOSITORY.search(str(data.get("repository_url") or ""))
    if named:
        repository = replace(repository, owner=named[1], name=named[2])
    user = data.get("user") or {}
    return Issue(
        ref=ref_of(repository, int(data["number"])),
        title=text(data.get("title"))[:1_024],
        body=text(data.get("body"))[:MAX_BODY],
        author_id=user.get("id"),
        author=text(user.get("login")),
        author_is_bot=is_bot(user),
        state=text(data.get("state")) or "open",
        locked=bool(data.get("locked")),
        labels=tuple(filter(None, (_label(label) for label in data.get("labels") or ()))),
        url=text(data.get("html_url")),
        updated_at=text(data.get("updated_at")),
        is_pull_request=bool(data.get("pull_request")),
        created_at=text(data.get("created_at")),
        comments=data["comments"] if isinstance(data.get("comments"), int) else None,
    )


def ref_of(repository: RepositoryRef, number: int) -> IssueRef:
    """The reference to an issue of a repository."""
    return IssueRef(
        host=repository.host,
        installation_id=repository.installation_id,
        repository_id=repository.id,
        owner=repository.owner,
        name=repository.name,
        number=number,
        clone_url=repository.clone_url,
    )


def comment_of(data: Json, is_ours: Callable[[Json], bool]) -> Comment:
    """A comment.

    Args:
        data: GitHub's JSON.
        is_ours: Decides from the JSON's author whether the App wrote the comment.
    """
    user = data.get("user") or {}
    return Comment(
        id=int(data["id"]),
        author_id=user.get("id"),
        author=text(user.get("login")),
        author_is_bot=is_bot(user),
        body=text(data.get("body"))[:MAX_BODY],
        url=text(data.get("html_url")),
        created_at=text(data.get("created_at")),
        updated_at=text(data.get("updated_at")),
        ours=is_ours(data),
    )


def permission_of(data: Json) -> Permission:
    """The highest flag that is set; without flags the role, else the permission, which is "read" for triage."""
    user = data.get("user")
    flags = user.get("permissions") if isinstance(user, Mapping) else None
    if isinstance(flags, Mapping):
        return next((permission for flag, permission in _FLAGS if flags.get(flag)), Permission.NONE)
    # An organisation's custom role may have any name; its permission is that of the role it is based on.
    named = (text(data.get("role_name")), text(data["permission"]))
    return next((_ROLES[name] for name in named if name in _ROLES), Permission.NONE)


def delivery_of(data: Json) -> FailedDelivery:
    """A failed delivery from the App's log."""
    return FailedDelivery(
        id=int(data["id"]), guid=text(data["guid"]), event=text(data["event"]), delivered_at=text(data["delivered_at"])
    )


def is_bot(user: Json) -> bool:
    """Whether the account is an App or a bot."""
    return user.get("type") == "Bot" or text(user.get("login")).endswith("[bot]")


def text(value: object) -> str:
    """A string that can be stored and printed; JSON may hold lone surrogates, or null."""
    return "" if value is None else str(value).encode("utf-8", "replace").decode()


def _label(label: object) -> str:
    return text(label.get("name")) if isinstance(label, Mapping) else text(label)
