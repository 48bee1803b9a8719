"""Commands about what a server stored: ``stats`` counts its reports, ``export`` and ``forget`` print or delete all."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import click
from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import TypeAdapter

from bot.cli.options import DRY_RUN, prints, prints_only_json
from bot.errors import UserError
from bot.report.record import ENOUGH, Record, read_record
from bot.runs.promise import Fifth, fifths
from bot.settings.environment import load_settings
from bot.store.databases.checkpoints import open_saver
from bot.store.databases.sqlite import open_existing_store
from bot.store.repository_data import REPOSITORY_ROWS, RepositoryData
from bot.store.runs.outcomes import FeedbackCounts, Tally
from bot.store.tables import Store

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


@asynccontextmanager
async def opened(name: str) -> AsyncIterator[tuple[list[RepositoryData], BaseCheckpointSaver[Any], Path]]:
    """Open the stored data of a repository, by its last known name, the checkpoints, and the folder of mirrors.

    There are several repositories of one name if one was deleted and created again.

    Raises:
        UserError: nothing is stored under this name.
    """
    settings = load_settings()
    async with aclosing(open_existing_store(settings)) as store:
        keys = await store.installations.keys_of(name)
        if not keys:
            raise UserError(f"no data is stored for {name}")
        async with open_saver(settings) as saver:
            yield list(map(store.repository_data, keys)), saver, settings.triage_data_dir / "repos"


def _mirror(folder: Path, repository: RepositoryData) -> Path:
    return folder / repository.key.rpartition("/")[2]


@click.command("export")
@click.option("--repository", "name", metavar="OWNER/REPO", required=True, help="The repository's last known name.")
@prints_only_json
def export_command(*, name: str) -> None:
    """Print all stored data of one repository, one JSON object per line, each with the name of its `table`.

    Checkpoints of waiting runs are printed as their values, the mirror as its folder. A server may run at the same
    time.
    """
    asyncio.run(_export(name))


async def _export(name: str) -> None:
    async with opened(name) as (repositories, saver, folder):
        for repository in repositories:
            for table in REPOSITORY_ROWS:
                for row in await repository.rows(table):
                    _print({"table": table, **row})
            for thread in await repository.threads():
                found = await saver.aget_tuple({"configurable": {"thread_id": thread}})
                if found is not None:
                    values = _ANY.dump_python(found.checkpoint["channel_values"], mode="json", fallback=str)
                    _print({"table": "checkpoints", "thread": thread, "values": values})
            if (mirror := _mirror(folder, repository)).is_dir():
                _print({"table": "mirror", "folder": str(mirror)})


def _print(row: dict[str, Any]) -> None:
    click.echo(json.dumps(row, ensure_ascii=False))


@click.command("forget")
@click.option("--repository", "name", metavar="OWNER/REPO", required=True, help="The repository's last known name.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@DRY_RUN
def forget_command(*, name: str, yes: bool, dry_run: bool) -> None:
    """Delete all stored data of one repository, including its checkpoints and this machine's mirror.

    Other machines delete their mirrors within some minutes. Comments and labels on GitHub stay. A server may run at the
    same time; while the App is installed there, the next delivery creates new data.
    """
    if not yes and not dry_run:
        click.confirm(f"Delete all stored data of {name}? This cannot be undone", abort=True, err=True)
    asyncio.run(_forget(name, dry_run=dry_run))


async def _forget(name: str, *, dry_run: bool) -> None:
    async with opened(name) as (repositories, saver, folder):
        for repository in repositories:
            # First: the ids of the checkpoints are read from the rows that `forget` deletes.
            threads = await repository.threads()
            for thread in threads if not dry_run else ():
                await saver.adelete_thread(thread)
            for table, rows in (await repository.counts() if dry_run else await repository.forget()).items():
                if rows:
                    click.echo(f"{rows:>8} {table}")
            click.echo(f"{len(threads):>8} runs' checkpoints")
            if (mirror := _mirror(folder, repository)).is_dir():
                if not dry_run:
                    await asyncio.to_thread(shutil.rmtree, mirror, ignore_errors=True)
                click.echo(f"{1:>8} mirror: {mirror}")


@click.command("stats")
@click.argument("repository", metavar="[OWNER/REPO]", required=False)
@prints("counts and calibration of each repository.")
def stats_command(*, repository: str | None, as_json: bool) -> None:
    """Count, per repository, the reports and how often the landed fix changed the reported files.

    When a triaged issue is closed, the server searches the default branch for the commit whose message closes it. A
    report counts as scored if the fix was found, otherwise as unknown. Only repositories with a report are shown.
    """
    known = asyncio.run(_known(open_existing_store(load_settings())))
    if repository:
        known = [row for row in known if row.tally.repository.lower() == repository.lower()]
    click.echo(json.dumps([_document(row) for row in known], indent=1) if as_json else _text(known))


@dataclass(frozen=True, slots=True)
class _Known:
    """The figures of one repository."""

    tally: Tally
    fifths: tuple[Fifth, ...]
    record: Record | None
    people: FeedbackCounts


async def _known(store: Store) -> list[_Known]:
    async with aclosing(store):
        found = []
        for tally in await store.outcomes.tallies():
            record = store.of_repository(tally.key).outcomes
            standing, people = await record.standing(), await record.feedback_counts()
            found.append(_Known(tally, fifths(standing.scored), read_record(*standing), people))
    return found


def _document(known: _Known) -> dict[str, Any]:
    counts = asdict(known.tally)
    del counts["key"]
    return {
        **counts,
        "feedback": asdict(known.people),
        "calibration": [asdict(fifth) for fifth in known.fifths],
        "confidence_words_by": "this repository" if known.record else "shipped",
    }


def _text(known: list[_Known]) -> str:
    if not known:
        return "No reports yet."
    width = max(len("repository"), *(len(row.tally.repository) for row in known))
    head = f"{'repository':<{width}}  reports  claims  scored  first right  in top 3  claims right  unknown"
    return "\n".join((head, *(_row(row.tally, width) for row in known), *(_words(row) for row in known)))


def _row(tally: Tally, width: int) -> str:
    claims = f"{tally.right_claims}/{tally.scored_claims}"
    return (
        f"{tally.repository:<{width}}  {tally.reports:>7}  {tally.claims:>6}  {tally.scored:>6}  {tally.first:>11}  "
        f"{tally.among_three:>8}  {claims:>12}  {tally.unknown:>7}"
    )


def _words(known: _Known) -> str:
    """Return a line on how well confidences matched the outcomes, and which calibration the confidence words use."""
    worth = ", ".join(f"{fifth.mean:.0%} → {fifth.right}/{fifth.cases}" for fifth in known.fifths)
    shipped = f"the shipped calibration, because fewer than {ENOUGH} fixes are known"
    by = f"its {known.record.basis}" if known.record else shipped
    correlation = f"; confidence and accuracy, highest confidence first: {worth}" if worth else ""
    return f"\n{known.tally.repository}: confidence words are based on {by}{correlation}.{_feedback(known.people)}"


def _feedback(counts: FeedbackCounts) -> str:
    """Return a line on people's judgements of reports and their label changes; empty if there are none."""
    names = ("called right", "called wrong", "labels added", "labels removed")
    shown = ", ".join(f"{number} {name}" for number, name in zip(astuple(counts), names, strict=True) if number)
    return f"\nFeedback by people: {shown}." if shown else ""
