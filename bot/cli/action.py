"""Process one event of a GitHub Actions workflow until no job is left, with the App's own code but no server."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from bot.errors import UserError
from bot.report.sanitise import plain
from bot.server.webhook.events import Delivery, MalformedError, read_delivery
from bot.server.webhook.handlers import Handlers
from bot.server.webhook.handlers.people import Policy
from bot.settings import Settings
from bot.settings.operator import load_operator_config
from bot.settings.server import ServerSettings
from bot.store.jobs.deliveries import Arrival
from bot.store.tables import Store
from bot.worker.dispatch.embedded import Dispatcher
from bot.worker.worker import open_worker
from nodes.report import TriageReport

EVENTS = ("issues", "issue_comment")
SOON = 120.0
"""Seconds to wait for a delayed job; a job due later, such as a question's two-week timeout, is not awaited."""
MAX_SECONDS = 1_500.0
"""Seconds for the whole command."""
MAX_NOTICES = 5
"""Maximum number of notices of a step that GitHub shows."""
_LOOK = 0.1
_INSTALLATION = 1
"""A placeholder: no App is installed in a workflow, but the store needs an installation id for each repository."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Event:
    """The event that started the workflow."""

    name: str
    file: Path
    id: str
    """The delivery id: stable for one attempt of one workflow run."""

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Event:
        """Read the event from the runner's environment variables.

        Raises:
            UserError: the process is not on a runner, or another event started the workflow.
        """
        name, file = environ.get("GITHUB_EVENT_NAME", ""), environ.get("GITHUB_EVENT_PATH", "")
        if name not in EVENTS:
            known = f"{', '.join(EVENTS)} or pull_request"
            raise UserError(f"run this in a GitHub Actions workflow on {known}; the event is {name!r}")
        attempt = f"{environ.get('GITHUB_RUN_ID', '0')}-{environ.get('GITHUB_RUN_ATTEMPT', '1')}"
        return cls(name, Path(file), f"action-{attempt}")


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of processing an event."""

    comment: str = ""
    """The report as Markdown; empty if there is none."""
    url: str = ""
    """The issue's page."""
    given_up: int = 0
    """The number of jobs that failed permanently."""
    notices: tuple[str, ...] = ()
    """Workflow commands that show the report's facts at their lines."""


async def act(event: Event, settings: Settings, token: str) -> ActionResult:
    """Process an event: decide its jobs, store them and run them.

    Raises:
        UserError: the event cannot be read, or the settings are invalid.
    """
    delivery = _read(event, settings)
    work = Handlers(Policy(bots=settings.bots)).decide(delivery)
    if not work:
        logger.info("nothing to do for this event", extra={"action": "nothing_to_do"})
        return ActionResult()
    operator = load_operator_config(settings.triage_config)
    given = ServerSettings(settings, 0, "", (), operator, token=token)
    async with open_worker(given) as worker:
        store = worker.store
        await store.inbox.accept(Arrival(delivery.guid, delivery.event, b"", tuple(work)))
        dispatcher = Dispatcher(worker.jobs, worker.work, concurrency=1, deadline=settings.triage_job_minutes * 60)
        running = asyncio.create_task(dispatcher.run())
        try:
            await _nothing_left(store)
        finally:
            await dispatcher.drain(5.0)
            await running
        return await _acted(store, delivery)


def _read(event: Event, settings: Settings) -> Delivery:
    try:
        payload = json.loads(event.file.read_bytes())
        body = json.dumps({**payload, "installation": {"id": _INSTALLATION}}).encode()
        headers = {"x-github-delivery": event.id, "x-github-event": event.name}
        return read_delivery(headers, body, known=True, server=settings.server)
    except (OSError, ValueError, TypeError, MalformedError) as error:
        raise UserError(f"GITHUB_EVENT_PATH: {event.file} cannot be read as an event: {error}") from error


async def _nothing_left(store: Store) -> None:
    """Wait until no job is running or due within `SOON` seconds.

    Only delayed jobs of the "run" lane, which concern one issue, are awaited. Learning past issues continues with the
    next events.
    """
    until = time.monotonic() + MAX_SECONDS
    while time.monotonic() < until:
        queue = await store.metrics.queue()
        busy = queue.oldest or any(state == "doing" for _, state in queue.jobs)
        later = await store.jobs.idle() if queue.jobs.get(("run", "todo")) else None
        if not busy and (later is None or later > SOON):
            return
        await asyncio.sleep(_LOOK)
    logger.warning("out of time; the remaining jobs were not run", extra={"action": "out_of_time"})


async def _acted(store: Store, delivery: Delivery) -> ActionResult:
    run = await store.for_issue(delivery.issue).runs.last()
    result = json.loads(run.result) if run is not None and run.result else None
    counts = await store.jobs.counts()
    report = TriageReport.model_validate(result["report"]) if result else TriageReport()
    issue = delivery.issue
    url = f"https://{issue.host}/{issue.owner}/{issue.name}/issues/{issue.number}"
    return ActionResult(report.github_comment, url, counts.get("dead", 0), tuple(notices(report)))


def notices(report: TriageReport) -> Iterator[str]:
    """Yield a ``::notice`` command for each fact of a visible place; none for a security report.

    GitHub shows them on the summary page of the workflow run, and at the lines of the file.
    """
    if report.kind == "security" or report.statement not in ("claim", "facts"):
        return
    numbers = dict.fromkeys(number for place in report.suspects for number in place.facts)
    facts = (report.facts[number] for number in numbers if number < len(report.facts))
    places = ((fact.path, fact.line, fact.says) for fact in facts if fact.path and fact.line and not fact.sha)
    for path, line, says in islice(places, MAX_NOTICES):
        yield workflow_command("notice", path, line, plain(says))


def workflow_command(level: Literal["error", "warning", "notice"], path: str, line: int, text: str) -> str:
    """Return the command by which GitHub shows a text at a line (1-based) of a file; hostile text stays text."""
    return f"::{level} file={_escaped(path, property_=True)},line={line},title=Tracehound::{_escaped(text)}"


def _escaped(text: str, *, property_: bool = False) -> str:
    """Escape text for a workflow command, whose end is a line break and whose properties end at commas and colons."""
    signs = "%\r\n:," if property_ else "%\r\n"
    return "".join(f"%{ord(sign):02X}" if sign in signs else sign for sign in text)
