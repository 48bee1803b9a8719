"""Generate pages from the code: the command line's help, the schemas, the picture of a sample report.

python docs/generate.py            write them
python docs/generate.py --check    fail if a page differs from what the code generates
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from facts_page import page as facts
from picture import draw
from pydantic import BaseModel

from bot.cli import cli
from bot.cli.proposal import WORKFLOW
from bot.observability.measures import ACKNOWLEDGED, DELIVERIES, GLANCE, SHARED
from bot.report.document import result_schema
from bot.server.api.openapi import openapi
from bot.settings import Settings
from bot.settings.operator import (
    GitHubIssues,
    PicturesConfig,
    SearxNG,
    Specialists,
    Tavily,
    ToolConfig,
    Web,
    operator_schema,
)
from bot.settings.repository import RepositoryConfig, config_schema
from nodes.brains.calls.models import LONGER, READING
from nodes.brains.calls.request import IMAGE_TOKENS
from nodes.brains.shared import ISSUE
from tests.graph.test_endpoints import CALLS
from tests.servers.endpoints import table as endpoint_rows
from tests.support.tried import count, table

DOCS = Path(__file__).parent
WIDTH = 100


_TRIED, _TRIED_ENDS = "<!-- tried: docs/generate.py writes what is below -->", "<!-- tried ends -->"
_WORKFLOW, _WORKFLOW_END = "<!-- workflow: docs/generate.py writes what is below -->", "<!-- workflow ends -->"
_COSTS, _COSTS_END = "<!-- costs: docs/generate.py writes what is below -->", "<!-- costs end -->"


def pages() -> dict[Path, str]:
    """Return each generated page by its path."""
    return {
        DOCS / "cli.md": "\n".join(_cli()),
        DOCS / "configuration.md": "\n".join(_configuration()),
        DOCS / "operator.md": "\n".join(_operator()),
        DOCS / "settings.md": "\n".join(_settings()),
        DOCS / "measures.md": "\n".join(_measures()),
        DOCS / "endpoints.md": "\n".join(_endpoints()),
        DOCS / "facts.md": "\n".join(facts()),
        DOCS / "security.md": _between("security.md", _TRIED, _TRIED_ENDS, table(count())),
        DOCS / "action.md": _between("action.md", _WORKFLOW, _WORKFLOW_END, ["```yaml", WORKFLOW.rstrip(), "```"]),
        DOCS / "cost.md": _between("cost.md", _COSTS, _COSTS_END, _costs()),
        DOCS / "schema" / "triage-result.json": _json(result_schema()),
        DOCS / "schema" / "openapi.json": _json(openapi()),
        DOCS / "schema" / "triage.yml.json": _json(config_schema()),
        DOCS / "schema" / "operator.yml.json": _json(operator_schema()),
        DOCS / "report.svg": draw(),
    }


_CONFIGURATION = """\
# .github/triage.yml

This page is generated from the [schema](schema/triage.yml.json).

The file is read from the default branch, otherwise from the organisation's `.github` repository; the two are never
merged. It can only narrow what the operator allows. Without a file the defaults apply. While a file is invalid, the
last valid version applies; if there was none, nothing is written. The next report tells maintainers once about each
error with its line, `triage config check` prints the same, and [the Action](action.md) shows it on a pull request.

```yaml
# yaml-language-server: $schema=<address of triage.yml.json>
mode: comment
comment_on: [bug]
labels:
  allowed: [bug, enhancement, "area: *"]
  map:
    needs-answer: needs info
ignore_paths: ["vendor/**"]
```

| Key | Default | Meaning |
|---|---|---|"""


def _configuration() -> Iterator[str]:
    yield _CONFIGURATION
    yield from _keys(RepositoryConfig, "")
    yield ""


_OPERATOR = """\
# The operator's file

This page is generated from the [schema](schema/operator.yml.json); [tools.md](tools.md) explains its purpose.

`TRIAGE_CONFIG` names the file. It is read once, at the start. All errors are reported together, each with its line, and
`triage config check --operator FILE` reports the same without starting anything. `${NAME}` in headers, in `env` and in
`api_key` is replaced by an environment variable. A file inside the repository under analysis is refused.

| Key | Default | Meaning |
|---|---|---|"""


def _operator() -> Iterator[str]:
    yield _OPERATOR
    yield from _keys(ToolConfig, "tools.<name>.")
    yield from _keys(Web, "web.")
    yield from _keys(GitHubIssues, "web.github_issues.")
    yield from _keys(SearxNG, "web.searxng.")
    yield from _keys(Tavily, "web.tavily.")
    yield from _keys(Specialists, "specialists.")
    yield from _keys(PicturesConfig, "pictures.")
    yield ""


_SETTINGS = """\
# Settings

This page is generated from the code. Settings are read from the environment and from a `.env` in the current folder.
Missing settings of the App are read from `app.json` in `TRIAGE_DATA_DIR`, where [`/setup`](setup.md) stores them.
`triage doctor` checks each setting and reports all that are missing or malformed together. Secrets can be in files, and
limits and prices have [a form of their own](values.md).

| Variable | Default | Meaning |
|---|---|---|"""


def _settings() -> Iterator[str]:
    yield _SETTINGS
    for name, field in Settings.model_fields.items():
        default = "" if field.default_factory or field.default is None else f"`{field.default}`"
        yield f"| `{name.upper()}` | {default.replace('``', '')} | {field.description} |"
    yield ""


_ENDPOINTS = """\
# Model endpoints

This page is generated from the rows of `tests/servers/endpoints.py`. A test runs each row through a whole triage
over HTTP.

