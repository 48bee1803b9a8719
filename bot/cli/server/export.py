"""``triage export``: print all stored data of one repository as JSON lines."""

from __future__ import annotations

import asyncio
import json

import click


@click.command("export")
@click.option("--repository", "name", metavar="OWNER/REPO", required=True, help="The repository's last known name.")
def command(*, name: str) -> None:
    """Print all stored data of one repository, one JSON object per line, each with the name of its `table`.

    Checkpoints of waiting runs are printed as their values. The mirror is a copy of the repository itself, so only its
    folder is printed. A server may run at the same time.
    """
    asyncio.run(_export(name))


async def _export(name: str) -> None:
    from bot.cli.stored import opened
    from bot.store.repository_data import REPOSITORY_ROWS

    async with opened(name) as kept:
        for one in kept.repositories:
            for table in REPOSITORY_ROWS:
                for row in await one.rows(table):
                    click.echo(json.dumps({"table": table, **row}, ensure_ascii=False))
            async for row in kept.checkpoints(one):
                click.echo(json.dumps(row, ensure_ascii=False))
            for folder in kept.mirrors(one):
                click.echo(json.dumps({"table": "mirror", "folder": str(folder)}))
