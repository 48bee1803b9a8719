"""``triage init`` and ``triage config``: write and check a repository's ``.github/triage.yml``."""

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import click

from bot.cli.local.issue_text import project_of
from bot.cli.local.repository import ProgressLine, open_engine, resumable
from bot.cli.options import DRY_RUN, REPO, REV, prints
from bot.errors import BotError, UserError
from bot.files import checkout_of
from bot.report.words import count
from bot.runs.promise import promise_of
from bot.settings.environment import Settings, load_settings
from bot.settings.operator import operator_schema, read_operator_config
from bot.settings.repository import ConfigError, config_schema, read_config
from bot.settings.retired import OPERATOR_KEYS, REPOSITORY_KEYS
from bot.settings.yaml_file import notes_on
from nodes.search.engine import Engine

_OPERATOR = click.option("--operator", is_flag=True, help="Check the operator's file (TRIAGE_CONFIG) instead.")
CONFIGURATION, WORKFLOW = Path(".github/triage.yml"), Path(".github/workflows/triage.yml")


@click.group("config")
def config_command() -> None:
    """Check a repository's .github/triage.yml, or print its JSON Schema."""


@config_command.command("check")
@click.argument("file", type=click.Path(path_type=Path), default=Path(".github/triage.yml"))
@_OPERATOR
@prints("file, valid, summary, and faults and notes with line and message.")
def check(file: Path, *, operator: bool, as_json: bool) -> None:
    """Report every fault of FILE with its line; exit with 1 if there is one."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise UserError(f"{file}: cannot be read: there is no such file; without one the defaults apply") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: cannot be read as text ({type(error).__name__})") from error
    click.echo(checked(str(file), text, operator=operator, as_json=as_json))


def checked(name: str, text: str, *, operator: bool = False, as_json: bool = False) -> str:
    """Return a line about a valid file; print the faults of another, and exit with 1."""
    try:
        if operator:
            sources = read_operator_config(text)
            web = [name for name in ("github_issues", "searxng", "tavily") if getattr(sources.web, name)]
            summary = f"tools: {', '.join(sources.tools) or 'none'}; web search: {', '.join(web) or 'none'}"
        else:
            config = read_config(text)
            summary = "; ".join(filter(None, (f"mode {config.mode}", promise_of(config).note)))
    except ConfigError as error:
        faults = [{"line": fault.line, "message": fault.message} for fault in error.faults]
        lines = [f"{name}:{fault['line']}: {fault['message']}" for fault in faults]
        click.echo(json.dumps({"file": name, "valid": False, "faults": faults}) if as_json else "\n".join(lines))
        sys.exit(1)
    keys = OPERATOR_KEYS if operator else REPOSITORY_KEYS
    notes = [{"line": note.line, "message": note.message} for note in notes_on(text, keys)]
    if as_json:
        return json.dumps({"file": name, "valid": True, "summary": summary, "faults": [], "notes": notes})
    for note in notes:
        click.echo(f"{name}:{note['line']}: {note['message']}")
    return f"{name}: valid; {summary}"


@config_command.command("schema")
@_OPERATOR
def schema(*, operator: bool) -> None:
    """Print the JSON Schema of .github/triage.yml, for editors."""
    click.echo(json.dumps(operator_schema() if operator else config_schema(), indent=2, sort_keys=True))


@click.command("init")
@REPO
@REV
@click.option("--workflow", is_flag=True, help=f"Write {WORKFLOW} too, which runs the GitHub Action.")
@DRY_RUN
@click.option(
    "--limit",
    default=20,
    show_default=True,
    type=click.IntRange(0, 5_000),
    help="How many past fixes to try at the end.",
)
def init_command(*, repo: str, rev: str, workflow: bool, dry_run: bool, limit: int) -> None:
    """Write .github/triage.yml, check it, and try the repository's last fixes.

    The file names the repository's labels, issue types, forms, releases and owners. Labels and types are read from
    GitHub, with GITHUB_TOKEN if it is set; without a network the labels that the forms name are used. A file that
    exists is never changed. No model is called.
    """
    settings, progress = load_settings(repo).model_copy(update={"triage_brain": "rules"}), ProgressLine()
    root = None if dry_run else _root(repo, [CONFIGURATION, *([WORKFLOW] if workflow else [])])
    with resumable(progress):
        engine, commit = open_engine(repo, rev, settings.triage_data_dir, progress.phase)
        read = _on_github(repo, settings)
        for file, text in _texts(engine, commit, read, workflow=workflow).items():
            if root is None:
                click.echo(text, nl=False)
            else:
                click.echo(_written(root, file, text), err=True)
        line = _tried(engine, commit, settings, limit=limit, read=read, progress=progress) if limit else ""
    if line:
        click.echo(line, err=dry_run)


@dataclass(frozen=True, slots=True)
class _Read:
    """A repository as GitHub describes it."""

    labels: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    project: str = ""
    """owner/name."""
    why_not: str = ""
    """Why nothing could be read; empty if it was."""


def _root(repo: str, files: Sequence[Path]) -> Path:
    """Return the root of the clone's work tree; UserError if it has none, or all these files exist."""
    root = checkout_of(repo)
    if root is None:
        raise UserError(f"{repo} has no work tree to write to: name a clone that is not bare, or give --dry-run")
    if all((root / file).exists() for file in files):
        existing = " and ".join(map(str, files))
        raise UserError(f"{existing} exists already and is not changed: --dry-run prints what would be written")
    return root


