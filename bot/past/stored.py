"""The graph's port to earlier issues, backed by the store and GitHub."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from bot.errors import BotError
from bot.past.learn import update_stored_issue
from bot.ports import GitHubPort, Issue, IssueRef
from bot.store.past_issues import PastIssues, StoredIssue
from nodes.context import Nearby, PastIssue, PastUnreadableError
from nodes.search.similar import PastIndex, words_of

_LOOKED_AT = 40
"""Nearest issues to choose from. Most reports of a known crash are closed, but the open one is the one to name."""


class StoredPast:
    """Issues older than the given one, in its repository."""

    def __init__(self, past: PastIssues, github: GitHubPort, ref: IssueRef) -> None:
        self._past = past
        self._github = github
        self._ref = ref
        self._read: dict[int, PastIssue | None] = {}
        self._seen: dict[int, tuple[bool, str]] = {}
        """Whether each issue was open, and when it last changed, according to the store."""

    async def similar(self, title: str, body: str, limit: int) -> Nearby:
        """Return the issues most similar to a text, without those that a person marked as a different problem."""
        try:
            kept = await self._past.before(self._ref.number)
            denied = await self._past.confirmed_distinct(self._ref.number)
        except BotError as error:
            raise PastUnreadableError(str(error)) from error
        self._seen = {one.number: (one.is_open, one.updated_at) for one in kept}
        return await asyncio.to_thread(_nearby, kept, denied, title, body, limit)

    async def read(self, number: int) -> PastIssue | None:
        """Return an issue in its current state; None if it is gone or no longer an issue of this repository."""
        if number not in self._read:
            self._read[number] = await self._now(number)
        return self._read[number]

    async def _now(self, number: int) -> PastIssue | None:
        try:
            issue = await self._github.issue(number)
            # GitHub answers for a transferred issue with its new repository.
            here = issue if issue is None or issue.ref.repository.key == self._ref.repository.key else None
            if here is None or (here.state == "open", here.updated_at) != self._seen.get(number):
                await update_stored_issue(self._past, number, here)
        except BotError as error:
            raise PastUnreadableError(str(error)) from error
        return _past_issue(here) if here is not None and not here.is_pull_request else None


def _nearby(kept: Sequence[StoredIssue], denied: Collection[int], title: str, body: str, limit: int) -> Nearby:
    past = PastIndex([(one.number, one.words) for one in kept])
    is_open = {one.number: one.is_open for one in kept}
    near = [one.number for one in past.nearest(words_of(title, body), _LOOKED_AT) if one.number not in denied]
    chosen = _some_open(near, is_open, limit)
    return Nearby(tuple(number for number in near if number in chosen), past)


def _some_open(near: Sequence[int], is_open: dict[int, bool], limit: int) -> set[int]:
    """Choose up to ``limit`` of the nearest issues; open ones fill up to two thirds of the places first."""
    first = [number for number in near if is_open[number]][: 2 * limit // 3]
    rest = [number for number in near if number not in first]
    return {*first, *rest[: limit - len(first)]}


def _past_issue(issue: Issue) -> PastIssue:
    state = "open" if issue.state == "open" else "closed"
    return PastIssue(issue.ref.number, issue.title, issue.body, state, issue.url)  # type: ignore[arg-type]
