"""The lines of the doctor's report, and the checks of this machine and of the model's endpoint."""

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from pydantic import BaseModel, Field

from bot.errors import BotError
from bot.report.words import count
from bot.runs.model import model_fault, model_settings
from bot.settings.environment import Settings
from bot.store.databases.sqlite import open_store
from nodes.brains.calls.asking import ask_structured, ask_turn, build_turn_sender
from nodes.brains.calls.budget import RunBudget, RunLimits
from nodes.brains.calls.models import Models
from nodes.brains.calls.request import Message
from nodes.brains.conversation import converses
from nodes.brains.fence import fence
from nodes.context.brain import ModelError

Part = Literal["machine", "settings", "App", "model", "tools", "repository"]
Line = tuple[Literal["FAIL", "ok", ""], str, str]
"""A mark, what was checked, and the text; the last line has neither a mark nor a name."""
_GIT = (2, 31)
"""First git release with GIT_CONFIG_COUNT: settings from the environment keep tokens out of arguments and files."""
MAX_CALLS = 30
"""Maximum requests for all questions together, including corrections and requests that an endpoint refuses."""
_CONTEXT = 7_000
"""Words of the largest question; a run's conversation about code takes 8,000 tokens."""
_FIRST_CALL = "Call the tool `tree` with the path `src`, and nothing else."
_SYSTEM: Message = ("system", "Answer in the form that is asked for.")


@dataclass(frozen=True, slots=True)
class Check:
    """A checked item, whether it is correct, and otherwise how to fix it."""

    ok: bool
    name: str
    says: str
    """The rest of a sentence that begins with the name."""
    part: Part | None = None
    """The part of the installation in whose line of the summary it appears; None if only ``--all`` prints it."""


_check = partial(Check, part="model")


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
    asked = subprocess.run(["git", "--version"], capture_output=True, text=True, timeout=10, check=False)
    output = asked.stdout.strip()
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


class _Word(BaseModel):
    """The requested answer."""

    word: str = Field(max_length=40)


def check_model(settings: Settings, *, calls: bool) -> Iterator[Check]:
    """Check that the models exist and, with ``calls``, that they can answer in the required form."""
    if settings.brain == "rules":
        yield _check(ok=True, name="model", says="none: rules judge; set OPENAI_API_KEY or OPENAI_BASE_URL to use one")
        return
    fault = asyncio.run(model_fault(model_settings(settings)))
    says = fault or f"{settings.triage_supervisor_model} exists"
    yield Check(fault is None, "model", says, None if calls else "model")
    if fault is None and calls:
        yield from asyncio.run(_asked(settings))


async def _asked(settings: Settings) -> list[Check]:
    async with aclosing(Models(model_settings(settings))) as models:
        return [check async for check in _Doctor(models).checks()]


class _Doctor:
    """Asks each model a few questions."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._budget = RunBudget(models.pace, RunLimits(calls=MAX_CALLS))

    async def checks(self) -> AsyncIterator[Check]:
        """Check each model's answers, and the window of the one that most roles use."""
        chosen = self._models.settings
        for name in dict.fromkeys((chosen.supervisor, chosen.default, chosen.critic or chosen.default)):
            yield await self._form(name)
        yield await self._context(chosen.default)
        yield await self._reading(chosen.default)

    async def _reading(self, name: str) -> Check:
        """Say how the model reads code; a conversation begins with a call of a tool."""
        model, level = self._models.get(name), self._models.settings.level
        if level != "low" and converses(model.abilities):
            try:
                await ask_turn(build_turn_sender(model, self._budget), [_SYSTEM, ("human", _FIRST_CALL)])
            except ModelError:
                model.learn(reading="stages")
        limits = self._models.settings.reading
        by = {"tools": "native tool calls", "actions": "one JSON object a turn"}.get(model.abilities.reading, "")
        says = f"is a conversation by {by}: {limits.steps} turns, {limits.tokens:,} tokens of answers"
        if level == "low":
            says = "chooses files by their paths, and rules do the rest"
        elif not converses(model.abilities):
            says = "has two stages, files and then functions, because it holds no conversation with tools"
        return Check(ok=True, name=f"{name}'s reading", says=f"{says} (TRIAGE_EFFORT={level})")

    async def _form(self, name: str) -> Check:
        """Check that a model answers in the requested form."""
        model = self._models.get(name)
        try:
            await self._ask(name, "Say the word ready.")
        except ModelError as error:
            says = f"gives no answer in a fixed form: {str(error)[:200]}"
            return _check(ok=False, name=name, says=f"{says}; choose a model that can, or TRIAGE_BRAIN=rules")
        known = model.abilities
        temperature = "at temperature 0" if known.temperature else "takes no temperature, so decisions may differ"
        lacks = [] if known.system else ["without a system role"]
        says = ", ".join((f"answers in a fixed form ({known.method})", temperature, *lacks))
        return _check(ok=True, name=name, says=says)

    async def _context(self, name: str) -> Check:
        """Measure the window with a long question."""
        text = fence("text", " ".join(["code"] * _CONTEXT))
        try:
            await self._ask(name, f"{text}\nSay ready.")
        except ModelError as error:
            says = f"cannot read {_CONTEXT:,} words at once: {str(error)[:200]}; give it a context of 16,000 tokens"
            return _check(ok=False, name=f"{name}'s context", says=says)
        window = self._models.get(name).abilities.window
        if window is None:
            says = f"accepts {_CONTEXT:,} words, as many as a run's longest request"
            return Check(ok=True, name=f"{name}'s context", says=says)
        says = f"has a window of {window:,} tokens, so prompts are cut and reports get worse"
        return Check(ok=False, name=f"{name}'s context", says=f"{says}; give it 16,000 (Ollama: num_ctx)")

    async def _ask(self, name: str, question: str) -> None:
        messages = [_SYSTEM, ("human", question)]
        await ask_structured(self._models.get(name), _Word, messages, budget=self._budget)
