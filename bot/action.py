"""One event of a GitHub Actions workflow, worked on until nothing is left: the App's own code, without a server."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.dispatch.embedded import Dispatcher
from bot.errors import UserError
from bot.events import Delivery, MalformedError, read_delivery
from bot.handlers import Handlers
from bot.handlers.people import Policy
from bot.operator_config import load_operator_config
from bot.server_settings import ServerSettings
from bot.settings import Settings
from bot.store.deliveries import Arrival
from bot.store.tables import Store
from bot.worker import open_worker

EVENTS = ("issues", "issue_comment")
SOON = 120.0
"""Seconds for which a job that is due later is waited for; a question's two weeks are not."""
LONGEST = 1_500.0
"""Seconds for all of it."""
_LOOK = 0.1
_INSTALLATION = 1
"""No App is installed; the store wants to know under which installation a repository is."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Event:
    """What the workflow was started by."""

    name: str
    file: Path
    id: str
    """The same for the same attempt of the same workflow run."""

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Event:
        """The event that a runner names.

        Raises:
            UserError: this is no runner, or the workflow runs on something else.
        """
        name, file = environ.get("GITHUB_EVENT_NAME", ""), environ.get("GITHUB_EVENT_PATH", "")
        if name not in EVENTS:
            raise UserError(f"run this in a GitHub Actions workflow on {' or '.join(EVENTS)}; the event is {name!r}")
        attempt = f"{environ.get('GITHUB_RUN_ID', '0')}-{environ.get('GITHUB_RUN_ATTEMPT', '1')}"
        return cls(name, Path(file), f"action-{attempt}")


@dataclass(frozen=True, slots=True)
class Acted:
    """What came of it."""

    comment: str = ""
    """The report; empty where there is none."""
    url: str = ""
    """Of the issue."""
    given_up: int = 0
    """Jobs that failed for good."""


async def act(event: Event, settings: Settings, token: str) -> Acted:
    """Do what the event asks for.

    Raises:
        UserError: the event cannot be read, or the settings are not usable.
    """
    delivery = _read(event, settings)
    work = Handlers(Policy(bots=settings.bots)).decide(delivery)
    if not work:
        logger.info("nothing to do for this event", extra={"action": "nothing_to_do"})
        return Acted()
    operator = load_operator_config(settings.triage_config)
    given = ServerSettings(settings, 0, "", (), operator, token=token)
    async with open_worker(given) as worker:
        store = worker.store
        await store.inbox.accept(Arrival(delivery.guid, delivery.event, b"", tuple(work)))
        dispatcher = Dispatcher(worker.jobs, worker.work, concurrency=1)
        running = asyncio.create_task(dispatcher.run())
        try:
            await _nothing_left(store)
        finally:
            await dispatcher.drain(5.0)
            await running
        return await _acted(store, delivery)


def _read(event: Event, settings: Settings) -> Delivery:
    try:
        said = json.loads(event.file.read_bytes())
        body = json.dumps({**said, "installation": {"id": _INSTALLATION}}).encode()
        headers = {"x-github-delivery": event.id, "x-github-event": event.name}
        return read_delivery(headers, body, known=True, server=settings.server)
    except (OSError, ValueError, TypeError, MalformedError) as error:
        raise UserError(f"GITHUB_EVENT_PATH: {event.file} cannot be read as an event: {error}") from error


async def _nothing_left(store: Store) -> None:
    """What is for later is waited for where it is about an issue; old issues are learnt with the next events."""
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        queue = await store.metrics.queue()
        busy = queue.oldest or any(state == "doing" for _, state in queue.jobs)
        later = await store.jobs.idle() if queue.jobs.get(("run", "todo")) else None
        if not busy and (later is None or later > SOON):
            return
        await asyncio.sleep(_LOOK)
    logger.warning("out of time; what is left is not done", extra={"action": "out_of_time"})


async def _acted(store: Store, delivery: Delivery) -> Acted:
    run = await store.for_issue(delivery.issue).runs.last()
    result = json.loads(run.result) if run is not None and run.result else None
    counts = await store.jobs.counts()
    comment = str(result["report"]["github_comment"]) if result else ""
    issue = delivery.issue
    return Acted(
        comment, f"https://{issue.host}/{issue.owner}/{issue.name}/issues/{issue.number}", counts.get("dead", 0)
    )
