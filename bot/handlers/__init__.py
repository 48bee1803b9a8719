"""What a delivery asks for: one pure function an event, and the table that names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.events import Delivery
from bot.handlers import installation, issue_comment, issues, repository
from bot.handlers.people import Policy
from bot.jobs import Work

Handler = Callable[[Delivery, Policy], list[Work]]

HANDLERS: Mapping[str, Handler] = {
    "issues": issues.handle,
    "issue_comment": issue_comment.handle,
    "installation": installation.handle,
    "installation_repositories": installation.handle,
    "repository": repository.handle,
}
"""Every other event is acknowledged and forgotten."""


@dataclass(frozen=True, slots=True)
class Handlers:
    """The table, with whom to listen to."""

    policy: Policy

    def uses(self, event: str) -> bool:
        """Whether anything follows from events of this name."""
        return event in HANDLERS

    def decide(self, delivery: Delivery) -> list[Work]:
        """What there is to do; nothing for most deliveries.

        Raises:
            MalformedError: the payload lacks what the event is about.
        """
        return HANDLERS[delivery.event](delivery, self.policy) if self.uses(delivery.event) else []
