"""``triage doctor``: check the installation and say how to fix faults."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from bot.cli.doctor.checks import Check, check_machine, check_model, summary_lines
from bot.cli.doctor.github import check_app, check_repository
from bot.cli.options import prints
from bot.errors import UserError
from bot.files import ignored_settings, repository_around
from bot.runs.sources import Sources
from bot.settings.environment import Settings, SettingsError, load_settings
from bot.settings.operator import load_operator_config
from bot.settings.retired import MOVED
from bot.settings.server import load_with_app
from nodes.described import field_docs


@click.command("doctor")
@click.option("--repo", help="The repository to triage: as in a run, a .env inside it is ignored.")
@click.option(
    "--github", metavar="OWNER/NAME", help="Also check a repository on GitHub: access, configuration, labels."
)
@click.option(
    "--no-calls",
    is_flag=True,
    help="Send no request to the model; by default a few short requests and a long one are sent.",
)
@click.option("--all", "every", is_flag=True, help="Print every check and every setting, not only the summary.")
@prints("a list of ok, name and says.")
def command(*, repo: str | None, github: str | None, no_calls: bool, every: bool, as_json: bool) -> None:
    """Check the installation and say how to fix each fault; exit with 1 if there is one.

    Checks this machine (Python, git, data directory, database and its tables), every setting, the App's registration
    on GitHub (permissions, events, webhook), the model (structured output, temperature, window) and the tools of
    TRIAGE_CONFIG. Prints the faults first.

    Without --repo, a .env in any repository is not read: its author could redirect your key to another endpoint.
    """
    if repo is not None and not Path(repo).is_dir():
        raise UserError(f"--repo {repo}: there is no such folder")
    checks: list[Check] = []
    for check in _checks(repo or repository_around(Path.cwd()), github, calls=not no_calls):
        checks.append(check)
        if every and not as_json:
            _show("ok" if check.ok else "FAIL", check.name, check.says)
    if as_json:
        click.echo(json.dumps([{"ok": item.ok, "name": item.name, "says": item.says} for item in checks], indent=1))
    elif not every:
        for line in summary_lines(checks):
            _show(*line)
    if not all(check.ok for check in checks):
        sys.exit(1)


def _show(mark: str, name: str, says: str) -> None:
    shown = click.style(f"{mark:<4}", fg="red" if mark == "FAIL" else "green")
    line = f"{shown} {name:<26} {says}" if mark else says
    click.echo(line, color=None if "NO_COLOR" not in os.environ else False)


def _checks(repository: str | None, github: str | None, *, calls: bool) -> Iterator[Check]:
    faults: Mapping[str, str] = {}
    try:
        settings = load_with_app(repository)
    except SettingsError as error:
        settings, faults = error.sound, error.faults
    except UserError as error:
        settings = load_settings(repository)
        yield Check(ok=False, name="App", says=str(error), part="App")
    if repository is not None and ignored_settings(repository):
        says = "is ignored: it is inside a repository; if it is yours, name the repository to triage with --repo"
        yield Check(ok=True, name=".env", says=says, part="settings")
    yield from check_machine(settings)
    yield from _explained(settings, faults)
    if faults:
        return
    yield from check_app(settings)
    yield from check_model(settings, calls=calls)
    yield from _tools(settings, repository)
    if github is not None:
        yield from check_repository(github, settings)


def _explained(settings: Settings, faults: Mapping[str, str]) -> Iterator[Check]:
    """Name the settings that are set, and explain each."""
    names, docs = [name for name in Settings.model_fields if name not in MOVED], field_docs(Settings)
    given = [name.upper() for name in names if name in settings.model_fields_set - faults.keys()]
    says = f"{len(given)} set ({', '.join(given)}), " if given else ""
    says += "the others at their defaults" if given or faults else "all at their defaults"
    yield Check(ok=True, name="settings", says=says, part="settings")
    for name in names:
        says = f"{faults.get(name) or _shown(name, settings)}. {' '.join(docs[name].split())}"
        yield Check(name not in faults, name.upper(), says, "settings" if name in faults else None)


def _tools(settings: Settings, repository: str | None) -> Iterator[Check]:
    """Check that each source in the operator's file works."""
    try:
        sources = Sources(load_operator_config(settings, repository))
    except UserError as error:
        yield Check(ok=False, name="tools", says=str(error), part="tools")
        return
    for ok, name, says in asyncio.run(sources.check()):
        yield Check(ok, f"tool {name}", says, "tools")


def _shown(name: str, settings: Settings) -> str:
    value = getattr(settings, name)
    source = "set" if name in settings.model_fields_set else "default"
    if value is None:
        return "not set"
    hidden = hasattr(value, "get_secret_value")
    return "set, hidden" if hidden else f"{value} ({source})"
