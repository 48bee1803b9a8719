"""Comment events: a person's comment may answer a question or contain commands; a deleted one may be our report."""

from __future__ import annotations

from bot.jobs import Commands, CommentDeleted, Reply, Work
from bot.server.webhook.events import Delivery
from bot.server.webhook.handlers.people import Policy

PREFIX = "/triage"
MAX_TEXT = 262_144
"""Characters; a longer text before an edit counts as unknown. GitHub itself accepts at most 65,536."""


def handle(delivery: Delivery, policy: Policy) -> list[Work]:
    """Return the work for a comment on an issue. Pull requests, our own comments and other bots' lead to none."""
    payload = delivery.payload
    if payload.issue is not None and payload.issue.pull_request is not None:
        return []
    if not policy.accepts(payload.sender):
        return []
    if delivery.action == "deleted":
        return _deleted(delivery)
    if delivery.action not in ("created", "edited") or payload.comment is None:
        return []
    # Both the sender and the author: a person may edit a bot's comment.
    if not policy.accepts(payload.comment.user) or policy.is_own(payload.comment):
        return []
    return _written(delivery)


def _written(delivery: Delivery) -> list[Work]:
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


def _deleted(delivery: Delivery) -> list[Work]:
    comment = delivery.comment
    # Our report is a bot's comment. Only the worker's store knows whether this one is ours.
    return [CommentDeleted(ref=delivery.issue, comment_id=comment.id)] if comment.author_is_bot else []