Tracehound learns from what an endpoint refuses, once for each endpoint and model, and stores it for a week in
`models.json` in `TRIAGE_DATA_DIR`. JSON is requested by `json_schema`, then by tools, then as `json_object`, then in
words; an endpoint that ignores a form counts as one that refuses it. *More calls, once* are the refused or repeated
requests of the first run; the next run makes none of them. `triage doctor` tests your endpoint and prints what it
accepts.

"""


def _endpoints() -> Iterator[str]:
    yield _ENDPOINTS.rstrip("\n")
    yield ""
    yield from endpoint_rows()
    yield ""


_MEASURES = """\
# Metrics

This page is generated from the code. [Observability](observability.md) explains access to them.

| Name | Kind | Labels | Meaning |
|---|---|---|---|"""


def _measures() -> Iterator[str]:
    yield _MEASURES
    for measure in (DELIVERIES, ACKNOWLEDGED, *SHARED):
        family = next(iter(measure.describe()))
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = ", ".join(f"`{label}`" for label in measure._labelnames)
        yield f"| `{name}` | {family.type} | {labels} | {family.documentation} |"
    for name, labels, documentation in GLANCE:
        yield f"| `{name}` | gauge | {', '.join(f'`{label}`' for label in labels)} | {documentation} |"
    yield ""


def _keys(section: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in section.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield from _keys(type(default), f"{prefix}{name}.")
            continue
        if field.is_required():
            shown = "needed"
        else:
            shown = f"`{json.dumps(list(default) if isinstance(default, tuple) else default)}`"
        meaning = " ".join((field.description or "").split()).replace("``", "`")
        yield f"| `{prefix}{name}` | {shown} | {meaning} |"


def _between(name: str, begins: str, ends: str, lines: Iterable[str]) -> str:
    """A page with what is generated between two of its comments."""
    page = DOCS / name
    before, first, rest = page.read_text(encoding="utf-8").partition(begins)
    _, last, after = rest.partition(ends)
    if not first or not last:
        raise ValueError(f"{page.name} lacks the comments that enclose what is generated")
    return "\n".join([before + first, "", *lines, "", last + after])


def _costs() -> Iterator[str]:
    """The bounds on what a run with a model costs."""

    def default(name: str) -> str:
        value = Settings.model_fields[name].default
        return f"{value:,}" if isinstance(value, int) else f"`{value}`"

    yield "| Bound | Default | Set by |"
    yield "|---|---|---|"
    yield f"| calls of a run with a search, a critic and a writer, at an endpoint without faults | {CALLS} | |"
    for level, limits in READING.items():
        if limits is not None:
            yield (
                f"| the conversation about the code at the level `{level}` | {limits.steps} turns and "
                f"{limits.tokens:,} tokens of answers | `TRIAGE_EFFORT`, `TRIAGE_READING_TURNS`, "
                "`TRIAGE_READING_TOKENS` |"
            )
    yield (
        f"| one answer | {default('triage_model_output_tokens')} tokens; {LONGER} times as many for a model that "
        "reasons beyond them | `TRIAGE_MODEL_OUTPUT_TOKENS`, `TRIAGE_MODEL_EFFORT` |"
    )
    yield (
        f"| an issue's text in a prompt | {ISSUE:,} tokens and {default('triage_context_chars')} characters; what is "
        "longer loses template comments, blocks about the environment and frames of libraries, then its middle "
        "| `TRIAGE_CONTEXT_CHARS` |"
    )
    yield (
        "| pictures of an issue, if enabled | one call, and one for each answer that shows some; "
        f"{IMAGE_TOKENS:,} tokens are reserved for each picture "
        "| [the operator's file](pictures.md) |"
    )
    calls = ", ".join(f"`{Settings(triage_effort=level).limits_run}` ({level})" for level in READING)
    yield f"| calls, tokens and dollars of one run, all of them at once | {calls} | `TRIAGE_LIMITS_RUN` |"
    rows = (
        ("calls a minute, of all processes together", "triage_model_calls_per_minute", ""),
        ("a repository's day", "triage_limits_repository", ", and lower in [`.github/triage.yml`](configuration.md)"),
        ("a day of one account's repositories", "triage_limits_installation", ""),
        ("a day of everything", "triage_limits_all", ""),
        ("one author's issues and answers in one repository", "triage_limits_author", ""),
    )
    for what, name, more in rows:
        yield f"| {what} | {default(name)} | `{name.upper()}`{more} |"


def _json(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def _cli() -> Iterator[str]:
    yield "# The command line\n\nThis page is generated from `--help`.\n"
    root = click.Context(cli, info_name="triage", max_content_width=WIDTH, terminal_width=WIDTH)
    yield f"```text\n{cli.get_help(root)}\n```\n"
    for name in cli.list_commands(root):
        command = cli.get_command(root, name)
        if command is not None:
            context = click.Context(command, info_name=name, parent=root, max_content_width=WIDTH, terminal_width=WIDTH)
            yield f"## triage {name}\n\n```text\n{command.get_help(context)}\n```\n"
            yield from _subcommands(command, context)


def _subcommands(command: click.Command, parent: click.Context) -> Iterator[str]:
    if not isinstance(command, click.Group):
        return
    for name, part in command.commands.items():
        context = click.Context(part, info_name=name, parent=parent, max_content_width=WIDTH, terminal_width=WIDTH)
        yield f"### triage {parent.info_name} {name}\n\n```text\n{part.get_help(context)}\n```\n"


def main() -> None:
    """Write the pages, or check them."""
    made = pages()
    if "--check" in sys.argv:
        stale = [
            path.name for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text
        ]
        sys.exit(f"out of date: {', '.join(stale)}; run `make docs`" if stale else 0)
    for path, text in made.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
