"""Store a repository's old issues: newest first, page by page, each page once, up to a limit."""

from __future__ import annotations

import asyncio

from bot.ports import GitHubPort, Issue
from bot.store.past_issues import PastIssues, ReadingProgress, StoredIssue
from nodes.search.similar import words_of

ISSUES, PAGES = 1_000, 20
"""Limits of automatic reading. Pages are limited too, because most entries of a page may be pull requests."""


async def learn_page(past: PastIssues, github: GitHubPort) -> ReadingProgress:
    """Read and store the next page. After a crash it is read again, and no issue is stored twice."""
    walk = await past.progress() or ReadingProgress()
    if walk.finished:
        return walk
    issues, more = await github.issues_page(walk.page)
    # Splitting and hashing the words takes processor time, which would block the event loop.
    kept = await asyncio.to_thread(lambda: [to_stored(issue) for issue in issues])
    after = ReadingProgress(walk.page + 1, walk.seen + len(kept), finished=not more)
    await past.store_page(kept, after)
    return after


def is_enough(walk: ReadingProgress, issues: int = ISSUES, pages: int = PAGES) -> bool:
    """Whether automatic reading is complete."""
    return walk.finished or walk.seen >= issues or walk.page > pages


def to_stored(issue: Issue) -> StoredIssue:
    """Return the stored form of an issue."""
    return StoredIssue(issue.ref.number, issue.state == "open", issue.updated_at, words_of(issue.title, issue.body))


async def update_stored_issue(past: PastIssues, number: int, issue: Issue | None) -> None:
    """Store an issue as just read under its number, or delete it if ``is_here`` is false."""
    if is_here(number, issue) and issue is not None:
        await past.keep([await asyncio.to_thread(to_stored, issue)])
    else:
        await past.forget(number)


def is_here(number: int, issue: Issue | None) -> bool:
    """Whether the result read under a number is an issue, not a pull request, and still has that number."""
    return issue is not None and not issue.is_pull_request and issue.ref.number == number
