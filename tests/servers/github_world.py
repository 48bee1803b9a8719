"""The data of the simulated GitHub: repositories, issues, comments, labels and people in dictionaries."""

from __future__ import annotations

import itertools
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

APP_ID, SLUG, BOT_ID, INSTALLATION = 4711, "tracehound", 990_001, 77
BOT = {"login": f"{SLUG}[bot]", "id": BOT_ID, "type": "Bot"}
FLAGS = ("admin", "maintain", "push", "triage", "pull")
GRANTED = {"issues": "write", "contents": "read", "metadata": "read"}

Json = dict[str, Any]


def person(login: str, kind: str = "User") -> Json:
    """Return an account; the same login is the same account."""
    return {"login": login, "id": sum(ord(c) * 31**n for n, c in enumerate(login)) % 10**9, "type": kind}


@dataclass
class Repo:
    """A repository with its issues."""

    id: int
    owner: str
    name: str
    installation: int = INSTALLATION
    git: Path | None = None
    """A local repository, served to git clients."""
    default_branch: str = "main"
    head: str = ""
    """The branch's SHA; empty means no commit."""
    labels: set[str] = field(default_factory=set)
    types: tuple[str, ...] | None = None
    """The organisation's issue types; None on a server without types."""
    files: dict[str, str | bytes | dict[str, str]] = field(default_factory=dict)
    """The files of the default branch."""
    proposed: dict[str, dict[str, str | bytes | dict[str, str]]] = field(default_factory=dict)
    """Commit of a pull request → its files."""
    issues: dict[int, Json] = field(default_factory=dict)
    pulls: dict[int, Json] = field(default_factory=dict)
    """Open pull requests by number, each with ``files``."""
    permissions: dict[str, str] = field(default_factory=dict)
    """Login → the highest flag; anyone else may pull."""
    archived: bool = False
    public: bool = False
    """Whether it is readable without a token."""

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    def tip(self) -> str:
        """Return the branch's SHA from git, or the configured one."""
        if self.git is None:
            return self.head
        command = ["git", "--git-dir", str(self.git), "rev-parse", "--verify", "--quiet", "HEAD"]
        if (self.git / ".git").exists():
            command[2] = str(self.git / ".git")
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


@dataclass
class World:
    """All data of the server; the server answers from it, and tests change it."""

    url: str = ""
    repos: dict[int, Repo] = field(default_factory=dict)
    comments: dict[int, Json] = field(default_factory=dict)
    reactions: list[tuple[str, int, str]] = field(default_factory=list)
    """(``issue`` or ``comment``, number or id, content), in order and without duplicates."""
    moved: dict[tuple[int, int], str] = field(default_factory=dict)
    """(repository id, number) → its current path."""
    renamed: dict[str, int] = field(default_factory=dict)
    """Old full name → repository id."""
    suspended: bool = False
    granted: dict[str, str] = field(default_factory=dict)
    """Permissions of every installation; empty means those that the App requests."""
    registration: Json = field(default_factory=dict)
    """Differences of the App's settings page from app.yml: permissions, events, hook."""
    most_a_page: int = 100
    tokens: dict[str, Json] = field(default_factory=dict)
    manifests: dict[str, Json] = field(default_factory=dict)
    """Code → an App created from this manifest, whose secrets have not been returned yet."""
    registered: list[Json] = field(default_factory=list)
    signed_in: str = ""
    """The login of the person in the browser."""
    may_read: dict[str, set[int]] = field(default_factory=dict)
    """Login → ids of the repositories that they may read."""
    authorized: dict[str, Json] = field(default_factory=dict)
    """Code → the login, with the PKCE challenge."""
    people: dict[str, str] = field(default_factory=dict)
    """A person's token → their login."""
    deliveries: list[Json] = field(default_factory=list)
    redelivered: list[int] = field(default_factory=list)
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1_000))
    _seconds: itertools.count[int] = field(default_factory=itertools.count)

    def now(self) -> str:
        """Return a later time than any before it."""
        stamp = time.gmtime(1_750_000_000 + next(self._seconds))
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", stamp)

    def repository(self, full_name: str = "octo/parser", **given: Any) -> Repo:
        """Add a repository."""
        owner, _, name = full_name.partition("/")
        repo = Repo(id=given.pop("id", next(self._ids)), owner=owner, name=name, **given)
        self.repos[repo.id] = repo
        return repo

    def named(self, full_name: str) -> Repo | None:
        """Return a repository by its current name."""
        return next((repo for repo in self.repos.values() if repo.full_name == full_name), None)

    def open_issue(
        self, repo: Repo, title: str = "It fails", body: str | None = "", author: Json | str = "rita"
    ) -> Json:
        """Open an issue; a string as author is a person."""
        number = len(repo.issues) + 1
        now = self.now()
        repo.issues[number] = {
            "id": next(self._ids),
            "number": number,
            "title": title,
            "body": body,
            "user": person(author) if isinstance(author, str) else author,
            "state": "open",
            "locked": False,
            "labels": [],
            "created_at": now,
            "updated_at": now,
        } | ({"type": None} if repo.types is not None else {})
        return self.issue(repo, number)

    def issue(self, repo: Repo, number: int) -> Json:
        """Return an issue in the format of the API."""
        left = Counter(content for kind, at, content in list(self.reactions) if (kind, at) == ("issue", number))
        return {
            **repo.issues[number],
            "comments": len(self.on(repo, number)),
            "reactions": {"total_count": left.total(), **left},
            "url": f"{self.url}/repos/{repo.full_name}/issues/{number}",
            "repository_url": f"{self.url}/repos/{repo.full_name}",
            "html_url": f"{self.url}/{repo.full_name}/issues/{number}",
        }

    def comment(self, repo: Repo, number: int, body: str, author: Json | str = "rita") -> Json:
        """Write a comment; a string as author is a person."""
        user = person(author) if isinstance(author, str) else author
        made, now = next(self._ids), self.now()
        comment = {
            "id": made,
            "user": user,
            "body": body,
            "created_at": now,
            "updated_at": now,
            "html_url": f"{self.url}/{repo.full_name}/issues/{number}#issuecomment-{made}",
            "performed_via_github_app": {"id": APP_ID, "slug": SLUG} if user == BOT else None,
        }
        self.comments[made] = {**comment, "_repo": repo.id, "_number": number}
        return comment

    def on(self, repo: Repo, number: int) -> list[Json]:
        """Return the comments on an issue, oldest first."""
        found = [c for c in list(self.comments.values()) if (c["_repo"], c["_number"]) == (repo.id, number)]
        return sorted(found, key=lambda comment: comment["id"])

    def ours(self, repo: Repo, number: int) -> list[str]:
        """Return the App's comments on an issue."""
        return [comment["body"] for comment in self.on(repo, number) if comment["user"] == BOT]

    def reports(self, repo: Repo, number: int) -> list[str]:
        """Return its sticky comments; more than one is a fault."""
        return [body for body in self.ours(repo, number) if body.startswith("<!-- triage:report")]

    def rename(self, repo: Repo, name: str) -> None:
        """Rename a repository; its old name redirects to the new one."""
        self.renamed[repo.full_name] = repo.id
        repo.name = name

    def transfer(self, repo: Repo, number: int, to: Repo) -> int:
        """Move an issue with its comments to another repository; return its number there."""
        new = len(to.issues) + 1
        to.issues[new] = {**repo.issues.pop(number), "number": new}
        for comment in self.on(repo, number):
            comment.update(_repo=to.id, _number=new)
        self.moved[repo.id, number] = f"/repositories/{to.id}/issues/{new}"
        return new
