"""``triage action``: process one event of a GitHub Actions workflow.

The event of an issue is processed until no job is left, that of a pull request by a check of its configuration.
"""

import asyncio
import json
import logging
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, Self

import click

from bot.cli.doctor.github import FULL_NAME, missing_labels
from bot.cli.options import DRY_RUN
from bot.cli.server.jobs import print_work
from bot.errors import BotError, UnreadableFileError, UserError
from bot.jobs import Work
from bot.observability import logs
from bot.report.sanitise import plain
from bot.report.words import count
from bot.runs.remote import opened
from bot.server.webhook.events import Delivery, MalformedError, read_delivery
from bot.server.webhook.handlers import work_for
from bot.settings.environment import JOB_SECONDS, Settings, load_settings
from bot.settings.operator import load_operator_config
from bot.settings.repository import PATH, read_config
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
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
logger = logging.getLogger(__name__)


@click.command("action")
@DRY_RUN
def command(*, dry_run: bool) -> None:
    """Triage the event that started a GitHub Actions workflow, with the workflow's token; see docs/action.md.

    Reads GITHUB_EVENT_NAME, GITHUB_EVENT_PATH and GITHUB_TOKEN, writes the report to the job's summary, annotates the
    lines of its facts, and exits with 1 if a job failed permanently. A .env of the checkout is not read.

    On a pull request it checks the proposed .github/triage.yml instead: it annotates each fault at its line, and exits
    with 1 if there is one.

    With --dry-run it prints the jobs of an issue's event as JSON lines, and runs none of them.
    """
    failure = _check() if os.environ.get("GITHUB_EVENT_NAME") == "pull_request" else _triage(dry_run=dry_run)
    if failure:
        click.echo(f"triage: {failure}", err=True)
        sys.exit(1)


def _triage(*, dry_run: bool) -> str:
    """Process an event of an issue; return why the command fails, or nothing."""
    event = Event.of(os.environ)
    settings, token = _settings()
    if dry_run:
        print_work(decide(event, settings)[1])
        return ""
    logs.log_to_stderr(readable=True)
    acted = asyncio.run(act(event, settings, token))
    _append("GITHUB_OUTPUT", f"issue-url={acted.url}" if acted.url else "")
    _append("GITHUB_STEP_SUMMARY", acted.comment)
    for notice in acted.notices:
        click.echo(notice)
    return f"{acted.given_up} jobs failed; see the log" if acted.given_up else ""


def _check() -> str:
    """Check the configuration that a pull request proposes; return why the command fails, or nothing."""
    full_name, commit = _proposed(os.environ.get("GITHUB_EVENT_PATH", ""))
    settings, token = _settings()
    try:
        commands, summary, fails = asyncio.run(_checked(full_name, commit, settings, token))
    except BotError as error:
        needed = "the workflow needs `contents: read` and `issues: read`"
        raise UserError(f"{full_name} cannot be read: {error}; {needed}") from error
    _append("GITHUB_STEP_SUMMARY", summary)
    for line in commands:
        click.echo(line)
    return summary if fails else ""


def _settings() -> tuple[Settings, str]:
    """Return the settings of the workflow and its token; UserError if a setting is invalid, or there is no token."""
    settings = load_settings(os.environ.get("GITHUB_WORKSPACE") or str(Path.cwd()))
    if settings.github_token is None:
        raise UserError("GITHUB_TOKEN: missing; set it in the workflow with `github-token`")
    return settings, settings.github_token.get_secret_value()


def _append(variable: str, text: str) -> None:
    """Append a line to the file that a variable of the runner names; do nothing if either is empty."""
    file = os.environ.get(variable)
    if file and text:
        with Path(file).open("a", encoding="utf-8") as stream:
            stream.write(f"{text}\n")


