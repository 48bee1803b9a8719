"""``triage config``: validate a repository's ``.github/triage.yml``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bot.settings.operator import OperatorConfig
    from bot.settings.repository import RepositoryConfig


@click.group("config")
def command() -> None:
    """Check a repository's .github/triage.yml, or print its JSON Schema."""


_OPERATOR = click.option("--operator", is_flag=True, help="Check the operator's file (TRIAGE_CONFIG) instead.")


@command.command("check")
@click.argument("file", type=click.Path(path_type=Path), default=Path(".github/triage.yml"))
@_OPERATOR
def check(file: Path, *, operator: bool) -> None:
    """Report every fault of FILE with its line; exit with 1 if there is one."""
    from bot.errors import UserError

    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise UserError(f"{file}: cannot be read: there is no such file; without one the defaults apply") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: cannot be read as text ({type(error).__name__})") from error
    click.echo(checked(str(file), text, operator=operator))


def checked(name: str, text: str, *, operator: bool = False) -> str:
    """Return a line about a valid file; print the faults of another, and exit with 1."""
    from bot.settings.operator import read_operator_config
    from bot.settings.repository import ConfigError, read_config

    try:
        summary = _operators(read_operator_config(text)) if operator else _repositorys(read_config(text))
    except ConfigError as error:
        for fault in error.faults:
            click.echo(f"{name}:{fault.line}: {fault.message}")
        sys.exit(1)
    return f"{name}: valid; {summary}"


def _repositorys(config: RepositoryConfig) -> str:
    from bot.runs.promise import promise_of

    return "; ".join(filter(None, (f"mode {config.mode}", promise_of(config).note)))


def _operators(config: OperatorConfig) -> str:
    web = [name for name in type(config.web).model_fields if getattr(getattr(config.web, name), "enabled", False)]
    named = [name for name, tool in config.tools.items() if tool.enabled]
    return f"tools: {', '.join(named) or 'none'}; web search: {', '.join(web) or 'none'}"


@command.command("schema")
@_OPERATOR
def schema(*, operator: bool) -> None:
    """Print the JSON Schema of .github/triage.yml, for editors."""
    from bot.settings.operator import operator_schema
    from bot.settings.repository import config_schema

    click.echo(json.dumps(operator_schema() if operator else config_schema(), indent=2, sort_keys=True))
