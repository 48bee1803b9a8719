"""Repositories: new names, new owners, archives; the id stays what it was."""

from __future__ import annotations

from typing import Literal, get_args

from bot.events import Delivery
from bot.handlers.people import Policy
from bot.jobs import RepositoryChanged, Work

_How = Literal["renamed", "transferred", "archived", "unarchived", "privatized", "publicized", "deleted"]


def handle(delivery: Delivery, _policy: Policy) -> list[Work]:
    """Note what a repository is called, where it is, and whether it may still be written to."""
    part = delivery.payload.repository
    if part is None or delivery.action not in get_args(_How):
        return []
    how: _How = delivery.action  # type: ignore[assignment]  # it is one of them, as was just looked up
    return [
        RepositoryChanged(ref=delivery.repository, how=how, private=bool(part.private), archived=bool(part.archived))
    ]