@dataclass(frozen=True, slots=True)
class Event:
    """The event that started the workflow."""

    name: str
    file: Path
    id: str
    """The delivery id: stable for one attempt of one workflow run."""

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Self:
        """Read the event from the runner's variables; UserError if there is no runner, or another event started it."""
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
    """Decide, store and run the jobs of an event; UserError if it or the operator's file cannot be read."""
    delivery, work = decide(event, settings)
    if not work:
        logger.info("nothing to do for this event", extra={"action": "nothing_to_do"})
        return ActionResult()
    given = ServerSettings(settings, 0, "", (), load_operator_config(settings), token=token)
    async with open_worker(given) as worker:
        store = worker.store
        await store.inbox.accept(Arrival(delivery.guid, delivery.event, b"", tuple(work)))
        dispatcher = Dispatcher(store.jobs, worker.work, concurrency=1, deadline=JOB_SECONDS)
        running = asyncio.create_task(dispatcher.run())
        try:
            await _nothing_left(store)
        finally:
            await dispatcher.drain(5.0)
            await running
        return await _acted(store, delivery)


def decide(event: Event, settings: Settings) -> tuple[Delivery, list[Work]]:
    """Return the delivery of an event, and the jobs that follow from it; UserError if the event cannot be read."""
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
    """Yield a ``::notice`` command for each fact of a visible place; none for a security report."""
    if report.kind == "security" or report.statement not in ("claim", "facts"):
        return
    numbers = dict.fromkeys(number for place in report.suspects for number in place.facts)
    facts = (report.facts[number] for number in numbers if number < len(report.facts))
    for fact in islice((fact for fact in facts if fact.path and fact.line and not fact.sha), MAX_NOTICES):
        yield workflow_command("notice", fact.path or "", fact.line or 1, plain(fact.says))


def workflow_command(level: Literal["error", "warning", "notice"], path: str, line: int, text: str) -> str:
    """Return the command by which GitHub shows a text at a line (1-based) of a file; hostile text stays text."""

    def escaped(value: str, signs: str) -> str:
        return "".join(f"%{ord(sign):02X}" if sign in signs else sign for sign in value)

    # A command ends at a line break, its properties at commas and colons.
    file, shown = escaped(path, "%\r\n:,"), escaped(text, "%\r\n")
    return f"::{level} file={file},line={line},title=Tracehound::{shown}"


def _proposed(file: str) -> tuple[str, str]:
    """Return the repository and the newest commit of a pull request's event; UserError if the file is no such event."""
    try:
        payload = json.loads(Path(file).read_bytes())
        name, commit = payload["repository"]["full_name"], payload["pull_request"]["head"]["sha"]
        if FULL_NAME.fullmatch(name) and _SHA.fullmatch(commit):
            return name, commit
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UserError(f"GITHUB_EVENT_PATH: {file} cannot be read as a pull request's event") from error
    raise UserError(f"GITHUB_EVENT_PATH: {file} names no repository and commit")


async def _checked(full_name: str, commit: str, settings: Settings, token: str) -> tuple[list[str], str, bool]:
    """Validate the file as the pull request leaves it; nothing is written and no code is fetched.

    Returns:
        Workflow commands, which GitHub shows at the lines of the pull request; a line for the job's summary; and
        whether the file is invalid.
    """
    async with opened(full_name, settings, token) as client:
        try:
            # A fork's commit is readable through the repository that the pull request goes to.
            text = await client.file(PATH, commit=commit)
            config = read_config(text or "")
        except UnreadableFileError as error:
            return _invalid([ConfigFault(error.line, f"the file cannot be read: {error.reason}")])
        except ConfigError as error:
            return _invalid(error.faults)
        if text is None:
            return [], f"`{PATH}` does not exist in this pull request; the defaults apply.", False
        # Labels that only the defaults name do not concern this pull request.
        if "allowed" not in config.labels.model_fields_set:
            config = config.model_copy(update={"labels": config.labels.model_copy(update={"allowed": ()})})
        # Only a warning, because the label may be created after the merge.
        warnings = [
            workflow_command("warning", PATH, 1, f"the label {label!r} does not exist, so it is never set")
            for label in await missing_labels(client, config)
        ]
        return warnings, f"`{PATH}` is valid; mode {config.mode}.", False


def _invalid(faults: Sequence[ConfigFault]) -> tuple[list[str], str, bool]:
    commands = [workflow_command("error", PATH, fault.line, fault.message) for fault in faults]
    return commands, f"`{PATH}` is invalid: {count(len(faults), 'fault')}.", True
