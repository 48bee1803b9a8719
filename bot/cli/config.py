"""``triage config``: is a repository's ``.github/triage.yml`` as it should be?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click


@click.group("config")
def command() -> None:
    """Check a repository's .github/triage.yml, or print its JSON Schema."""


@command.command("check")
@click.argument("file", type=click.Path(path_type=Path), default=Path(".github/triage.yml"))
def check(file: Path) -> None:
    """Name every fault of FILE with its line; exit 1 if there is one."""
    from bot.errors import UserError  # noqa: PLC0415
    from bot.repo_config import ConfigError, read_config  # noqa: PLC0415  --help needs no pydantic

    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: cannot be read as text ({type(error).__name__})") from error
    try:
        config = read_config(text)
    except ConfigError as error:
        for fault in error.faults:
            click.echo(f"{file}:{fault.line}: {fault.says}")
        sys.exit(1)
    click.echo(f"{file}: sound; mode {config.mode}")


@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of .github/triage.yml, for editors."""
    from bot.repo_config.model import config_schema  # noqa: PLC0415

    click.echo(json.dumps(config_schema(), indent=2, sort_keys=True))
