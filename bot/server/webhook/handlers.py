"""Turn deliveries into work: one pure function per event, and the table of events."""

from collections.abc import Callable, Mapping
from typing import Literal, get_args

from bot import jobs
from bot.server.webhook.events import Delivery
from bot.server.webhook.payload import User

PREFIX = "/triage"
MAX_TEXT = 262_144
"""Characters; a longer text before an edit counts as unknown. GitHub itself accepts at most 65,536."""
_Installed = Literal["created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"]
_Changed = Literal["renamed", "transferred", "archived", "unarchived", "privatized", "publicized", "deleted"]
_BY_ANYONE = frozenset({"opened", "closed", "deleted", "transferred"})
"""Actions that count from bots too.

It does not matter who closes an issue, and an issue that a bot transfers here was still written by a person.
"""

Handler = Callable[[Delivery], list[jobs.Work]]


def handle_issue(delivery: Delivery) -> list[jobs.Work]:
    """Return the work for an issue event. Pull requests and actions of bots lead to none, except in `_BY_ANYONE`."""
    issue, action = delivery.payload.issue, _ACTIONS.get(delivery.action)
    if action is None or (issue is not None and issue.pull_request is not None):
        return []
    if delivery.action not in _BY_ANYONE and not _is_person(delivery.payload.sender):
        return []
    return action(delivery)


def _is_person(who: User | None) -> bool:
    """Return whether the user is a person; a deleted account (None) is one."""
    return who is None or not who.is_bot


def _opened(delivery: Delivery) -> list[jobs.Work]:
    """Queue triage, for a bot's issue too: the repository's configuration decides, and only the worker reads that."""
    changes = delivery.payload.changes
    moved_from = delivery.key_of(changes.old_repository, changes.old_issue)
    return [jobs.Triage(ref=delivery.issue, why="opened", moved_from=moved_from)]


def _transferred(delivery: Delivery) -> list[jobs.Work]:
    changes = delivery.payload.changes
    moved_to = delivery.key_of(changes.new_repository, changes.new_issue)
    return [jobs.Ended(ref=delivery.issue, how="transferred", moved_to=moved_to)]


def _labelled(delivery: Delivery) -> list[jobs.Work]:
    payload = delivery.payload
    if payload.label is None or not payload.label.name:
        return []
    actor, added = payload.sender.login if payload.sender else "", payload.action == "labeled"
    return [jobs.Labelled(ref=delivery.issue, label=payload.label.name, added=added, actor=actor)]


_ACTIONS: Mapping[str, Callable[[Delivery], list[jobs.Work]]] = {
    "opened": _opened,
    "reopened": lambda delivery: [jobs.Triage(ref=delivery.issue, why="reopened")],
    "edited": lambda delivery: [jobs.Edited(ref=delivery.issue)],
    "closed": lambda delivery: [jobs.Ended(ref=delivery.issue, how="closed")],
    "deleted": lambda delivery: [jobs.Ended(ref=delivery.issue, how="deleted")],
    "transferred": _transferred,
    "labeled": _labelled,
    "unlabeled": _labelled,
    "typed": lambda delivery: [jobs.Typed(ref=delivery.issue)],
    "untyped": lambda delivery: [jobs.Typed(ref=delivery.issue)],
}


def handle_comment(delivery: Delivery) -> list[jobs.Work]:
    """Return the work for a comment on an issue. Pull requests and bots' comments lead to none."""
    payload = delivery.payload
    # GitHub sends comments on pull requests as comments on issues.
    if payload.issue is not None and payload.issue.pull_request is not None:
        return []
    if not _is_person(payload.sender):
        return []
    if delivery.action == "deleted":
        # Our report is a bot's comment. Only the worker's store knows whether this one is ours.
        gone = delivery.comment
        return [jobs.CommentDeleted(ref=delivery.issue, comment_id=gone.id)] if gone.author_is_bot else []
    if delivery.action not in ("created", "edited") or payload.comment is None:
        return []
    # Both the sender and the author: a person may edit a bot's comment.
    if not _is_person(payload.comment.user):
        return []
    return _comment_written(delivery)


def _comment_written(delivery: Delivery) -> list[jobs.Work]:
    """Queue commands first, then the reply; commands have their own lane and never wait behind a run."""
    ref, comment = delivery.issue, delivery.comment
    reply = jobs.Reply(ref=ref, comment=comment)
    # Every other comment skips the Markdown parser and the lane of commands.
    if PREFIX in comment.body.casefold():
        sender = delivery.payload.sender
        named = {"sender": sender.login, "sender_id": sender.id} if sender is not None else {}
        edit = {"edited": True, "before": _before(delivery)} if delivery.action == "edited" else {}
        return [jobs.Commands(ref=ref, comment=comment, **named, **edit), reply]
    return [reply]


def _before(delivery: Delivery) -> str | None:
    """Return the comment's text before the edit; None if the payload lacks it or it is too long."""
    before = (delivery.payload.changes.body or {}).get("from")
    return before if isinstance(before, str) and len(before) <= MAX_TEXT else None


def handle_installation(delivery: Delivery) -> list[jobs.Work]:
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
        jobs.InstallationChanged(
            host=delivery.host,
            id=payload.installation.id,
            account=account.login if account else "",
            how=how,
            # GitHub lists the repositories of a deleted installation too, although they are no longer accessible.
            added=tuple(map(delivery.named, added)) if how != "deleted" else (),
            removed=tuple(part.id for part in payload.repositories_removed or ()),
        )
    ]


def handle_repository(delivery: Delivery) -> list[jobs.Work]:
    """Record a repository's name, owner and visibility, and whether it is archived."""
    part = delivery.payload.repository
    if part is None or delivery.action not in get_args(_Changed):
        return []
    how: _Changed = delivery.action  # type: ignore[assignment]  # checked above
    ref, private, archived = delivery.repository, bool(part.private), bool(part.archived)
    return [jobs.RepositoryChanged(ref=ref, how=how, private=private, archived=archived)]


HANDLERS: Mapping[str, Handler] = {
    "issues": handle_issue,
    "issue_comment": handle_comment,
    "installation": handle_installation,
    "installation_repositories": handle_installation,
    "repository": handle_repository,
}
"""Handlers by event. Every other event is acknowledged and ignored."""


def work_for(delivery: Delivery) -> list[jobs.Work]:
    """Return the work that a delivery leads to, for most none; MalformedError if it lacks the object of its event."""
    handler = HANDLERS.get(delivery.event)
    return handler(delivery) if handler is not None else []
