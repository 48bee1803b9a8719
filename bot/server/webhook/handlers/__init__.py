"""Turns deliveries into work: one pure function per event, and the table of events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.jobs import Work
from bot.server.webhook.events import Delivery
from bot.server.webhook.handlers import issues, repositories
from bot.server.webhook.handlers.people import Policy

Handler = Callable[[Delivery, Policy], list[Work]]

HANDLERS: Mapping[str, Handler] = {
    "issues": issues.handle_issue,
    "issue_comment": issues.handle_comment,
    "installation": repositories.handle_installation,
    "installation_repositories": repositories.handle_installation,
    "repository": repositories.handle_repository,
}
"""Handlers by event. Every other event is acknowledged and ignored."""


@dataclass(frozen=True, slots=True)
class Handlers:
    """The handlers, with the policy on whose events count."""

    policy: Policy

    def uses(self, event: str) -> bool:
        """Return whether there is a handler for the event."""
        return event in HANDLERS

    def decide(self, delivery: Delivery) -> list[Work]:
        """Return the work that a delivery leads to; empty for most deliveries.

        Raises:
            MalformedError: The payload lacks the object that the event is about.
        """
        return HANDLERS[delivery.event](delivery, self.policy) if self.uses(delivery.event) else []
