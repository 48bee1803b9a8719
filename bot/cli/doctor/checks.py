"""The lines of the doctor's report, and the checks of this machine: Python, git, data directory, database."""

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, get_args

from bot.errors import BotError
from bot.report.words import count
from bot.settings import Settings
from bot.store.databases.sqlite import open_store

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
    """The rest of a sentence that begins with the name."""
    part: Part | None = None
    """The part of the installation whose line of the summary has it; None if only ``--all`` prints it."""


def summary_lines(checks: Sequence[Check]) -> Iterator[Line]:
    """Yield the faults first, then one line per part, then the summary."""
    faults = [check for check in checks if not check.ok]
    yield from (("FAIL", fault.name, fault.says) for fault in faults)
    for part in get_args(Part):
        sound = [check for check in checks if check.part == part and check.ok]
        if sound:
            yield "ok", part, "; ".join(f"{check.name} {check.says}".removeprefix(f"{part} ") for check in sound)
    unchecked = (
        " The App, the model and the tools are checked once the settings are correct."
        if any(fault.part == "settings" for fault in faults)
        else ""
    )
    found = count(len(faults), "fault") if faults else "No fault"
    yield "", "", f"{found} in {len(checks)} checks.{unchecked} `triage doctor --all` lists them."


def check_machine(settings: Settings) -> Iterator[Check]:
    """Run the checks that need no network except the connection to the database."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check(sys.version_info >= (3, 11), "python", f"{version} (3.11 or newer)", "machine")
    yield _git()
    directory, needed = settings.triage_data_dir, settings.triage_free_mb
    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / ".doctor").write_bytes(b"")
        (directory / ".doctor").unlink()
        free = shutil.disk_usage(directory).free // 1_000_000
    except OSError as error:
        says = f"{directory}: {error.strerror}; set TRIAGE_DATA_DIR"
        yield Check(ok=False, name="data directory", says=says, part="machine")
        has_store = False
    else:
        yield Check(ok=True, name="data directory", says=f"{directory} is writable", part="machine")
        says = f"has {free:,} MB free"
        if free < needed:
            says += f", and TRIAGE_FREE_MB is {needed:,}: no repository is fetched; free space, or lower the setting"
        yield Check(free >= needed, "disk space", says, "machine")
        has_store = (directory / "store.db").exists()
    if settings.database_url is not None or has_store:
        yield _store(settings)


def _git() -> Check:
    if shutil.which("git") is None:
        return Check(ok=False, name="git", says="was not found on the PATH: install git", part="machine")
    output = subprocess.run(
        ["git", "--version"], capture_output=True, text=True, timeout=10, check=False
    ).stdout.strip()
    found = re.match(r"git version ((\d+)\.(\d+)\S*)", output)
    if found is None:
        return Check(ok=False, name="git", says=output or "does not answer to `git --version`", part="machine")
    new = (int(found[2]), int(found[3])) >= _GIT
    return Check(new, "git", found[1] if new else f"{output}: install 2.31 or newer", "machine")


def _store(settings: Settings) -> Check:
    """Check that the store answers. Opening a SQLite file also migrates it; a Postgres database is only read."""
    name = "database" if settings.database_url is not None else "store"
    try:
        counts = asyncio.run(_counted(settings))
    except BotError as error:
        return Check(ok=False, name=name, says=str(error), part="machine")
    jobs = ", ".join(f"{number} {state}" for state, number in counts.items()) or "no jobs wait"
    advice = "; `triage jobs` lists the dead jobs" if counts.get("dead") else ""
    return Check(ok=True, name=name, says=f"answers, with this release's tables: {jobs}{advice}", part="machine")


async def _counted(settings: Settings) -> dict[str, int]:
    async with aclosing(open_store(settings, tidy=False)) as store:
        return await store.jobs.counts()
