"""``triage forget``: delete all stored data of one repository."""

from __future__ import annotations

import asyncio
import shutil

import click


@click.command("forget")
@click.option("--repository", "name", metavar="OWNER/REPO", required=True, help="The repository's last known name.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--dry-run", is_flag=True, help="Print what would be deleted, and delete nothing.")
def command(*, name: str, yes: bool, dry_run: bool) -> None:
    """Delete all stored data of one repository, including its checkpoints and this machine's mirror.

    Other machines delete their mirrors within some minutes. Comments and labels on GitHub stay. A server may run at the
    same time; while the App is installed there, the next delivery creates new data.
    """
    if not yes and not dry_run:
        click.confirm(f"Delete all stored data of {name}? This cannot be undone", abort=True, err=True)
    asyncio.run(_forget(name, dry_run=dry_run))


async def _forget(name: str, *, dry_run: bool) -> None:
    from bot.cli.stored import opened

    async with opened(name) as kept:
        for one in kept.repositories:
            # First: the ids of the checkpoints are read from the rows that `forget` deletes.
            threads = len(await one.threads()) if dry_run else await kept.forget_checkpoints(one)
            for table, rows in (await one.counts() if dry_run else await one.forget()).items():
                if rows:
                    click.echo(f"{rows:>8} {table}")
            click.echo(f"{threads:>8} runs' checkpoints")
            for folder in kept.mirrors(one):
                if not dry_run:
                    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
                click.echo(f"{1:>8} mirror: {folder}")
