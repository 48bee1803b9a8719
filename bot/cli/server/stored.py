"""``triage export`` and ``triage forget``: print or delete all stored data of one repository."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import TypeAdapter

from bot.cli.options import prints_only_json
from bot.errors import UserError
from bot.settings import load_settings
from bot.store.databases.checkpoints import open_saver
from bot.store.databases.opening import open_existing_store
from bot.store.repository_data import RepositoryData

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


@dataclass(frozen=True, slots=True)
class StoredRepository:
    """The stored repositories with one name; more than one if a repository was deleted and created again."""

    repositories: tuple[RepositoryData, ...]
    saver: BaseCheckpointSaver[Any]
    folder: Path
    """The folder of this machine's mirrors."""

    async def checkpoints(self, one: RepositoryData) -> AsyncIterator[dict[str, Any]]:
        """Yield the checkpoints of its unfinished runs."""
        for thread in await one.threads():
            found = await self.saver.aget_tuple({"configurable": {"thread_id": thread}})
            if found is not None:
                values = _ANY.dump_python(found.checkpoint["channel_values"], mode="json", fallback=str)
                yield {"table": "checkpoints", "thread": thread, "values": values}

    async def forget_checkpoints(self, one: RepositoryData) -> int:
        """Delete its checkpoints; return the number of runs."""
        threads = await one.threads()
        for thread in threads:
            await self.saver.adelete_thread(thread)
        return len(threads)

    def mirrors(self, one: RepositoryData) -> list[Path]:
        """Return its mirror on this machine; empty if there is none."""
        folder = self.folder / one.key.rpartition("/")[2]
        return [folder] if folder.is_dir() else []


@asynccontextmanager
async def opened(name: str) -> AsyncIterator[StoredRepository]:
    """Open the stored data of a repository, by its last known name.

    Raises:
        UserError: nothing is stored under this name.
    """
    settings = load_settings()
    async with aclosing(open_existing_store(settings)) as store:
        keys = await store.installations.keys_of(name)
        if not keys:
            raise UserError(f"no data is stored for {name}")
        async with open_saver(settings) as saver:
            yield StoredRepository(tuple(map(store.repository_data, keys)), saver, settings.triage_data_dir / "repos")


@click.command("export")
@click.option("--repository", "name", metavar="OWNER/REPO", required=True, help="The repository's last known name.")
@prints_only_json
def export_command(*, name: str) -> None:
    """Print all stored data of one repository, one JSON object per line, each with the name of its `table`.

    Checkpoints of waiting runs are printed as their values. The mirror is a copy of the repository itself, so only its
    folder is printed. A server may run at the same time.
    """
    asyncio.run(_export(name))


async def _export(name: str) -> None:
    from bot.store.repository_data import REPOSITORY_ROWS

    async with opened(name) as kept:
        for repository in kept.repositories:
            for table in REPOSITORY_ROWS:
                for row in await repository.rows(table):
                    click.echo(json.dumps({"table": table, **row}, ensure_ascii=False))
            async for row in kept.checkpoints(repository):
                click.echo(json.dumps(row, ensure_ascii=False))
            for folder in kept.mirrors(repository):
                click.echo(json.dumps({"table": "mirror", "folder": str(folder)}))


@click.command("forget")
@click.option("--repository", "name", metavar="OWNER/REPO", required=True, help="The repository's last known name.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--dry-run", is_flag=True, help="Print what would be deleted, and delete nothing.")
def forget_command(*, name: str, yes: bool, dry_run: bool) -> None:
    """Delete all stored data of one repository, including its checkpoints and this machine's mirror.

    Other machines delete their mirrors within some minutes. Comments and labels on GitHub stay. A server may run at the
    same time; while the App is installed there, the next delivery creates new data.
    """
    if not yes and not dry_run:
        click.confirm(f"Delete all stored data of {name}? This cannot be undone", abort=True, err=True)
    asyncio.run(_forget(name, dry_run=dry_run))


async def _forget(name: str, *, dry_run: bool) -> None:
    async with opened(name) as kept:
        for repository in kept.repositories:
            # First: the ids of the checkpoints are read from the rows that `forget` deletes.
            threads = len(await repository.threads()) if dry_run else await kept.forget_checkpoints(repository)
            for table, rows in (await repository.counts() if dry_run else await repository.forget()).items():
                if rows:
                    click.echo(f"{rows:>8} {table}")
            click.echo(f"{threads:>8} runs' checkpoints")
            for folder in kept.mirrors(repository):
                if not dry_run:
                    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
                click.echo(f"{1:>8} mirror: {folder}")
