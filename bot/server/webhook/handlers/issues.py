"""Issue events: opened and reopened issues are triaged; edits, labels and closings are recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.jobs import Edited, Ended, Labelled, Triage, Work
from bot.server.webhook.events import Delivery
from bot.server.webhook.handlers.people import Policy


def handle(delivery: Delivery, policy: Policy) -> list[Work]:
    """Return the work for an issue event. Pull requests and actions of bots lead to none, except in `_BY_ANYONE`."""
    issue, action = delivery.payload.issue, _ACTIONS.get(delivery.action)
    if action is None or (issue is not None and (issue.pull_request is not None or policy.is_own(issue))):
        return []
    if delivery.action not in _BY_ANYONE and not policy.accepts(delivery.payload.sender):
        return []
    return action(delivery)


def _opened(delivery: Delivery) -> list[Work]:
    """Queue triage, for a bot's issue too: the repository's configuration decides, and only the worker reads that."""
    changes = delivery.payload.changes
    moved_from = None
    if changes and changes.old_issue and changes.old_repository:
        moved_from = delivery.named(changes.old_repository).issue(changes.old_issue.number).key
    return [Triage(ref=delivery.issue, why="opened", moved_from=moved_from)]


def _reopened(delivery: Delivery) -> list[Work]:
    return [Triage(ref=delivery.issue, why="reopened")]


def _edited(delivery: Delivery) -> list[Work]:
    return [Edited(ref=delivery.issue)]


def _closed(delivery: Delivery) -> list[Work]:
    return [Ended(ref=delivery.issue, how="closed")]


def _deleted(delivery: Delivery) -> list[Work]:
    return [Ended(ref=delivery.issue, how="deleted")]


def _transferred(delivery: Delivery) -> list[Work]:
    changes = delivery.payload.changes
    moved_to = None
    if changes and changes.new_issue and changes.new_repository:
        moved_to = delivery.named(changes.new_repository).issue(changes.new_issue.number).key
    return [Ended(ref=delivery.issue, how="transferred", moved_to=moved_to)]


def _labelled(delivery: Delivery) -> list[Work]:
    payload = delivery.payload
    if payload.label is None or not payload.label.name:
        return []
    sender = payload.sender
    return [
        Labelled(
            ref=delivery.issue,
            label=payload.label.name,
            added=payload.action == "labeled",
            actor=sender.login if sender else "",
            # Also a bot whose events count as a person's: its labels judge no report.
            by_bot=sender is not None and sender.is_bot,
        )
    ]


_ACTIONS: Mapping[str, Callable[[Delivery], list[Work]]] = {
    "opened": _opened,
    "reopened": _reopened,
    "edited": _edited,
    "closed": _closed,
    "deleted": _deleted,
    "transferred": _transferred,
    "labeled": _labelled,
    "unlabeled": _labelled,
}
_BY_ANYONE = frozenset({"opened", "closed", "deleted", "transferred"})
"""Actions that count from bots too.

It does not matter who closes an issue, and an issue that a bot transfers here was still written by a person.
"""
