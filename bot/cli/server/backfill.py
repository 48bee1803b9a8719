"""``triage backfill``: triage a bounded number of existing issues, or read past issues ahead of time."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import since
from bot.errors import RateLimitedError, UserError

if TYPE_CHECKING:
    from bot.cli.backfill import Plan
    from bot.github import GitHub
    from bot.github.repository import RepositoryClient
    from bot.ports import Issue, RepositoryRef
    from bot.settings import Settings
    from bot.store.issues.past_issues import PastIssues
    from bot.store.tables import Store

A_PAGE = 100
MAX_ISSUES, MAX_PAST = 2_000, 50_000


async def learn(past: PastIssues, github: RepositoryClient, most: int) -> None:
    """Read pages, newest first, up to ``most`` issues; issues of earlier calls count and are not read again.

    Raises:
        UserError: GitHub asks to wait; the same command resumes where this one stopped.
    """
    from bot.runs.past import PAGES, is_enough, learn_page
    from bot.store.issues.past_issues import ReadingProgress

    walk = await past.progress() or ReadingProgress()
    pages = walk.page + PAGES + 2 * most // A_PAGE  # half of them may be pull requests
    while not is_enough(walk, most, pages):
        try:
            walk = await learn_page(past, github)
        except RateLimitedError as error:
            raise UserError(f"{_asks_to_wait(error)}; the same command continues after {walk.seen} issues") from error
        click.echo(f"{walk.seen} of at most {most} issues", err=True)
    more = "no older issues exist" if walk.finished else "older ones were not read"
    click.echo(f"{walk.seen} old issues were indexed; {more}", err=True)


def _asks_to_wait(error: RateLimitedError) -> str:
    return f"GitHub asks to wait{f' for {error.after:.0f} s' if error.after else ''}"


@click.command("backfill")
@click.argument("repository", metavar="OWNER/REPO")
@click.option(
    "--limit", type=click.IntRange(1, MAX_ISSUES), default=20, show_default=True, help="The maximum number of issues."
)
@since("Only issues that changed")
@click.option("--write/--dry-run", help="Queue the issues for the server, or only list them, which is the default.")
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the plan to this file as a page, with each listed issue and what happens to it.",
)
@click.option(
    "--past-issues",
    type=click.IntRange(1, MAX_PAST),
    metavar="N",
    help="Do not triage: index the newest N issues of any state, for comparison with new ones.",
)
def command(
    *, repository: str, limit: int, since: datetime | None, write: bool, page: Path | None, past_issues: int | None
) -> None:
    """Triage open issues that are older than the App's installation, newest first, except those already triaged.

    Prints them and the plan: how many, the writes and reads at GitHub, the model's calls, tokens and cost, and the time
    at GitHub's write limit. With --write they are queued, and the running server triages them one after the other,
    within the limits of the repository's configuration. After Ctrl-C or a kill the same command queues the rest;
    nothing is posted twice. A repository is known once a delivery has named it.

    The server reads a repository's newest thousand issues for comparison when it first triages an issue there.
    --past-issues reads more of them, or reads them earlier; it posts nothing and resumes where it stopped.
    """
    if past_issues is not None:
        asyncio.run(_learn(repository, past_issues))
        return
    try:
        asyncio.run(_backfill(repository, limit, since, page, write=write))
    except RateLimitedError as error:
        raise UserError(f"{_asks_to_wait(error)}; nothing was queued") from error
    except KeyboardInterrupt:
        click.echo("stopped; the issues printed above are queued, and the same command queues the rest", err=True)
        sys.exit(130)


async def _learn(name: str, most: int) -> None:
    async with _opened() as (store, github, _):
        ref = await _named(store, name)
        await learn(store.for_repository(ref).past, github.for_repository(ref), most)


async def _backfill(name: str, limit: int, since: datetime | None, page: Path | None, *, write: bool) -> None:
    from bot.cli.backfill import describe, read_plan
    from bot.worker.upkeep import stamp

    async with _opened() as (store, github, settings):
        client = github.for_repository(await _named(store, name))
        issues = await client.issues(since=stamp(since.astimezone(UTC)) if since else None, limit=limit)
        if not issues:
            click.echo("no open issues", err=True)
            return
        plan = await read_plan(store, client, settings, issues)
        for line in describe(plan):
            click.echo(line, err=True)
        if page is not None:
            _write_page(plan, page)
        for issue in plan.fresh:
            # Printed when it is stored, so that the output of a killed command lists what is queued.
            if write:
                await _queue(store, issue)
            click.echo(_row(issue))
        done = (
            "queued; the server triages them, also after a restart"
            if write
            else "would be triaged; --write queues them"
        )
        click.echo(f"{len(plan.fresh)} issues {done}", err=True)


def _row(issue: Issue) -> str:
    from bot.report.sanitise import plain

    return f"#{issue.ref.number:<6} {issue.created_at[:10]}  {issue.comments or 0:>3} comments  {plain(issue.title)}"


def _write_page(plan: Plan, page: Path) -> None:
    from bot.cli.backfill import draw_page

    try:
        page.write_text(draw_page(plan), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{page} cannot be written: {error.strerror}") from error


@asynccontextmanager
async def _opened() -> AsyncIterator[tuple[Store, GitHub, Settings]]:
    """Open the server's store, which the server may use at the same time, and the GitHub client."""
    from bot.github import GitHub
    from bot.settings.server import load_server_settings
    from bot.store.databases.opening import open_store

    settings = load_server_settings()
    store = open_store(settings.settings)
    github = GitHub(
        app_id=str(settings.app_id),
        private_key=settings.private_key,
        writes=store.writes,
        api_url=settings.settings.github_api_url,
        server_url=settings.settings.github_server_url,
    )
    try:
        yield store, github, settings.settings
    finally:
        await github.aclose()
        await store.aclose()


async def _named(store: Store, name: str) -> RepositoryRef:
    found = await store.installations.named(name)
    if found is None:
        raise UserError(f"the App is not installed in {name}: install it there, or check the name")
    return found


async def _queue(store: Store, issue: Issue) -> None:
    from bot.jobs import Triage
    from bot.limits.ceilings import day_of
    from bot.store.jobs.deliveries import Arrival

    work = Triage(ref=issue.ref, why="backfill")
    # The delivery id is derived from the issue, so two commands at once do not queue it twice; and from the day, so
    # that an issue that a limit or its state kept from a run can be queued another day.
    guid = f"backfill:{issue.ref.key}:{day_of(store.clock())}"
    await store.inbox.accept(Arrival(guid, "backfill", b"", (work,)))
