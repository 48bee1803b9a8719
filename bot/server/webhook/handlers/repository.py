"""Repository events: new names, new owners, archiving and deletion; the repository's id does not change."""

from __future__ import annotations

from typing import Literal, get_args

from bot.jobs import RepositoryChanged, Work
from bot.server.webhook.events import Delivery
from bot.server.webhook.handlers.people import Policy

_How = Literal["renamed", "transferred", "archived", "unarchived", "privatized", "publicized", "deleted"]


def handle(delivery: Delivery, _policy: Policy) -> list[Work]:
    """Record a repository's name, owner and visibility, and whether it is archived."""
    part = delivery.payload.repository
    if part is None or delivery.action not in get_args(_How):
        return []
    how: _How = delivery.action  # type: ignore[assignment]  # checked above
    return [
        RepositoryChanged(ref=delivery.repository, how=how, private=bool(part.private), archived=bool(part.archived))
    ]
