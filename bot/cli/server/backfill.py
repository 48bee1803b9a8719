"""``triage backfill``: triage a bounded number of existing issues, which are listed first."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime

import click

from bot.errors import RateLimitedError, UserError
from bot.github.app import GitHub
from bot.jobs import Triage
from bot.limits.ceilings import day_of
from bot.limits.writes import PER_HOUR
from bot.ports import Issue
from bot.report.sanitise import plain
from bot.report.words import count
from bot.settings.repository import RepositoryConfig, find_config
from bot.settings.server import load_server_settings
from bot.store.databases.sqlite import open_store
from bot.store.jobs.deliveries import Arrival
from bot.store.tables import Store
from bot.worker.publish.wanted import reason_to_skip
from bot.worker.tools import open_github
from bot.worker.upkeep import stamp

MAX_ISSUES = 2_000
WRITES = {"dry-run": 0, "label": 1, "comment": 5}
"""Maximum number of writes for one issue by mode: a comment, its edit, a label and two reactions."""


@click.command("backfill")
@click.argument("repository", metavar="OWNER/REPO")
@click.option(
    "--limit", type=click.IntRange(1, MAX_ISSUES), default=20, show_default=True, help="The maximum number of issues."
)
@click.option(
    "--since",
    metavar="DATE",
    type=click.DateTime(),
    help="Only issues that changed since this date (UTC), such as 2026-01-31.",
)
@click.option("--write/--dry-run", help="Queue the issues for the server, or only list them, which is the default.")
def command(*, repository: str, limit: int, since: datetime | None, write: bool) -> None:
    """Triage open issues that are older than the App's installation, newest first, except those already triaged.

    Prints them, and why others are left alone. With --write they are queued for the running server. After an
    interruption the same command queues the rest; nothing is posted twice. A repository is known once a delivery has
    named it.
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
    async with _opened() as (store, github):
        ref = await store.installations.named(name)
        if ref is None:
            raise UserError(f"the App is not installed in {name}: install it there, or check the name")
        client = github.for_repository(ref)
        issues = await client.issues(since=stamp(since.replace(tzinfo=UTC)) if since else None, limit=limit)
        if not issues:
            click.echo("no open issues", err=True)
            return
        config = (await find_config(client, await store.for_repository(ref).config.last_valid())).config
        reasons = [await why_not(store, issue, config) for issue in issues]
        fresh = [issue for issue, reason in zip(issues, reasons, strict=True) if not reason]
        most = f"{count(len(fresh), 'issue')} of the newest {len(issues)} open ones to triage"
        writes = f"at most {len(fresh) * WRITES[config.mode]} writes to GitHub, {PER_HOUR} an hour"
        click.echo(f"{most}; mode {config.mode}, {writes}", err=True)
        for reason, number in sorted(Counter(filter(None, reasons)).items()):
            click.echo(f"left alone: {number}, because {reason}", err=True)
        for issue in fresh:
            # Printed when it is stored, so that the output of a killed command lists what is queued.
            if write:
                # The delivery id is derived from the issue, so two commands at once do not queue it twice; and from the
                # day, so that an issue that a limit or its state kept from a run can be queued another day.
                guid = f"backfill:{issue.ref.key}:{day_of(store.clock())}"
                work = Triage(ref=issue.ref, why="backfill")
                await store.inbox.accept(Arrival(guid, "backfill", b"", (work,)))
            opened, comments = issue.created_at[:10], issue.comments or 0
            click.echo(f"#{issue.ref.number:<6} {opened}  {comments:>3} comments  {plain(issue.title)}")
        done = "queued; the server triages them, also after a restart"
        click.echo(f"{len(fresh)} issues {done if write else 'would be triaged; --write queues them'}", err=True)


@asynccontextmanager
async def _opened() -> AsyncIterator[tuple[Store, GitHub]]:
    """Open the server's store, which the server may use at the same time, and the GitHub client."""
    settings = load_server_settings()
    async with aclosing(open_store(settings.settings)) as store, aclosing(open_github(settings, store)) as github:
        yield store, github


async def why_not(store: Store, issue: Issue, config: RepositoryConfig) -> str:
    """Return why an open issue is not queued; empty if it is."""
    issue_store = store.for_issue(issue.ref)
    if await issue_store.runs.last() is not None:
        return "it was triaged before"
    if await store.jobs.has_unfinished(issue.ref.key):
        return "it is queued already"
    muted = "a person stopped triage" if (await issue_store.row.state()).muted else ""
    return reason_to_skip(issue, config) or muted
