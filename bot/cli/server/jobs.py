"""``triage jobs`` and ``triage replay``: list and retry failed jobs, and show those of a saved delivery."""

import asyncio
import json
import uuid
from contextlib import aclosing
from pathlib import Path

import click

from bot.cli.options import prints
from bot.errors import UserError
from bot.jobs import Work
from bot.report.words import count
from bot.server.webhook.events import Delivery, MalformedError, read_delivery
from bot.server.webhook.handlers import HANDLERS, work_for
from bot.settings.environment import load_settings
from bot.settings.server import load_with_app
from bot.store.databases.sqlite import open_existing_store, open_store
from bot.store.jobs.deliveries import Arrival
from bot.store.tables import Store

_LISTED = 10_000
"""Maximum number of jobs that are listed, the newest ones."""


@click.command("jobs")
@click.option(
    "--replay", "number", type=int, metavar="JOB", help="Retry a dead job; its attempts are counted from zero."
)
@click.option("--dry-run", is_flag=True, help="With --replay: change nothing.")
@click.option("--parked", is_flag=True, help="List the jobs that wait for a suspended installation instead.")
@prints("one object per line.")
def jobs_command(*, number: int | None, dry_run: bool, parked: bool, as_json: bool) -> None:
    """List dead jobs, which failed permanently, with the reason; `--replay` retries one.

    A server may run at the same time; it starts a replayed job within seconds.
    """
    asyncio.run(_jobs(open_existing_store(load_settings()), number, parked=parked, dry_run=dry_run, as_json=as_json))


async def _jobs(store: Store, number: int | None, *, parked: bool, dry_run: bool, as_json: bool) -> None:
    async with aclosing(store):
        held = await store.pages.queue.listing("parked" if parked else "dead", None, _LISTED)
        if number is not None:
            if not (number in {job.id for job in held} if dry_run else await store.jobs.replay(number)):
                raise UserError(f"no dead job has the number {number}; `triage jobs` lists them")
            click.echo(f"job {number} {'would be' if dry_run else 'is'} queued again")
            return
        for job in reversed(held):
            row = {"job": job.id, "kind": job.kind, "issue": job.issue_key, "attempts": job.attempt}
            line = f"{job.id:>6}  {job.kind:<12} {job.issue_key:<32} {count(job.attempt, 'attempt'):>11}  {job.message}"
            click.echo(json.dumps(row | {"said": job.message}) if as_json else line)


@click.command("replay")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--event", help="The event's name, as in X-GitHub-Event; without it, the file's name up to its first dot."
)
@click.option("--store/--dry-run", help="Store the jobs for the server, or only print them, which is the default.")
def replay_command(*, file: Path, event: str | None, store: bool) -> None:
    """Read a delivery saved as FILE, such as issues.opened.json, and print its jobs.

    A dry run unless --store is given; then the running server processes the delivery as if GitHub had sent it again.
    """
    event = event or file.name.partition(".")[0]
    delivery, work = _decide(file, event)
    print_work(work)
    if not work:
        click.echo(f"nothing to do for this event {event!r}; --event names another one", err=True)
    elif store:
        asyncio.run(_stored(Arrival(delivery.guid, delivery.event, file.read_bytes(), tuple(work))))
        click.echo(f"stored as delivery {delivery.guid}", err=True)


def print_work(work: list[Work]) -> None:
    """Print one object per job."""
    for task in work:
        click.echo(json.dumps({"lane": task.lane, "delay": task.delay, **json.loads(task.model_dump_json())}))


def _decide(file: Path, event: str) -> tuple[Delivery, list[Work]]:
    settings = load_with_app()
    # A new id, because the store ignores a delivery whose id it has stored before.
    headers = {"x-github-event": event, "x-github-delivery": f"replay-{uuid.uuid4()}"}
    try:
        delivery = read_delivery(headers, file.read_bytes(), known=event in HANDLERS, server=settings.server)
        return delivery, work_for(delivery)
    except MalformedError as error:
        raise UserError(f"{file}: {error}") from error


async def _stored(arrival: Arrival) -> None:
    async with aclosing(open_store(load_settings())) as store:
        await store.inbox.accept(arrival)
