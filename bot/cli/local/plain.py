"""Commands that read no repository: ``graph``, ``schema``, ``completion`` and ``classify``."""

import json
from collections.abc import Iterator
from typing import IO, Any

import click
from click.shell_completion import get_completion_class

from bot.cli.options import prints_only_json
from bot.errors import UserError

MAX_LINE = 64 * 1024 * 1024
"""Maximum bytes of a line: far above any issue; it bounds the memory for a stream without line ends."""


@click.command("graph")
def graph_command() -> None:
    """Print the compiled graph as Mermaid, for a viewer that renders it, such as a GitHub comment."""
    from nodes.graph import build_graph

    drawn = build_graph().get_graph().draw_mermaid()
    # LangGraph derives the edges of a deferred node from its own trial run; such an edge is not part of the graph.
    left_out = ("__error_handler__", "supervisor -.-> join")
    click.echo("\n".join(line for line in drawn.splitlines() if not any(part in line for part in left_out)))


@click.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of the output of `triage run --format json`."""
    from bot.report.document import result_schema

    click.echo(json.dumps(result_schema(), indent=2, sort_keys=True))


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(*, shell: str) -> None:
    """Print the shell completion script for `triage`.

    \b
    bash: triage completion bash > ~/.local/share/bash-completion/completions/triage
    zsh:  triage completion zsh > a file _triage in a folder of $fpath
    fish: triage completion fish > ~/.config/fish/completions/triage.fish
    """
    from bot.cli.group import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"unknown shell: {shell}")
    click.echo(kind(cli, {}, "triage", "_TRIAGE_COMPLETE").source())


@click.command("classify")
@click.argument("file", type=click.File("rb"), metavar="FILE|-")
@prints_only_json
def classify_command(*, file: IO[bytes]) -> None:
    """Classify each issue as bug, feature, question, docs, spam or security.

    FILE (or - for standard input) has one JSON object per line with "title" and "body"; a body may be null or absent,
    and other keys are ignored. For each line, in order and as soon as it is read, one line is printed:

    \b
    $ echo '{"title": "Crash on empty file", "body": null}' | triage classify -
    {"kind": "bug", "confidence": 0.9358}

    The result depends on the text alone; no model is called and no repository is read. The confidence is how often
    such a result is right in a repository that was not in the training data. A line that is not an issue ends the
    command with exit code 2 and its line number. Empty lines are skipped.
    """
    from nodes.issue.kinds.classify import classify

    for number, line in _lines(file):
        try:
            title, body = read_line(line)
        except ValueError as fault:
            raise UserError(f"line {number} {fault}") from fault
        found = classify(title, body)
        click.echo(json.dumps({"kind": found.kind, "confidence": found.confidence}))


def read_line(line: bytes) -> tuple[str, str]:
    """Parse the title and body of a line; ValueError says why it is not an issue."""
    try:
        issue: Any = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError("is not UTF-8 text") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply to be an issue") from error
    except ValueError as error:
        detail = str(error).partition("\n")[0][:200]
        raise ValueError(f"is not JSON: {detail}") from error
    if not isinstance(issue, dict):
        raise ValueError('is not an object with "title" and "body"')  # noqa: TRY004  the caller adds the line number
    if "title" not in issue and "body" not in issue:
        raise ValueError('has neither "title" nor "body"')
    return _text(issue, "title"), _text(issue, "body")


def _text(issue: dict[str, Any], key: str) -> str:
    value = issue.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f'has a "{key}" that is not text')
    return value or ""


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield non-empty lines with their 1-based numbers, each as soon as it ends; UserError if one is too long."""
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise UserError(f"line {number} is longer than {MAX_LINE // 1024 // 1024} MB")
        if line.strip():
            yield number, line
