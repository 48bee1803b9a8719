"""``triage backfill``: triage a bounded number of existing issues, after a plan of what it costs."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import click

from bot.errors import RateLimitedError, UserError
from bot.github import GitHub
from bot.github.repository import RepositoryClient
from bot.jobs import Triage
from bot.limits.ceilings import day_of
from bot.limits.writes import PER_HOUR
from bot.ports import Issue
from bot.report.sanitise import plain
from bot.report.words import count
from bot.settings import Settings
from bot.settings.repository import RepositoryConfig
from bot.settings.repository_file import find_config
from bot.settings.server import load_server_settings
from bot.store.databases.sqlite import open_store
from bot.store.jobs.deliveries import Arrival
from bot.store.tables import Store
from bot.worker.budgets import Budgets
from bot.worker.publish.wanted import reason_to_skip
from bot.worker.upkeep import stamp

MAX_ISSUES = 2_000


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

    Prints them and the plan: how many, the writes at GitHub and the model's calls. With --write they are queued for
    the running server. After an interruption the same command queues the rest; nothing is posted twice. A repository
    is known once a delivery has named it.
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
    async with _opened() as (store, github, settings):
        ref = await store.installations.named(name)
        if ref is None:
            raise UserError(f"the App is not installed in {name}: install it there, or check the name")
        client = github.for_repository(ref)
        issues = await client.issues(since=stamp(since.replace(tzinfo=UTC)) if since else None, limit=limit)
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
            opened, comments = issue.created_at[:10], issue.comments or 0
            click.echo(f"#{issue.ref.number:<6} {opened}  {comments:>3} comments  {plain(issue.title)}")
        queued, listed = (
            "queued; the server triages them, also after a restart",
            "would be triaged; --write queues them",
        )
        click.echo(f"{len(plan.fresh)} issues {queued if write else listed}", err=True)


@asynccontextmanager
async def _opened() -> AsyncIterator[tuple[Store, GitHub, Settings]]:
    """Open the server's store, which the server may use at the same time, and the GitHub client."""
    server = load_server_settings()
    settings = server.settings
    async with aclosing(open_store(settings)) as store:
        github = GitHub(
            app_id=str(server.app_id),
            private_key=server.private_key,
            writes=store.writes,
            api_url=settings.github_api_url,
            server_url=settings.github_server_url,
        )
        async with aclosing(github):
            yield store, github, settings


async def _queue(store: Store, issue: Issue) -> None:
    # The delivery id is derived from the issue, so two commands at once do not queue it twice; and from the day, so
    # that an issue that a limit or its state kept from a run can be queued another day.
    guid = f"backfill:{issue.ref.key}:{day_of(store.clock())}"
    await store.inbox.accept(Arrival(guid, "backfill", b"", (Triage(ref=issue.ref, why="backfill"),)))


@dataclass(frozen=True, slots=True)
class PlannedIssue:
    """An open issue, and what a backfill does with it."""

    issue: Issue
    state: Literal["to triage", "triaged", "queued", "left alone"]
    reason: str = ""
    """Why it is left alone."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The issues of a backfill, and the figures of its cost."""

    issues: tuple[PlannedIssue, ...]
    """All issues that were listed, the newest first."""
    config: RepositoryConfig
    has_labels: bool
    """The repository has a label that may be set."""
    model: str
    """The model that judges; empty if rules do."""
    most_calls: int | None
    """The limit of a run's model calls."""
    most_a_day: int | None
    """The limit of runs a day; None if there is none."""

    @property
    def fresh(self) -> tuple[Issue, ...]:
        """The issues that are to be triaged."""
        return tuple(issue.issue for issue in self.issues if issue.state == "to triage")

    @property
    def writes(self) -> tuple[int, int]:
        """The fewest and the most writes to GitHub for one issue, without alerts and without replies to people."""
        label = int(self.has_labels)
        if self.config.mode == "dry-run":
            return 0, 0
        if self.config.mode == "label":
            return 0, label
        # Two reactions, and a comment if there is something to state; a model's report edits one by rules.
        return 2, 3 + label + bool(self.model)


async def read_plan(store: Store, github: RepositoryClient, settings: Settings, issues: Sequence[Issue]) -> Plan:
    """Return the plan for these open issues of one repository, of which there is at least one."""
    ref = issues[0].ref.repository
    found = await find_config(github, await store.for_repository(ref).config.last_valid())
    config = found.config
    budgets = Budgets.of(settings)
    days = [scope.ceiling.issues for scope in budgets.day(ref, store.clock())]
    with_model = settings.brain == "llm" and config.brain != "rules"
    return Plan(
        issues=tuple([await _planned(store, issue, config) for issue in issues]),
        config=config,
        has_labels=any(map(config.labels.allows, await github.repository_labels())),
        model=settings.triage_model if with_model else "",
        most_calls=budgets.run.calls,
        most_a_day=min((most for most in days if most is not None), default=None),
    )


async def _planned(store: Store, issue: Issue, config: RepositoryConfig) -> PlannedIssue:
    issue_store = store.for_issue(issue.ref)
    if await issue_store.runs.last() is not None:
        return PlannedIssue(issue, "triaged")
    if await store.jobs.has_unfinished(issue.ref.key):
        return PlannedIssue(issue, "queued")
    muted = "a person stopped triage" if (await issue_store.row.state()).muted else None
    reason = reason_to_skip(issue, config) or muted
    return PlannedIssue(issue, "left alone", reason) if reason else PlannedIssue(issue, "to triage")


def describe(plan: Plan) -> list[str]:
    """Return the plan in sentences, one a line."""
    states = Counter(issue.state for issue in plan.issues)
    lines = [f"{count(len(plan.fresh), 'issue')} of the newest {len(plan.issues)} open ones to triage"]
    if states["triaged"] or states["queued"]:
        lines.append(f"resumes: {states['triaged']} triaged before, {states['queued']} queued already")
    reasons = Counter(issue.reason for issue in plan.issues if issue.reason)
    lines += [f"left alone: {number}, because {reason}" for reason, number in sorted(reasons.items())]
    return [*lines, *_costs(plan)] if plan.fresh else lines


def _costs(plan: Plan) -> Iterator[str]:
    number, (least, most) = len(plan.fresh), plan.writes
    limits = f"mode {plan.config.mode}, at most {most} for an issue; {PER_HOUR} an hour"
    yield f"writes to GitHub: {least * number} to {most * number} ({limits})"
    days = -(-number // plan.most_a_day) if plan.most_a_day else 1
    if days > 1:
        yield f"limit: {plan.most_a_day} runs a day, so {days} days"
    calls = f"at most {plan.most_calls * number} calls" if plan.most_calls is not None else "without a limit of calls"
    yield f"model {plan.model}: {calls}; docs/cost.md has measurements" if plan.model else "model: none, rules judge"
