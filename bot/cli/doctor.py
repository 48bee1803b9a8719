"""``triage doctor``: is everything as it should be, and if not, what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.dotenv import ignored_settings, repository_around

if TYPE_CHECKING:
    from bot.settings import Settings


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor's report."""

    ok: bool
    name: str
    says: str


@click.command("doctor")
@click.option(
    "--repo", help="The repository you mean to triage: as in a run, a .env that is part of it is left unread."
)
def command(*, repo: str | None) -> None:
    """Check Python, git, the data directory, every setting and the model endpoint; exit 1 if something is wrong.

    Without --repo, a .env in any repository is left unread: whoever wrote it could name where your key is sent.
    """
    checks = list(_checks(repo or repository_around(Path.cwd())))
    for check in checks:
        mark = click.style("ok  ", fg="green") if check.ok else click.style("FAIL", fg="red")
        click.echo(f"{mark} {check.name:<26} {check.says}", color=None if "NO_COLOR" not in os.environ else False)
    if not all(check.ok for check in checks):
        sys.exit(1)


def _checks(repository: str | None) -> Iterator[Check]:
    from bot.server_settings import load_with_app  # noqa: PLC0415  --help needs no pydantic
    from bot.settings import Settings, SettingsError  # noqa: PLC0415

    version = sys.version_info
    yield Check(
        ok=version >= (3, 11), name="python", says=f"{version.major}.{version.minor}.{version.micro} (3.11 or newer)"
    )
    yield _git()
    faults: Mapping[str, str] = {}
    try:
        settings = load_with_app(repository)
    except SettingsError as error:
        faults, settings = error.faults, error.sound
    if repository is not None and ignored_settings(repository):
        yield Check(
            ok=True,
            name=".env",
            says="left unread: it lies in a repository; if it is yours, name with --repo what you triage",
        )
    yield _writable(settings.triage_data_dir)
    for name, field in Settings.model_fields.items():
        says = faults.get(name) or _shown(name, settings)
        yield Check(ok=name not in faults, name=name.upper(), says=f"{says}. {field.description}")
    if not faults:
        yield _model(settings)


def _shown(name: str, settings: Settings) -> str:
    value = getattr(settings, name)
    source = "set" if name in settings.model_fields_set else "default"
    if value is None:
        return "not set"
    hidden = hasattr(value, "get_secret_value")
    return "set, hidden" if hidden else f"{value} ({source})"


def _git() -> Check:
    if shutil.which("git") is None:
        return Check(ok=False, name="git", says="not found on the PATH: install git")
    said = subprocess.run(["git", "--version"], capture_output=True, text=True, timeout=10, check=False).stdout.strip()
    return Check(ok=said.startswith("git version"), name="git", says=said or "does not answer to `git --version`")


def _writable(directory: Path) -> Check:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / ".doctor"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        return Check(ok=False, name="data directory", says=f"{directory}: {error.strerror}; set TRIAGE_DATA_DIR")
    return Check(ok=True, name="data directory", says=f"{directory} is writable")


def _model(settings: Settings) -> Check:
    if settings.brain == "rules":
        return Check(ok=True, name="model", says="none: rules judge; set OPENAI_API_KEY or OPENAI_BASE_URL to use one")
    from bot.model import model_fault  # noqa: PLC0415  takes a second

    fault = model_fault(settings)
    return Check(ok=fault is None, name="model", says=fault or f"{settings.triage_supervisor_model} answers")
