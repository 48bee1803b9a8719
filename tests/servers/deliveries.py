"""Deliveries as GitHub sends them: signed payloads of the simulated GitHub, with their headers."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from typing import Any

from tests.servers.github_world import Repo, World, person

SECRET = "a secret of the webhook"


def sign(body: bytes, secret: str = SECRET) -> str:
    """Return the value of X-Hub-Signature-256."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def headers(event: str, body: bytes, *, guid: str | None = None, secret: str = SECRET, **more: str) -> dict[str, str]:
    """Return the headers of a delivery."""
    return {
        "Content-Type": "application/json",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": guid or str(uuid.uuid4()),
        "X-Hub-Signature-256": sign(body, secret),
        **more,
    }


def repository(world: World, repo: Repo) -> dict[str, Any]:
    """Return a repository in the format of payloads."""
    return {
        "id": repo.id,
        "name": repo.name,
        "full_name": repo.full_name,
        "owner": person(repo.owner),
        "private": False,
        "archived": repo.archived,
        "html_url": f"{world.url}/{repo.full_name}",
        "clone_url": f"{world.url}/{repo.full_name}.git",
        "default_branch": repo.default_branch,
    }


def issue_event(world: World, repo: Repo, number: int, action: str, *, sender: str = "rita", **more: Any) -> bytes:
    """Return an ``issues`` payload."""
    return _event(world, repo, action=action, sender=sender, issue=world.issue(repo, number), **more)


def repository_event(world: World, repo: Repo, action: str) -> bytes:
    """Return a ``repository`` payload."""
    return _event(world, repo, action=action, sender="rita")


def comment_event(
    world: World, repo: Repo, number: int, comment: dict[str, Any], action: str = "created", **more: Any
) -> bytes:
    """Return an ``issue_comment`` payload."""
    sender = more.pop("sender", comment["user"]["login"])
    shown = {name: value for name, value in comment.items() if not name.startswith("_")}
    return _event(world, repo, action=action, sender=sender, issue=world.issue(repo, number), comment=shown, **more)


def _event(world: World, repo: Repo, *, sender: str, **fields: Any) -> bytes:
    body = {
        **fields,
        "repository": repository(world, repo),
        "sender": person(sender, "Bot" if sender.endswith("[bot]") else "User"),
        "installation": {"id": repo.installation, "node_id": "MDIz"},
    }
    return json.dumps(body).encode()
