"""Installation events: record which repositories are accessible. Installing starts no run on old issues."""

from __future__ import annotations

from typing import Literal, get_args

from bot.jobs import InstallationChanged, Work
from bot.server.webhook.events import Delivery
from bot.server.webhook.handlers.people import Policy

_How = Literal["created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"]


def handle(delivery: Delivery, _policy: Policy) -> list[Work]:
    """Record who installed the App, for which repositories, and whether it is suspended."""
    payload = delivery.payload
    if payload.installation is None:
        return []
    if delivery.event == "installation_repositories":
        how: _How | Literal["repositories"] = "repositories"
    elif payload.action in get_args(_How):
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
