"""Process one event of a GitHub Actions workflow: of an issue until no job is left, of a pull request by a check."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from bot.cli.doctor.github import FULL_NAME, missing_labels
from bot.errors import BotError, UnreadableFileError, UserError
from bot.github.repository import RepositoryClient
from bot.jobs import Work
from bot.report.sanitise import plain
from bot.runs.remote import opened
from bot.server.webhook.events import Delivery, MalformedError, read_delivery
from bot.server.webhook.handlers import work_for
from bot.settings import JOB_SECONDS, Settings
from bot.settings.operator import load_operator_config
from bot.settings.repository import RepositoryConfig, read_config
from bot.settings.repository_file import PATH
from bot.settings.server import ServerSettings
from bot.settings.yaml_file import ConfigError, ConfigFault
from bot.store.jobs.deliveries import Arrival
from bot.store.tables import Store
from bot.worker.dispatch.attempts import Dispatcher
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
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


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
    delivery, work = decide(event, settings)
    if not work:
        logger.info("nothing to do for this event", extra={"action": "nothing_to_do"})
        return ActionResult()
    operator = load_operator_config(settings)
    given = ServerSettings(settings, 0, "", (), operator, token=token)
    async with open_worker(given) as worker:
        store = worker.store
        await store.inbox.accept(Arrival(delivery.guid, delivery.event, b"", tuple(work)))
        dispatcher = Dispatcher(worker.store.jobs, worker.work, concurrency=1, deadline=JOB_SECONDS)
        running = asyncio.create_task(dispatcher.run())
        try:
            await _nothing_left(store)
        finally:
            await dispatcher.drain(5.0)
            await running
        return await _acted(store, delivery)


def decide(event: Event, settings: Settings) -> tuple[Delivery, list[Work]]:
    """Return the delivery of an event, and the jobs that follow from it.

    Raises:
        UserError: the event cannot be read.
    """
    try:
        payload = json.loads(event.file.read_bytes())
        body = json.dumps({**payload, "installation": {"id": _INSTALLATION}}).encode()
        headers = {"x-github-delivery": event.id, "x-github-event": event.name}
        delivery = read_delivery(headers, body, known=True, server=settings.server)
        return delivery, work_for(delivery)
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


@dataclass(frozen=True, slots=True)
class Proposal:
    """The repository of a pull request, and its newest commit."""

    full_name: str
    commit: str

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Proposal:
        """Read it from the event's file.

        Raises:
            UserError: the file is not that of a pull request's event.
        """
        file = environ.get("GITHUB_EVENT_PATH", "")
        try:
            payload: dict[str, Any] = json.loads(Path(file).read_bytes())
            name, commit = payload["repository"]["full_name"], payload["pull_request"]["head"]["sha"]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UserError(f"GITHUB_EVENT_PATH: {file} cannot be read as a pull request's event") from error
        if not (isinstance(name, str) and FULL_NAME.fullmatch(name)):
            raise UserError(f"GITHUB_EVENT_PATH: {file} contains no repository")
        if not (isinstance(commit, str) and _SHA.fullmatch(commit)):
            raise UserError(f"GITHUB_EVENT_PATH: {file} contains no commit")
        return cls(name, commit)


@dataclass(frozen=True, slots=True)
class ProposalResult:
    """The findings in the file, as GitHub shows them."""

    commands: tuple[str, ...]
    """Workflow commands, one per finding; GitHub shows them at the lines of the pull request."""
    summary: str
    """One line of Markdown for the job's summary."""
    faulty: bool = False
    """Whether the file is invalid, so that the check has to fail."""


async def check_proposal(proposal: Proposal, settings: Settings, token: str) -> ProposalResult:
    """Validate the file as the pull request leaves it; nothing is written and no code is fetched.

    Raises:
        UserError: GitHub cannot be reached, or the token may not read the file or the labels.
    """
    try:
        async with opened(proposal.full_name, settings, token) as client:
            # A fork's commit is readable through the repository that the pull request goes to.
            return await _checked(client, await client.file(PATH, commit=proposal.commit))
    except UnreadableFileError as error:
        return _invalid((ConfigFault(error.line, f"the file cannot be read: {error.reason}"),))
    except ConfigError as error:
        return _invalid(error.faults)
    except BotError as error:
        needed = "the workflow needs `contents: read` and `issues: read`"
        raise UserError(f"{proposal.full_name} cannot be read: {error}; {needed}") from error


async def _checked(client: RepositoryClient, text: str | None) -> ProposalResult:
    if text is None:
        return ProposalResult((), f"`{PATH}` does not exist in this pull request; the defaults apply.")
    config = read_config(text)
    # Labels that only the defaults name do not concern this pull request.
    own = config if "allowed" in config.labels.model_fields_set else _without_allowed(config)
    warnings = tuple(
        # Only a warning, because the label may be created after the merge.
        workflow_command("warning", PATH, 1, f"the label {label!r} does not exist, so it is never set")
        for label in await missing_labels(client, own)
    )
    return ProposalResult(warnings, f"`{PATH}` is valid; mode {config.mode}.")


def _without_allowed(config: RepositoryConfig) -> RepositoryConfig:
    return config.model_copy(update={"labels": config.labels.model_copy(update={"allowed": ()})})


def _invalid(faults: tuple[ConfigFault, ...]) -> ProposalResult:
    commands = tuple(workflow_command("error", PATH, fault.line, fault.message) for fault in faults)
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    return ProposalResult(commands, f"`{PATH}` is invalid: {count}.", faulty=True)
