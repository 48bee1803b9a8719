"""``triage replay``: show the jobs that follow from a saved delivery."""

from __future__ import annotations

import asyncio
import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bot.jobs import Work
    from bot.server.webhook.events import Delivery


@click.command("replay")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--event", help="The event's name, as in X-GitHub-Event; without it, the file's name up to its first dot."
)
@click.option("--store/--dry-run", help="Store the jobs for the server, or only print them, which is the default.")
def command(*, file: Path, event: str | None, store: bool) -> None:
    """Read a delivery saved as FILE, such as issues.opened.json, and print its jobs.

    A dry run unless --store is given; then the running server processes the delivery as if GitHub had sent it again.
    """
    event = event or file.name.partition(".")[0]
    delivery, work = _decide(file, event)
    for one in work:
        click.echo(json.dumps({"lane": one.lane, "delay": one.delay, **json.loads(one.model_dump_json())}))
    if not work:
        click.echo(f"nothing to do for this event {event!r}; --event names another one", err=True)
    elif store:
        asyncio.run(_store(delivery, file.read_bytes(), work))
        click.echo(f"stored as delivery {delivery.guid}", err=True)


def _decide(file: Path, event: str) -> tuple[Delivery, list[Work]]:
    from bot.errors import UserError
    from bot.server.webhook.events import MalformedError, read_delivery
    from bot.server.webhook.handlers import Handlers
    from bot.server.webhook.handlers.people import Policy
    from bot.settings.server import load_with_app

    settings = load_with_app()
    handlers = Handlers(Policy(app_id=settings.github_app_id or 0, bots=settings.bots))
    # A new id, because the store ignores a delivery whose id it has stored before.
    headers = {"x-github-event": event, "x-github-delivery": f"replay-{uuid.uuid4()}"}
    try:
        delivery = read_delivery(headers, file.read_bytes(), known=handlers.uses(event), server=settings.server)
        return delivery, handlers.decide(delivery)
    except MalformedError as error:
        raise UserError(f"{file}: {error}") from error


async def _store(delivery: Delivery, body: bytes, work: list[Work]) -> None:
    from bot.settings import load_settings
    from bot.store.databases.opening import open_store
    from bot.store.jobs.deliveries import Arrival

    store = open_store(load_settings())
    try:
        await store.inbox.accept(Arrival(delivery.guid, delivery.event, body, tuple(work)))
    finally:
        await store.aclose()
