"""``triage jobs``: list dead and parked jobs, and retry dead ones."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import click

from bot.cli.options import prints

if TYPE_CHECKING:
    from bot.store.tables import Store


@click.command("jobs")
@click.option(
    "--replay", "number", type=int, metavar="JOB", help="Retry a dead job; its attempts are counted from zero."
)
@click.option("--dry-run", is_flag=True, help="With --replay: change nothing.")
@click.option("--parked", is_flag=True, help="List the jobs that wait for a suspended installation instead.")
@prints("one object per line.")
def command(*, number: int | None, dry_run: bool, parked: bool, as_json: bool) -> None:
    """List dead jobs, which failed permanently, with the reason; `--replay` retries one.

    A server may run at the same time; it starts a replayed job within seconds.
    """
    from bot.settings import load_settings
    from bot.store.databases.opening import open_existing_store

    state = "parked" if parked else "dead"
    asyncio.run(_jobs(open_existing_store(load_settings()), number, state, dry_run=dry_run, as_json=as_json))


async def _jobs(store: Store, number: int | None, state: str, *, dry_run: bool, as_json: bool) -> None:
    from bot.errors import UserError

    try:
        if number is not None:
            dead = number in {job.id for job in await store.jobs.held_jobs("dead")}
            if not (dead if dry_run else await store.jobs.replay(number)):
                raise UserError(f"no dead job has the number {number}; `triage jobs` lists them")
            click.echo(f"job {number} {'would be' if dry_run else 'is'} queued again")
            return
        for job in await store.jobs.held_jobs(state):
            row = {
                "job": job.id,
                "kind": job.kind,
                "issue": job.issue_key,
                "attempts": job.attempts,
                "said": job.message,
            }
            line = f"{job.id:>6}  {job.kind:<12} {job.issue_key:<32} {job.attempts:>2} attempts  {job.message}"
            click.echo(json.dumps(row) if as_json else line)
    finally:
        await store.aclose()
