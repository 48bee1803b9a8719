"""Generate pages from the code: the command line's help, the schemas, the picture of a sample report.

python docs/generate.py            write them
python docs/generate.py --check    fail if a page differs from what the code generates
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from facts_page import page as facts
from pydantic import BaseModel

from bot.cli.group import COMMANDS, EXIT_CODES, cli
from bot.cli.proposal import WORKFLOW
from bot.observability.measures import ACKNOWLEDGED, DELIVERIES, GLANCE, SHARED
from bot.release import released
from bot.report.document import result_schema
from bot.server.api.routes import openapi
from bot.settings.environment import Settings
from bot.settings.operator import (
    LimitsConfig,
    OperatorConfig,
    SearxNG,
    Spending,
    Tavily,
    ToolConfig,
    operator_schema,
)
from bot.settings.repository import RepositoryConfig, config_schema
from bot.settings.retired import MOVED
from nodes.brains.calls.models import LONGER, READING, ModelSettings
from nodes.brains.shared import ISSUE
from nodes.context.brain import COMPRESS_FROM
from nodes.described import field_docs
from tests.graph.test_endpoints import CALLS
from tests.servers.endpoints import table as endpoint_rows
from tests.support.tried import count, table

DOCS = Path(__file__).parent
ACTION, README = DOCS.parent / "action.yml", DOCS.parent / "README.md"


def pages() -> dict[Path, str]:
    """Return each generated page by its path."""
    return {
        DOCS / "cli.md": "\n".join(_cli()),
        DOCS / "settings.md": _filled(
            "settings.md",
            repository=_keys_of((RepositoryConfig, "")),
            operator=_keys_of(*_OPERATOR),
            environment=_environment(),
        ),
        DOCS / "measures.md": "\n".join(_measures()),
        DOCS / "endpoints.md": "\n".join(_endpoints()),
        DOCS / "facts.md": "\n".join(facts()),
        DOCS / "security.md": _filled("security.md", tried=table(count())),
        **{page: _with_version(page) for page in (ACTION, README)},
        DOCS / "action.md": _filled("action.md", workflow=["```yaml", WORKFLOW.rstrip(), "```"]),
        DOCS / "cost.md": _filled("cost.md", costs=_costs()),
        DOCS / "schema" / "triage-result.json": _json(result_schema()),
        DOCS / "schema" / "openapi.json": _json(openapi()),
        DOCS / "schema" / "triage.yml.json": _json(config_schema()),
        DOCS / "schema" / "operator.yml.json": _json(operator_schema()),
    }


def _with_version(page: Path) -> str:
    return re.sub(r"(tracehound-action:v)\S+", rf"\g<1>{released()}", page.read_text("utf-8"))


def _keys_of(*sections: tuple[type[BaseModel], str]) -> Iterator[str]:
    """A table of the keys of a file, by its models with the keys before theirs."""
    yield "| Key | Default | Meaning |\n|---|---|---|"
    for section, prefix in sections:
        yield from _keys(section, prefix)


def _environment() -> Iterator[str]:
    yield "| Variable | Default | Meaning |\n|---|---|---|"
    docs = field_docs(Settings)
    for name, field in Settings.model_fields.items():
        if name in MOVED:
            continue
        default = "" if field.default_factory or field.default is None else f"`{field.default}`"
        yield f"| `{name.upper()}` | {default.replace('``', '')} | {' '.join(docs[name].split())} |"


_OPERATOR = (
    (OperatorConfig, ""),
    (ToolConfig, "tools.<name>."),
    (SearxNG, "web.searxng."),
    (Tavily, "web.tavily."),
)


_ENDPOINTS = """\
# Model endpoints

This page is generated from `tests/servers/endpoints.py`. A test runs each row through a whole triage over HTTP.

