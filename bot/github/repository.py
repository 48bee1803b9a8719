"""The dozen calls that the bot makes in a repository."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from bot.errors import BotError, GoneError, MovedError, OutcomeUnknownError, RateLimitedError, RefusedError
from bot.github import values
from bot.github.channel import Channel
from bot.github.responses import GitHubResponse, UndecodableError, expect_shape
from bot.github.tokens import READ_CODE, READ_PULLS
from bot.limits.writes import LABELS, REACTIONS, WHOLE, WriteBudget
from bot.ports import Comment, Issue, IssueRef, Permission, Reaction, RepositoryRef
from nodes.context.brain import OpenPull

if TYPE_CHECKING:
    from bot.github.app import GitHub

_ELSEWHERE = re.compile(r"(?:/repositories/(\d{1,18})|(/repos/[\w.-]{1,100}/([\w.-]{1,100})))/issues/\d{1,9}$")
_MAX_ISSUES = 50
"""Maximum number of issues of one search."""
_DISCUSSION = re.compile(r"/discussions/\d{1,9}$")


class RepositoryClient:
    """One repository under one installation.

    Every call may raise RetryableError (``after`` is the wait that GitHub asks for, in seconds), RefusedError,
    GoneError or SuspendedError. One that creates something may raise OutcomeUnknownError, and is never repeated here.
    One that reads a file raises UnreadableFileError if it exists and cannot be read as text.
    """

    def __init__(self, channel: Channel, repository: RepositoryRef, *, app: GitHub, server_url: str) -> None:
        self._channel = channel
        self._repository = repository
        self._app = app
        self._server_url = server_url

    async def id(self) -> int:
        """Return the id, which no rename changes; GoneError if there is no such repository, or it is private."""
        return await self._id_of(self._base, self._repository.name)

    async def issue(self, number: int) -> Issue | None:
        """Return the issue, also at its new place if it was moved; None if it is gone."""
        try:
            # Redirects are not followed, because the token is for this repository only; `_moved_issue` uses another
            # one.
            response = await self._channel.send("GET", f"{self._base}/issues/{number}", follow=False)
        except MovedError as moved:
            return await self._moved_issue(moved.to)
        except GoneError:
            return None
        return _issue(response, self._repository)

    async def issues(self, *, since: str | None = None, limit: int = 100) -> list[Issue]:
        """Return open issues, newest first, without pull requests."""
        # Newest first: the callers stop at a limit, and new issues matter most.
        params = {"state": "open", "sort": "created", "direction": "desc", **({"since": since} if since else {})}
        items: list[Issue] = []
        async for page in self._channel.pages(f"{self._base}/issues", params):
            with expect_shape("a list of issues"):
                items += [values.issue_of(item, self._repository) for item in page if not item.get("pull_request")]
            if len(items) >= limit:
                break
        return items[:limit]

    async def issues_page(self, page: int) -> tuple[list[Issue], bool]:
        """Return up to a hundred issues of any state, newest first, without pull requests; and whether more follow."""
        params: dict[str, str | int] = {"state": "all", "sort": "created", "direction": "desc"}
        items, more = await self._channel.page(f"{self._base}/issues", params, page)
        with expect_shape("a list of issues"):
            return [values.issue_of(item, self._repository) for item in items if not item.get("pull_request")], more

    async def search_issues(self, query: str, limit: int) -> list[values.Json]:
        """Return issues that the installation's token may read, in any repository, best first, as GitHub's JSON."""
        params: dict[str, str | int] = {"q": query, "per_page": max(1, min(limit, _MAX_ISSUES))}
        items = (await self._channel.search("/search/issues", params)).object().get("items")
        if not isinstance(items, list):
            raise UndecodableError("GitHub's response to a search contains no issues")
        return [item for item in items[:_MAX_ISSUES] if isinstance(item, dict)]

    async def open_pulls(self, limit: int) -> list[OpenPull]:
        """Return the open pull requests that changed last, without their files."""
        params: dict[str, str | int] = {"state": "open", "sort": "updated", "direction": "desc", "per_page": limit}
        response = await self._channel.send("GET", f"{self._base}/pulls", params=params, permissions=READ_PULLS)
        with expect_shape("a list of pull requests"):
            return [values.pull_of(item) for item in response.objects()][:limit]

    async def pull_files(self, number: int) -> tuple[str, ...]:
        """Return the paths of at most 100 files that a pull request changes."""
        path, params = f"{self._base}/pulls/{number}/files", {"per_page": 100}
        response = await self._channel.send("GET", path, params=params, permissions=READ_PULLS)
        with expect_shape("a list of files"):
            return tuple(values.text(item["filename"]) for item in response.objects())

    async def comments(self, number: int) -> list[Comment]:
        """Return all comments, oldest first."""
        # The comments' authors are compared with the App's login.
        await self._app.load_identity()
        items: list[Comment] = []
        async for page in self._channel.pages(f"{self._base}/issues/{number}/comments", {}):
            with expect_shape("a list of comments"):
                items += [values.comment_of(item, self._app.is_own_comment) for item in page]
        return sorted(items, key=lambda comment: (comment.created_at, comment.id))

    async def create_comment(self, number: int, body: str, budget: WriteBudget = WHOLE) -> Comment:
        """Post a comment.

        Raises:
            OutcomeUnknownError: The status is not 201, or the response cannot be read; the comment may be posted.
        """
        await self._channel.take(budget)
        response = await self._channel.send("POST", f"{self._base}/issues/{number}/comments", json={"body": body})
        # A proxy may answer 200 with a page of its own, which proves neither a comment nor its absence.
        if response.status_code != 201:
            raise OutcomeUnknownError(f"GitHub answered {response.status_code} to a new comment")
        try:
            with expect_shape("a comment"):
                comment = values.comment_of(response.object(), self._app.is_own_comment)
            self._app.learn_identity(response.object())
            # The comment is ours, whatever login the response contains: the login of a new App may not be known yet.
            return replace(comment, ours=True)
        except UndecodableError as error:
            raise OutcomeUnknownError("GitHub's response to a new comment cannot be read") from error

    async def has_comment(self, comment_id: int) -> bool:
        """Return whether a comment still exists."""
        try:
            await self._channel.send("GET", f"{self._base}/issues/comments/{comment_id}")
        except GoneError:
            return False
        return True

    async def edit_comment(self, comment_id: int, body: str, budget: WriteBudget = WHOLE) -> None:
        """Replace a comment's text."""
        await self._channel.take(budget)
        await self._channel.send("PATCH", f"{self._base}/issues/comments/{comment_id}", json={"body": body})

    async def react(self, content: Reaction, *, issue: int = 0, comment: int = 0) -> None:
        """Add a reaction to an issue or to a comment; adding it twice is the same as once."""
        await self._channel.take(REACTIONS)
        target = f"comments/{comment}" if comment else str(issue)
        await self._channel.send("POST", f"{self._base}/issues/{target}/reactions", json={"content": content})

    async def repository_labels(self) -> frozenset[str]:
        """Return the labels that exist in the repository."""
        names: set[str] = set()
        async for page in self._channel.pages(f"{self._base}/labels", {}):
            with expect_shape("a list of labels"):
                names.update(values.text(label["name"]) for label in page)
        return frozenset(names)

    async def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Add labels that exist in the repository."""
        await self._channel.take(LABELS)
        await self._channel.send("POST", f"{self._base}/issues/{number}/labels", json={"labels": list(labels)})

    async def remove_label(self, number: int, label: str) -> None:
        """Remove a label; a missing one counts as removed."""
        await self._channel.take(LABELS)
        try:
            await self._channel.send("DELETE", f"{self._base}/issues/{number}/labels/{quote(label, safe='')}")
        except GoneError:
            return

    async def issue_types(self) -> frozenset[str]:
        """Return the issue types of the repository; empty on servers without types."""
        try:
            response = await self._channel.send("GET", f"{self._base}/issue-types")
        except GoneError:
            return frozenset()
        with expect_shape("a list of issue types"):
            enabled = (item for item in response.objects() if item.get("is_enabled", True))
            return frozenset(values.text(item["name"]) for item in enabled)

    async def set_type(self, number: int, name: str, suggestion: Mapping[str, str] | None = None) -> str:
        """Set an issue's type, or suggest it to people; return the issue's type."""
        await self._channel.take(LABELS)
        value = name if suggestion is None else {"value": name, "suggest": True, **suggestion}
        response = await self._channel.send("PATCH", f"{self._base}/issues/{number}", json={"type": value})
        return _issue(response, self._repository).type or ""

    async def permission(self, login: str) -> Permission:
        """Return a user's permission in the repository."""
        try:
            response = await self._channel.send("GET", f"{self._base}/collaborators/{quote(login, safe='')}/permission")
        except GoneError:
            return Permission.NONE
        with expect_shape("a permission"):
            return values.permission_of(response.object())

    async def file(self, path: str, *, commit: str = "") -> str | None:
        """Return a text file of a commit, by default of the default branch; None if it does not exist."""
        return await self._file(f"{self._base}/contents/{quote(path)}", (self._repository.id,), commit)

    async def organisation_file(self, path: str) -> str | None:
        """Return a text file in the owner's ``.github`` repository, read with a token for that repository only."""
        file_path = f"/repos/{quote(self._repository.owner)}/.github/contents/{quote(path)}"
        try:
            return await self._file(file_path, (".github",))
        except RefusedError:  # the installation has no access to such a repository
            return None

    async def tip(self) -> str | None:
        """Return the newest commit of the default branch; None if GitHub does not return it."""
        try:
            newest = await self._newest()
        # A limit must pause the job. Any other failure only costs a fetch that may be superfluous.
        except RateLimitedError:
            raise
        except BotError:
            return None
        return values.text(newest[0].get("sha")) if newest else None

    async def is_empty(self) -> bool:
        """Return whether GitHub itself reports no commit; git mistakes a proxy's page for an empty repository."""
        try:
            return not await self._newest()
        except RefusedError:
            return True

    async def clone_url_and_header(self) -> tuple[str, str]:
        """Return the clone address and the HTTP header that authorizes git; the token can only read code."""
        # Not the usual token, which may write to issues: git passes it to other processes.
        token = await self._channel.token((self._repository.id,), READ_CODE)
        plain = f"{self._server_url.rstrip('/')}/{self._repository.owner}/{self._repository.name}.git"
        basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        return self._repository.clone_url or plain, f"Authorization: Basic {basic}" if token else ""

    async def _newest(self) -> list[values.Json]:
        return (await self._channel.send("GET", f"{self._base}/commits", params={"per_page": 1})).objects()

    @property
    def _base(self) -> str:
        return f"/repos/{quote(self._repository.owner, safe='')}/{quote(self._repository.name, safe='')}"

    async def _moved_issue(self, path: str) -> Issue | None:
        """Return the issue at its new place, if the same installation can read it there.

        Raises:
            UndecodableError: The path is not one of GitHub's for an issue, so the redirect proves nothing.
        """
        match = _ELSEWHERE.search(path)
        # An issue that was converted to a discussion redirects there, and no longer exists as an issue.
        if match is None and _DISCUSSION.search(path):
            return None
        if match is None:
            raise UndecodableError("the issue was redirected to a path that is not that of an issue")
        try:
            # Issues move between repositories of one owner, so the same installation can request the issue by its new
            # name.
            items = int(match[1]) if match[1] else await self._id_of(match[2], match[3])
            response = await self._channel.send("GET", match[0], repositories=(items,))
        except RefusedError:
            return None
        issue = _issue(response, replace(self._repository, id=items, clone_url=""))
        if issue.ref.repository_id == self._repository.id:
            self._repository = replace(issue.ref.repository, clone_url=self._renamed_address(issue.ref))
            self._app.record_rename(self._repository)
        return issue

    async def _id_of(self, path: str, name: str) -> int:
        response = await self._channel.send("GET", path, repositories=(name,))
        with expect_shape("a repository"):
            return int(response.object()["id"])

    def _renamed_address(self, ref: IssueRef) -> str:
        """Return the clone address under the new name, because git does not follow redirects with our token."""
        base, items, _ = self._repository.clone_url.partition(f"/{self._repository.owner}/{self._repository.name}")
        return f"{base}/{ref.owner}/{ref.name}.git" if items else ""

    async def _file(self, path: str, repositories: tuple[int | str, ...], commit: str = "") -> str | None:
        at = {"ref": commit} if commit else None
        try:
            response = await self._channel.send(
                "GET", path, params=at, repositories=repositories, permissions=READ_CODE
            )
        except GoneError:
            return None
        with expect_shape("a file"):
            is_directory = isinstance(response.data, list) and bool(response.objects())
            if not is_directory and not values.text(response.object()["type"]):
                raise UndecodableError("GitHub's description of a file has no type")
            return values.text_file(response.data)


def _issue(response: GitHubResponse, repository: RepositoryRef) -> Issue:
    with expect_shape("an issue"):
        return values.issue_of(response.object(), repository)
