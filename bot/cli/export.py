"""``triage export``: everything that is kept of one repository, as JSON lines."""

from __future__ import annotations

import asyncio
import json

import click


@click.command("export")
@click.option("--repository", "name", metavar="OWNER/REPO", required=True, help="As it was last called.")
def command(*, name: str) -> None:
    """Print everything that is kept of one repository, a JSON object a line, each with the `table` it stands in.

    Checkpoints of runs that wait are printed as the values they hold. Of the mirror, which is the repository itself,
    only its folder is named. Works beside a running server.
    """
    asyncio.run(_export(name))


async def _export(name: str) -> None:
    from bot.cli.kept import opened  # noqa: PLC0415  --help needs no store
    from bot.store.whole import KEPT  # noqa: PLC0415  as above

    async with opened(name) as kept:
        for one in kept.repositories:
            for table in KEPT:
                for row in await one.rows(table):
                    click.echo(json.dumps({"table": table, **row}, ensure_ascii=False))
            async for row in kept.checkpoints(one):
                click.echo(json.dumps(row, ensure_ascii=False))
            for folder in kept.mirrors(one):
                click.echo(json.dumps({"table": "mirror", "folder": str(folder)}))