Tracehound learns from what an endpoint refuses, once for each endpoint and model, and stores it for a week in
`models.json` in `TRIAGE_DATA_DIR`. JSON is requested by `json_schema`, then by tools, then as `json_object`, then in
words; an endpoint that ignores a form counts as one that refuses it. Code is read by calls of tools, by actions (one
JSON object a turn) or in stages ([cost](cost.md)). Where no temperature is accepted, none is sent, and the report says
so. *More calls, once* are the refused or repeated requests of the first run. `triage doctor` tests your endpoint and
prints what it accepts.

"""


def _endpoints() -> Iterator[str]:
    yield _ENDPOINTS.rstrip("\n")
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
    docs = field_docs(section)
    for name, field in section.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if name in ("tools", "searxng", "tavily"):
            continue  # sections of their own
        if isinstance(default, BaseModel):
            yield from _keys(type(default), f"{prefix}{name}.")
            continue
        if field.is_required():
            shown = "needed"
        else:
            shown = f"`{json.dumps(list(default) if isinstance(default, tuple) else default)}`"
        meaning = " ".join(docs.get(name, "").split()).replace("``", "`")
        yield f"| `{prefix}{name}` | {shown} | {meaning} |"


def _filled(name: str, **parts: Iterable[str]) -> str:
    """A page with what is generated between two of its comments, for each part by its name."""
    text = (DOCS / name).read_text(encoding="utf-8")
    for part, lines in parts.items():
        begins, ends = f"<!-- {part}: docs/generate.py writes what is below -->", f"<!-- {part} ends -->"
        before, first, rest = text.partition(begins)
        _, last, after = rest.partition(ends)
        if not first or not last:
            raise ValueError(f"{name} lacks the comments that enclose {part}")
        text = "\n".join([before + first, "", *lines, "", last + after])
    return text


def _costs() -> Iterator[str]:
    """The bounds on what a run with a model costs."""
    a_minute = Settings.model_fields["triage_model_calls_per_minute"].default
    yield "| Bound | Default | Set by |"
    yield "|---|---|---|"
    yield f"| calls of a run with a search, a critic and a writer, at an endpoint without faults | {CALLS} | |"
    for level, limits in READING.items():
        if limits is not None:
            yield (
                f"| the conversation about the code at the level `{level}` | {limits.steps} turns and "
                f"{limits.tokens:,} tokens of answers | `TRIAGE_EFFORT` |"
            )
    yield (
        f"| one answer | {ModelSettings().max_output_tokens:,} tokens; {LONGER} times as many for a model that "
        "reasons beyond them | |"
    )
    yield (
        f"| an issue's text in a prompt | {ISSUE:,} tokens and {COMPRESS_FROM:,} characters; template "
        "comments, the environment and frames of libraries are left out first, then the middle | |"
    )
    calls = ", ".join(f"{Spending.of(Settings(triage_effort=level)).run['calls']} calls ({level})" for level in READING)
    yield f"| calls, tokens and dollars of one run, all of them at once | {calls} | `limits.run` |"
    yield (f"| calls a minute, of all processes together | {a_minute:,} | `TRIAGE_MODEL_CALLS_PER_MINUTE` |")
    rows = (
        ("a repository's day", "repository", ""),
        ("a day of one account's repositories", "installation", ""),
        ("a day of everything", "all", ""),
        ("one author's issues and answers in one repository", "author", ""),
    )
    for what, scope, more in rows:
        limits = ", ".join(f"{name}: {most:,}" for name, most in LimitsConfig.model_fields[scope].default.items())
        yield f"| {what} | {limits or 'none'} | `limits.{scope}`{more} |"


def _json(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


_EXAMPLES = {
    "init": "triage init --repo ~/src/app --dry-run",
    "locate": "triage locate --repo ~/src/app --rev v2.4.1 --issue issue.md --top 5",
    "index": "triage index --repo ~/src/app --rev v2.4.1",
    "backtest": "triage backtest --repo ~/src/app --github me/app --limit 100",
    "classify": "triage classify - < issues.jsonl",
    "graph": "triage graph > graph.mmd",
    "serve": "TRIAGE_PUBLIC_URL=https://triage.example.org triage serve",
    "worker": "triage worker --concurrency 8",
    "app create": "triage app create --org octo-org",
    "migrate": "triage migrate --dry-run",
    "backup": "triage backup /backups/2026-11-25",
    "action": "triage action",
    "backfill": "triage backfill octo/feedbox --limit 50",
    "export": "triage export --repository octo/feedbox > feedbox.jsonl",
    "forget": "triage forget --repository octo/feedbox --dry-run",
    "stats": "triage stats octo/feedbox",
    "jobs": "triage jobs --replay 17",
    "replay": "triage replay issues.opened.json",
    "schema": "triage schema > triage-result.json",
    "config check": "triage config check .github/triage.yml",
    "config schema": "triage config schema --operator",
    "doctor": "triage doctor --repo ~/src/app --github octo/feedbox --all",
}
"""A use of each command whose own help shows none."""


def _cli() -> Iterator[str]:
    yield "# The command line\n\nThis page is generated from the program; `--help` prints the same.\n"
    root = click.Context(cli, info_name="triage")
    commands = [(name, command) for name in cli.list_commands(root) if (command := cli.get_command(root, name))]
    for where, is_server in (("On a clone", False), ("With a server", True)):
        names = [name for name, (module, _) in COMMANDS.items() if module.startswith("server.") == is_server]
        yield f"{where}: {', '.join(f'[`{name}`](#triage-{name})' for name in names)}.\n"
    yield f"```text\n{inspect.cleandoc(EXIT_CODES.lstrip(chr(8)))}\n```\n"
    uses = Counter(option for _, command in commands for option in _options_below(command, root))
    shared = {option: meaning for (option, meaning), count in uses.items() if count > 2}
    yield "These options mean the same in several commands:\n"
    yield from (f"- {option}: {meaning}" for option, meaning in shared.items())
    yield ""
    for name, command in commands:
        yield from _command(name, command, root, "##", shared)


def _command(
    name: str, command: click.Command, parent: click.Context, level: str, shared: Mapping[str, str]
) -> Iterator[str]:
    """A command's help as Markdown: its text, an example, its options."""
    context = click.Context(command, info_name=name, parent=parent)
    yield f"{level} {context.command_path}\n"
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        verbatim = paragraph.removeprefix("\b\n")
        text = "\n".join(f"  {line}" for line in verbatim.splitlines())
        yield f"{paragraph}\n" if verbatim == paragraph else f"```text\n{text}\n```\n"
    example = _EXAMPLES.get(context.command_path.removeprefix("triage "))
    if example:
        yield f"```sh\n{example}\n```\n"
    options = list(_options(command, context))
    own = [(option, meaning) for option, meaning in options if shared.get(option) != meaning]
    if own:
        yield from (f"- {option}: {meaning}" for option, meaning in own)
        yield ""
    if len(own) < len(options):
        names = (option.strip("`").partition(" ")[0] for option, meaning in options if (option, meaning) not in own)
        yield f"Also {', '.join(f'`{name}`' for name in names)}, as above.\n"
    if isinstance(command, click.Group):
        for part, below in command.commands.items():
            yield from _command(part, below, context, "###", shared)


def _options_below(command: click.Command, parent: click.Context) -> Iterator[tuple[str, str]]:
    """Each option of a command and of those below it, as it is shown, with its meaning."""
    yield from _options(command, parent)
    if isinstance(command, click.Group):
        for part in command.commands.values():
            yield from _options_below(part, parent)


def _options(command: click.Command, parent: click.Context) -> Iterator[tuple[str, str]]:
    """Each option of a command, as it is shown, with its meaning."""
    for param in command.get_params(parent)[:-1]:
        if (record := param.get_help_record(parent)) and record[1]:
            yield _cell(f"`{record[0]}`"), _cell(record[1])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;")


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
