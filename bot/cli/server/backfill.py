"""``triage backfill``: triage a bounded number of existing issues, or read past issues ahead of time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import click

from bot.errors import RateLimitedError, UserError

if TYPE_CHECKING:
    from bot.github import GitHub
    from bot.ports import GitHubPort, Issue, RepositoryRef
    from bot.store.issues.past_issues import PastIssues
    from bot.store.tables import Store

A_PAGE = 100


async def learn(past: PastIssues, github: GitHubPort, most: int) -> None:
    """Read pages, newest first, up to ``most`` issues; issues of earlier calls count and are not read again.

    Raises:
        UserError: GitHub asks to wait; the same command resumes where this one stopped.
    """
    from bot.runs.past import PAGES, is_enough, learn_page  # noqa: PLC0415  --help needs no numpy
    from bot.store.issues.past_issues import ReadingProgress  # noqa: PLC0415

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


MOST, MOST_PAST = 500, 50_000


@click.command("backfill")
@click.argument("repository", metavar="OWNER/REPO")
@click.option(
    "--limit", type=click.IntRange(1, MOST), default=20, show_default=True, help="The maximum number of issues."
)
@click.option("--since", metavar="DATE", help="Only issues that changed since this date, such as 2026-01-31.")
@click.option(
    "--write", is_flag=True, help="Queue the issues for the server; without this option they are only listed."
)
@click.option(
    "--past-issues",
    type=click.IntRange(1, MOST_PAST),
    metavar="N",
    help="Do not triage: index the newest N issues of any state, for comparison with new ones.",
)
def command(*, repository: str, limit: int, since: str | None, write: bool, past_issues: int | None) -> None:
    """Triage open issues that are older than the App's installation, newest first, except those already triaged.

    Only lists them unless --write is given; then the running server triages them one after the other, within the
    limits of the repository's configuration. A repository is known once a delivery has named it.

    The server reads a repository's newest thousand issues for comparison when it first triages an issue there.
    --past-issues reads more of them, or reads them earlier; it posts nothing and resumes where it stopped.
    """
    if past_issues is not None:
        asyncio.run(_learn(repository, past_issues))
        return
    asyncio.run(_backfill(repository, limit, since, write=write))


async def _learn(name: str, most: int) -> None:
    async with _opened() as (store, github):
        ref = await _named(store, name)
        await learn(store.for_repository(ref).past, github.for_repository(ref), most)


async def _backfill(name: str, limit: int, since: str | None, *, write: bool) -> None:
    async with _opened() as (store, github):
        ref = await _named(store, name)
        issues = await github.for_repository(ref).issues(since=_stamp(since), limit=limit)
        fresh = [issue for issue in issues if await store.for_issue(issue.ref).runs.last() is None]
        for issue in fresh:
            click.echo(f"#{issue.ref.number}  {issue.title}")
        if write:
            await _queue(store, fresh)
        click.echo(f"{len(fresh)} issues {'queued' if write else 'would be triaged; --write queues them'}", err=True)


@asynccontextmanager
async def _opened() -> AsyncIterator[tuple[Store, GitHub]]:
    """Open the server's store, which the server may use at the same time, and the GitHub client."""
    from bot.github import GitHub  # noqa: PLC0415  --help needs no client
    from bot.settings.server import load_server_settings  # noqa: PLC0415
    from bot.store.databases.opening import open_store  # noqa: PLC0415

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
        yield store, github
    finally:
        await github.aclose()
        await store.aclose()


async def _named(store: Store, name: str) -> RepositoryRef:
    from bot.errors import UserError  # noqa: PLC0415  as above

    found = await store.installations.named(name)
    if found is None:
        raise UserError(f"no installation names {name}: install the App there, or check the name")
    return found


async def _queue(store: Store, issues: list[Issue]) -> None:
    from bot.jobs import Triage  # noqa: PLC0415  as above
    from bot.store.jobs.deliveries import Arrival  # noqa: PLC0415

    for issue in issues:
        work = Triage(ref=issue.ref, why="backfill")
        # The delivery id is derived from the issue, so a repeated backfill does not queue it twice.
        await store.inbox.accept(Arrival(f"backfill:{issue.ref.key}", "backfill", b"", (work,)))


def _stamp(since: str | None) -> str | None:
    from datetime import UTC, datetime  # noqa: PLC0415  as above

    from bot.errors import UserError  # noqa: PLC0415

    if since is None:
        return None
    try:
        when = datetime.fromisoformat(since)
    except ValueError as error:
        raise UserError(f"--since {since}: write a date, such as 2026-01-31") from error
    return when.replace(tzinfo=when.tzinfo or UTC).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
