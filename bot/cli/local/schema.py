"""``triage schema``: print the JSON Schema of a result."""

from __future__ import annotations

import json

import click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of the output of `triage run --format json`."""
    from bot.report.document import result_schema

    click.echo(json.dumps(result_schema(), indent=2, sort_keys=True))
