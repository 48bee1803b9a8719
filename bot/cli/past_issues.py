"""Implement ``triage backfill --past-issues``: read a repository's past issues ahead of time, with progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bot.errors import RateLimitedError, UserError

if TYPE_CHECKING:
    from bot.ports import GitHubPort
    from bot.store.past_issues import PastIssues

A_PAGE = 100


async def learn(past: PastIssues, github: GitHubPort, most: int) -> None:
    """Read pages, newest first, up to ``most`` issues; issues of earlier calls count and are not read again.

    Raises:
        UserError: GitHub asks to wait; the same command resumes where this one stopped.
    """
    from bot.past.learn import PAGES, is_enough, learn_page  # noqa: PLC0415  --help needs no numpy
    from bot.store.past_issues import ReadingProgress  # noqa: PLC0415

    walk = await past.progress() or ReadingProgress()
    pages = walk.page + PAGES + 2 * most // A_PAGE  # half of them may be pull requests
    while not is_enough(walk, most, pages):
        try:
            walk = await learn_page(past, github)
        except RateLimitedError as error:
            wait = f" for {error.after:.0f} s" if error.after else ""
            raise UserError(
                f"GitHub asks to wait{wait}; the same command continues after {walk.seen} issues"
            ) from error
        click.echo(f"{walk.seen} of at most {most} issues", err=True)
    more = "no older issues exist" if walk.finished else "older ones were not read"
    click.echo(f"{walk.seen} old issues were indexed; {more}", err=True)