def _written(root: Path, file: Path, text: str) -> str:
    """Write a new file, and return what was done; UserError if it cannot be, or its folder is not in the repository."""
    try:
        folder = (root / file).parent
        folder.mkdir(parents=True, exist_ok=True)
        if not folder.resolve().is_relative_to(root.resolve()):
            raise UserError(f"{file}: its folder is a link that leads out of the repository")
        with (root / file).open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        return f"{file} exists already and is not changed"
    except OSError as error:
        raise UserError(f"cannot write {root / file}: {error.strerror}") from error
    return f"{file} is written"


def _texts(engine: Engine, commit: str, read: _Read, *, workflow: bool) -> dict[Path, str]:
    """Return the text of each file, checked; say where it comes from."""
    from bot.cli import proposal  # its search loads numpy, which no check of a file needs

    held = proposal.read_held(engine.repository, commit, int(time.time()))
    named = sorted({label for form in held.forms for label in form.labels})
    github = f"{count(len(read.labels), 'label')} and {count(len(read.types), 'issue type')} on GitHub"
    source = f"{count(len(named), 'label')} that forms name ({read.why_not})" if read.why_not else github
    forms, tags = count(len(held.forms), "form"), count(held.tags, "tag")
    sources = f"From {source}, {forms}, {tags} and {held.codeowners or 'no CODEOWNERS'}."
    text = proposal.configuration(held, named if read.why_not else read.labels, read.types, sources)
    click.echo(f"{sources}\n{checked(str(CONFIGURATION), text)}", err=True)
    return {CONFIGURATION: text, **({WORKFLOW: proposal.WORKFLOW} if workflow else {})}


def _on_github(repo: str, settings: Settings) -> _Read:
    """Read the project that the clone's origin names, if it is on GitHub and can be read."""
    server, project = project_of(repo) or ("", "")
    if urlsplit(server).netloc != urlsplit(settings.github_server_url).netloc:
        where = f"the remote origin is on {server}" if server else "no remote origin is on GitHub"
        return _Read(why_not=f"{where}, so GitHub was not read")
    try:
        labels, types = asyncio.run(_names(project, settings))
    except BotError as error:
        return _Read(why_not=f"{project} on GitHub was not read: {error}")
    return _Read(tuple(labels), tuple(types), project)


async def _names(project: str, settings: Settings) -> tuple[list[str], list[str]]:
    from bot.runs.remote import opened, token_for

    async with opened(project, settings, await token_for(project, settings)) as client:
        return sorted(await client.repository_labels()), sorted(await client.issue_types())


def _tried(engine: Engine, commit: str, settings: Settings, *, limit: int, read: _Read, progress: ProgressLine) -> str:
    """Return a line on how often triage finds the repository's last fixes."""
    from bot.cli.backtest.run import backtest

    def show(done: int, total: int, _: str) -> None:
        progress.phase("trying fixes", done, total)

    # Without a token GitHub answers sixty requests an hour, too few for the texts.
    github = read.project if read.project and settings.github_token else None
    found = asyncio.run(backtest(engine, commit, settings, show, limit=limit, github=github))
    ranks = [case.rank for case in found.judges[0].cases]
    if not ranks:
        return "no fix to try: no commit of this clone closes an issue by its message and changes source files"
    first, five = (sum(0 < rank <= most for rank in ranks) for most in (1, 5))
    texts = "" if github else ", by the fixes' messages instead of the issues' texts"
    return f"on your last {len(ranks)} fixes: a fixed file first in {first}, in the first five in {five}{texts}"
