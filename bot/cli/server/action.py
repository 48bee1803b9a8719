"""``triage action``: the command that the GitHub Action runs."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import click


@click.command("action")
def command() -> None:
    """Triage the event that started a GitHub Actions workflow, with the workflow's token; see docs/action.md.

    Reads GITHUB_EVENT_NAME, GITHUB_EVENT_PATH and GITHUB_TOKEN, writes the report to the job's summary, annotates the
    lines of its facts, and exits with 1 if a job failed permanently. A .env of the checkout is not read.
    """
    from bot.action import Event, act  # noqa: PLC0415  --help needs no worker
    from bot.errors import UserError  # noqa: PLC0415
    from bot.observability.logs import log_to_stderr  # noqa: PLC0415
    from bot.settings import load_settings  # noqa: PLC0415

    event = Event.of(os.environ)
    settings = load_settings(os.environ.get("GITHUB_WORKSPACE") or str(Path.cwd()))
    if settings.github_token is None:
        raise UserError("GITHUB_TOKEN: missing; set it in the workflow with `github-token`")
    log_to_stderr(readable=True)
    acted = asyncio.run(act(event, settings, settings.github_token.get_secret_value()))
    _append("GITHUB_STEP_SUMMARY", acted.comment)
    _append("GITHUB_OUTPUT", f"issue-url={acted.url}" if acted.url else "")
    for line in acted.notices:
        click.echo(line)
    if acted.given_up:
        click.echo(f"triage: {acted.given_up} jobs failed; see the log", err=True)
        sys.exit(1)


def _append(variable: str, text: str) -> None:
    """Append a line to the file that a variable of the runner names; do nothing if either is empty."""
    file = os.environ.get(variable)
    if file and text:
        with Path(file).open("a", encoding="utf-8") as stream:
            stream.write(f"{text}\n")
