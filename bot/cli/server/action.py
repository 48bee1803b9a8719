"""``triage action``: the command that the GitHub Action runs."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import DRY_RUN

if TYPE_CHECKING:
    from bot.settings import Settings


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
    from bot.cli.action import Event, act, decide
    from bot.cli.server.jobs import print_work
    from bot.observability.logs import log_to_stderr

    event = Event.of(os.environ)
    settings, token = _settings()
    if dry_run:
        print_work(decide(event, settings)[1])
        return ""
    log_to_stderr(readable=True)
    acted = asyncio.run(act(event, settings, token))
    _append("GITHUB_OUTPUT", f"issue-url={acted.url}" if acted.url else "")
    _show(acted.notices, acted.comment)
    return f"{acted.given_up} jobs failed; see the log" if acted.given_up else ""


def _check() -> str:
    """Check the configuration that a pull request proposes; return why the command fails, or nothing."""
    from bot.cli.action import Proposal, check_proposal

    proposal = Proposal.of(os.environ)
    result = asyncio.run(check_proposal(proposal, *_settings()))
    _show(result.commands, result.summary)
    return result.summary if result.faulty else ""


def _settings() -> tuple[Settings, str]:
    """Return the settings of the workflow and its token.

    Raises:
        UserError: a setting is invalid, or there is no token.
    """
    from bot.errors import UserError
    from bot.settings import load_settings

    settings = load_settings(os.environ.get("GITHUB_WORKSPACE") or str(Path.cwd()))
    if settings.github_token is None:
        raise UserError("GITHUB_TOKEN: missing; set it in the workflow with `github-token`")
    return settings, settings.github_token.get_secret_value()


def _show(commands: Iterable[str], summary: str) -> None:
    """Print workflow commands, by which GitHub annotates lines, and append to the job's summary."""
    for line in commands:
        click.echo(line)
    _append("GITHUB_STEP_SUMMARY", summary)


def _append(variable: str, text: str) -> None:
    """Append a line to the file that a variable of the runner names; do nothing if either is empty."""
    file = os.environ.get(variable)
    if file and text:
        with Path(file).open("a", encoding="utf-8") as stream:
            stream.write(f"{text}\n")
