"""``triage backfill``: triage a bounded number of existing issues."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from bot.cli.options import since
from bot.errors import RateLimitedError, UserError

if TYPE_CHECKING:
    from bot.github import GitHub
    from bot.ports import Issue, RepositoryRef
    from bot.settings import Settings
    from bot.store.tables import Store

MAX_ISSUES = 2_000


@click.command("backfill")
@click.argument("repository", metavar="OWNER/REPO")
@click.option(
    "--limit", type=click.IntRange(1, MAX_ISSUES), default=20, show_default=True, help="The maximum number of issues."
)
@since("Only issues that changed")
@click.option("--write/--dry-run", help="Queue the issues for the server, or only list them, which is the default.")
def command(*, repository: str, limit: int, since: datetime | None, write: bool) -> None:
    """Triage open issues that are older than the App's installation, newest first, except those already triaged.

    Prints them and the plan: how many, the writes at GitHub, the model's calls, tokens and cost, and the time at
    GitHub's write limit. With --write they are queued, and the running server triages them one after the other,
    within the limits of the repository's configuration. After Ctrl-C or a kill the same command queues the rest;
    nothing is posted twice. A repository is known once a delivery has named it.
    """
    try:
        asyncio.run(_backfill(repository, limit, since, write=write))
    except RateLimitedError as error:
        wait = f" for {error.after:.0f} s" if error.after else ""
        raise UserError(f"GitHub asks to wait{wait}; nothing was queued") from error
    except KeyboardInterrupt:
        click.echo("stopped; the issues printed above are queued, and the same command queues the rest", err=True)
        sys.exit(130)


async def _backfill(name: str, limit: int, since: datetime | None, *, write: bool) -> None:
    from bot.cli.server.plan import describe, read_plan
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
