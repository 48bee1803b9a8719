"""Learn a repository's old issues: newest first, a page at a time, each page once, a bounded number of them."""

from __future__ import annotations

import asyncio

from bot.ports import GitHubPort, Issue
from bot.store.past_issues import KeptIssue, PastIssues, Walk
from nodes.search.similar import words_of

ISSUES, PAGES = 1_000, 20
"""What is read without being asked for; pages may hold pull requests for the most part."""


async def learn_page(past: PastIssues, github: GitHubPort) -> Walk:
    """Read the next page; after a crash it is read again, and nothing is kept twice."""
    walk = await past.walk() or Walk()
    if walk.finished:
        return walk
    issues, more = await github.issues_page(walk.page)
    kept = await asyncio.to_thread(lambda: [kept_of(issue) for issue in issues])
    after = Walk(walk.page + 1, walk.seen + len(kept), finished=not more)
    await past.walked(kept, after)
    return after


def is_enough(walk: Walk, issues: int = ISSUES, pages: int = PAGES) -> bool:
    """Whether no more is read by itself."""
    return walk.finished or walk.seen >= issues or walk.page > pages


def kept_of(issue: Issue) -> KeptIssue:
    """What is kept of an issue."""
    return KeptIssue(issue.ref.number, issue.state == "open", issue.updated_at, words_of(issue.title, issue.body))


async def see(past: PastIssues, number: int, issue: Issue | None) -> None:
    """Keep an issue as it was just read under its number, or forget it if it is not there."""
    if is_here(number, issue) and issue is not None:
        await past.keep([await asyncio.to_thread(kept_of, issue)])
    else:
        await past.forget(number)


def is_here(number: int, issue: Issue | None) -> bool:
    """Whether what was read under a number is an issue that is still called so."""
    return issue is not None and not issue.is_pull_request and issue.ref.number == number
