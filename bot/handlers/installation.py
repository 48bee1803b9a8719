"""Installation events: record which repositories are accessible. Installing starts no run on old issues."""

from __future__ import annotations

from typing import Literal, get_args

from bot.events import Delivery
from bot.handlers.people import Policy
from bot.jobs import InstallationChanged, Work

_How = Literal["created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"]


def handle(delivery: Delivery, _policy: Policy) -> list[Work]:
    """Record who installed the App, for which repositories, and whether it is suspended."""
    said = delivery.payload
    if said.installation is None:
        return []
    if delivery.event == "installation_repositories":
        how: _How | Literal["repositories"] = "repositories"
    elif said.action in get_args(_How):
        how = said.action  # type: ignore[assignment]  # checked in the line above
    else:
        return []
    account = said.installation.account
    added = (*(said.repositories or ()), *(said.repositories_added or ()))
    return [
        InstallationChanged(
            host=delivery.host,
            id=said.installation.id,
            account=account.login if account else "",
            how=how,
            added=tuple(map(delivery.named, added)) if how != "deleted" else (),
            removed=tuple(part.id for part in said.repositories_removed or ()),
        )
    ]
