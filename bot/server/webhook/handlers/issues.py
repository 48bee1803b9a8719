"""Issue and comment events: what is triaged, what may answer a question or contain commands, what is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.jobs import Commands, CommentDeleted, Edited, Ended, Labelled, Reply, Triage, Typed, Work
from bot.server.webhook.events import Delivery
from bot.server.webhook.handlers.people import Policy

PREFIX = "/triage"
MAX_TEXT = 262_144
"""Characters; a longer text before an edit counts as unknown. GitHub itself accepts at most 65,536."""


def handle_issue(delivery: Delivery, policy: Policy) -> list[Work]:
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


def _typed(delivery: Delivery) -> list[Work]:
    return [Typed(ref=delivery.issue)]


_ACTIONS: Mapping[str, Callable[[Delivery], list[Work]]] = {
    "opened": _opened,
    "reopened": _reopened,
    "edited": _edited,
    "closed": _closed,
    "deleted": _deleted,
    "transferred": _transferred,
    "labeled": _labelled,
    "unlabeled": _labelled,
    "typed": _typed,
    "untyped": _typed,
}
_BY_ANYONE = frozenset({"opened", "closed", "deleted", "transferred"})
"""Actions that count from bots too.

It does not matter who closes an issue, and an issue that a bot transfers here was still written by a person.
"""


def handle_comment(delivery: Delivery, policy: Policy) -> list[Work]:
    """Return the work for a comment on an issue. Pull requests, our own comments and other bots' lead to none."""
    payload = delivery.payload
    # GitHub sends comments on pull requests as comments on issues.
    if payload.issue is not None and payload.issue.pull_request is not None:
        return []
    if not policy.accepts(payload.sender):
        return []
    if delivery.action == "deleted":
        return _comment_deleted(delivery)
    if delivery.action not in ("created", "edited") or payload.comment is None:
        return []
    # Both the sender and the author: a person may edit a bot's comment.
    if not policy.accepts(payload.comment.user) or policy.is_own(payload.comment):
        return []
    return _comment_written(delivery)


def _comment_written(delivery: Delivery) -> list[Work]:
    """Queue commands first, then the reply; commands have their own lane and never wait behind a run."""
    ref, comment = delivery.issue, delivery.comment
    reply = Reply(ref=ref, comment=comment)
    # Every other comment skips the Markdown parser and the lane of commands.
    if PREFIX in comment.body.casefold():
        sender = delivery.payload.sender
        named = {"sender": sender.login, "sender_id": sender.id} if sender is not None else {}
        edit = {"edited": True, "before": _before(delivery)} if delivery.action == "edited" else {}
        return [Commands(ref=ref, comment=comment, **named, **edit), reply]
    return [reply]


def _before(delivery: Delivery) -> str | None:
    """Return the comment's text before the edit; None if the payload lacks it or it is too long."""
    changes = delivery.payload.changes
    before = (changes.body or {}).get("from") if changes is not None else None
    return before if isinstance(before, str) and len(before) <= MAX_TEXT else None


def _comment_deleted(delivery: Delivery) -> list[Work]:
    comment = delivery.comment
    # Our report is a bot's comment. Only the worker's store knows whether this one is ours.
    return [CommentDeleted(ref=delivery.issue, comment_id=comment.id)] if comment.author_is_bot else []
