"""Installation and repository events: which repositories are accessible, and under which names."""

from __future__ import annotations

from typing import Literal, get_args

from bot.jobs import InstallationChanged, RepositoryChanged, Work
from bot.server.webhook.events import Delivery
from bot.server.webhook.handlers.people import Policy

_Installed = Literal["created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"]
_Changed = Literal["renamed", "transferred", "archived", "unarchived", "privatized", "publicized", "deleted"]


def handle_installation(delivery: Delivery, _policy: Policy) -> list[Work]:
    """Record who installed the App, for which repositories, and whether it is suspended."""
    payload = delivery.payload
    if payload.installation is None:
        return []
    if delivery.event == "installation_repositories":
        how: _Installed | Literal["repositories"] = "repositories"
    elif payload.action in get_args(_Installed):
        how = payload.action  # type: ignore[assignment]  # checked in the line above
    else:
        return []
    account = payload.installation.account
    added = (*(payload.repositories or ()), *(payload.repositories_added or ()))
    return [
        InstallationChanged(
            host=delivery.host,
            id=payload.installation.id,
            account=account.login if account else "",
            how=how,
            # GitHub lists the repositories of a deleted installation too, although they are no longer accessible.
            added=tuple(map(delivery.named, added)) if how != "deleted" else (),
            removed=tuple(part.id for part in payload.repositories_removed or ()),
        )
    ]


def handle_repository(delivery: Delivery, _policy: Policy) -> list[Work]:
    """Record a repository's name, owner and visibility, and whether it is archived."""
    part = delivery.payload.repository
    if part is None or delivery.action not in get_args(_Changed):
        return []
    how: _Changed = delivery.action  # type: ignore[assignment]  # checked above
    return [
        RepositoryChanged(ref=delivery.repository, how=how, private=bool(part.private), archived=bool(part.archived))
    ]
