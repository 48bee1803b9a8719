"""``triage export`` and ``triage forget``: print or delete all stored data of one repository."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import click
from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import TypeAdapter

from bot.cli.options import DRY_RUN, prints_only_json
from bot.errors import UserError
from bot.settings import load_settings
from bot.store.databases.checkpoints import open_saver
from bot.store.databases.sqlite import open_existing_store
from bot.store.repository_data import REPOSITORY_ROWS, RepositoryData

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
