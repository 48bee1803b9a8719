"""``triage forget``: delete all stored data of one repository."""

from __future__ import annotations

import asyncio
import shutil

import click


@click.command("forget")
@click.option("--repository", "name", metavar="OWNER/REPO", required=True, help="The repository's last known name.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def command(*, name: str, yes: bool) -> None:
    """Delete all stored data of one repository, including its checkpoints and this machine's mirror.

    Other machines delete their mirrors within some minutes. Comments and labels on GitHub stay. A server may run at the
    same time; while the App is installed there, the next delivery creates new data.
    """
    if not yes:
        click.confirm(f"Delete all stored data of {name}? This cannot be undone", abort=True, err=True)
    asyncio.run(_forget(name))


async def _forget(name: str) -> None:
    from bot.cli.stored import opened  # noqa: PLC0415  --help needs no store

    async with opened(name) as kept:
        for one in kept.repositories:
            # First: the ids of the checkpoints are read from the rows that `forget` deletes.
            threads = await kept.forget_checkpoints(one)
            for table, rows in (await one.forget()).items():
                if rows:
                    click.echo(f"{rows:>8} {table}")
            click.echo(f"{threads:>8} runs' checkpoints")
            for folder in kept.mirrors(one):
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
                click.echo(f"{1:>8} mirror: {folder}")
