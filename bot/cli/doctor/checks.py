"""The lines of the doctor's report, and the checks of this machine: Python, git, data directory, database."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from bot.errors import BotError
from bot.settings import Settings
from bot.store.databases.opening import open_store

Part = Literal["machine", "settings", "App", "model", "tools", "repository"]
Line = tuple[Literal["FAIL", "ok", ""], str, str]
"""A mark, what was checked, and the text; the last line has neither a mark nor a name."""
_GIT = (2, 31)
"""First git release with GIT_CONFIG_COUNT: settings from the environment keep tokens out of arguments and files."""


@dataclass(frozen=True, slots=True)
class Check:
    """A checked item, whether it is correct, and otherwise how to fix it."""

    ok: bool
    name: str
    says: str
    part: Part
    """The part of the installation that it belongs to; the summary has one line for each part without a fault."""
    brief: str | None = None
    """Its text in that line, if it differs from ``says``; empty leaves it out."""


_check = partial(Check, part="machine")


def summary_lines(checks: Sequence[Check]) -> Iterator[Line]:
    """Yield the faults first, then one line per part, then the summary."""
    faults = [check for check in checks if not check.ok]
    for fault in faults:
        yield "FAIL", fault.name, fault.says
    for part in get_args(Part):
        sound = [check for check in checks if check.part == part and check.ok]
        text = "; ".join(dict.fromkeys(item for item in map(_brief, sound) if item))
        if text:
            yield "ok", part, text
    yield "", "", _count(faults, len(checks))


def _brief(check: Check) -> str:
    return check.says if check.brief is None else check.brief


def _count(faults: Sequence[Check], checks: int) -> str:
    if not faults:
        return f"No fault in {checks} checks. `triage doctor --all` lists them."
    noun = "fault" if len(faults) == 1 else "faults"
    unchecked = (
        " The App, the model and the tools are checked once the settings are correct."
        if any(fault.part == "settings" for fault in faults)
        else ""
    )
    return f"{len(faults)} {noun} in {checks} checks.{unchecked} `triage doctor --all` lists them."


def check_machine(settings: Settings) -> Iterator[Check]:
    """Run the checks that need no network except the connection to the database."""
    version = sys.version_info
    says = f"{version.major}.{version.minor}.{version.micro} (3.11 or newer)"
    yield _check(ok=version >= (3, 11), name="python", says=says, brief=f"Python {says.split(maxsplit=1)[0]}")
    yield _git()
    writable = _writable(settings.triage_data_dir)
    yield writable
    if writable.ok:
        yield _space(settings.triage_data_dir, settings.triage_free_mb)
    if settings.database_url is not None or (writable.ok and (settings.triage_data_dir / "store.db").exists()):
        yield _store(settings)


def _git() -> Check:
    if shutil.which("git") is None:
        return _check(ok=False, name="git", says="not found on the PATH: install git")
    output = subprocess.run(
        ["git", "--version"], capture_output=True, text=True, timeout=10, check=False
    ).stdout.strip()
    found = re.match(r"git version (\d+)\.(\d+)", output)
    if found is None:
        return _check(ok=False, name="git", says=output or "does not answer to `git --version`")
    new = (int(found[1]), int(found[2])) >= _GIT
    says = output if new else f"{output}: install 2.31 or newer"
    return _check(ok=new, name="git", says=says, brief=f"git {found[1]}.{found[2]}")


def _writable(directory: Path) -> Check:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / ".doctor"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        return _check(ok=False, name="data directory", says=f"{directory}: {error.strerror}; set TRIAGE_DATA_DIR")
    return _check(ok=True, name="data directory", says=f"{directory} is writable")


def _space(directory: Path, needed: int) -> Check:
    free = shutil.disk_usage(directory).free // 1_000_000
    says = f"{free:,} MB are free"
    if free < needed:
        says += f", and TRIAGE_FREE_MB is {needed:,}: no repository is fetched; free space, or lower the setting"
    return _check(ok=free >= needed, name="disk space", says=says)


def _store(settings: Settings) -> Check:
    """Check that the store answers. Opening a SQLite file also migrates it; a Postgres database is only read."""
    name = "database" if settings.database_url is not None else "store"
    try:
        counts = asyncio.run(_counted(settings))
    except BotError as error:
        return _check(ok=False, name=name, says=str(error))
    output = ", ".join(f"{count} {state}" for state, count in counts.items()) or "no jobs wait"
    dead = counts.get("dead", 0)
    advice = f"; dead jobs, listed by `triage jobs`: {dead}" if dead else ""
    says = f"answers, with this release's tables: {output}{advice}"
    return _check(ok=True, name=name, says=says, brief=f"the {name} answers: {output}{advice}")


async def _counted(settings: Settings) -> dict[str, int]:
    async with aclosing(open_store(settings, tidy=False)) as store:
        return await store.jobs.counts()
