"""Measure the model's endpoint with the requests of a run: what it accepts, how much it reads, and how fast it is."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from pydantic import BaseModel, Field

from bot.cli.doctor.checks import Check
from bot.runs.model import model_fault, model_settings
from bot.settings import Settings
from nodes.brains.calls.asking import ask_structured, ask_turn, build_turn_sender
from nodes.brains.calls.budget import RunBudget, RunLimits
from nodes.brains.calls.models import Models
from nodes.brains.calls.request import Message
from nodes.brains.conversation import converses
from nodes.brains.fence import fence
from nodes.context.brain import ModelError
from nodes.state import Usage

_check = partial(Check, part="model")
MAX_CALLS = 30
"""Maximum requests for all questions together, including corrections and requests that an endpoint refuses."""
_CONTEXT = 7_000
"""Words of the largest question; a run's conversation about code takes 8,000 tokens."""
_RUN_CALLS, _RUN_INPUT, _RUN_OUTPUT = 8, 20_000, 2_500
"""The number of requests of a run, and their total tokens (docs/cost.md)."""
_FIRST_CALL = "Call the tool `tree` with the path `src`, and nothing else."
_SYSTEM: Message = ("system", "Answer in the form that is asked for.")


class _Word(BaseModel):
    """The requested answer."""

    word: str = Field(max_length=40)


class _Essay(BaseModel):
    """The requested text."""

    text: str = Field(max_length=4_000)


@dataclass(frozen=True, slots=True)
class _Timed:
    """The answer to one question, its tokens and its duration in seconds."""

    usage: Usage
    seconds: float


def check_model(settings: Settings, *, calls: bool) -> Iterator[Check]:
    """Check that the configured models exist and can answer in the required form.

    Without ``calls`` only the list of models is read.
    """
    if settings.brain == "rules":
        yield _check(ok=True, name="model", says="none: rules judge; set OPENAI_API_KEY or OPENAI_BASE_URL to use one")
        return
    fault = model_fault(settings)
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
        """Check each model's answers, and the speed and window of the one that most roles use."""
        chosen = self._models.settings
        for name in dict.fromkeys((chosen.supervisor, chosen.default, chosen.critic or chosen.default)):
            yield await self._form(name)
        async for check in self._speed(chosen.default):
            yield check
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
            await self._ask(name, _Word, "Say the word ready.")
        except ModelError as error:
            says = f"gives no answer in a fixed form: {str(error)[:200]}"
            return _check(ok=False, name=name, says=f"{says}; choose a model that can, or TRIAGE_BRAIN=rules")
        known = model.abilities
        temperature = "at temperature 0" if known.temperature else "takes no temperature, so decisions may differ"
        lacks = [] if known.system else ["without a system role"]
        says = ", ".join((f"answers in a fixed form ({known.method})", temperature, *lacks))
        return _check(ok=True, name=name, says=says)

    async def _speed(self, name: str) -> AsyncIterator[Check]:
        """Measure the window and the speed with a short question, a long one and a long answer."""
        text = fence("text", " ".join(["code"] * _CONTEXT))
        try:
            short = await self._ask(name, _Word, "Say the word ready once more.")
            essay = await self._ask(name, _Essay, "Explain in 150 words what a stack trace is.")
            long = await self._ask(name, _Word, f"{text}\nSay ready.")
        except ModelError as error:
            says = f"cannot read {_CONTEXT:,} words at once: {str(error)[:200]}; give it a context of 16,000 tokens"
            yield _check(ok=False, name=f"{name}'s context", says=says)
            return
        window = self._models.get(name).abilities.window
        says = f"accepts {_CONTEXT:,} words, as many as a run's longest request"
        if window is not None:
            says = (
                f"has a window of {window:,} tokens, so prompts are cut and reports get worse; "
                "give it 16,000 (Ollama: num_ctx)"
            )
        yield Check(window is None, f"{name}'s context", says)
        yield self._run(name, short, essay, long)

    async def _ask(self, name: str, schema: type[BaseModel], question: str) -> _Timed:
        started = time.perf_counter()
        messages = [_SYSTEM, ("human", question)]
        answer = await ask_structured(self._models.get(name), schema, messages, budget=self._budget)
        return _Timed(answer.usage, max(time.perf_counter() - started, 0.001))

    def _run(self, name: str, short: _Timed, essay: _Timed, long: _Timed) -> Check:
        """Estimate what a run takes from the speed of reading and writing."""
        reads = (long.usage.input_tokens - short.usage.input_tokens) / max(long.seconds - short.seconds, 0.001)
        writes = (essay.usage.output_tokens - short.usage.output_tokens) / max(essay.seconds - short.seconds, 0.001)
        if reads <= 0 or writes <= 0:
            says = "cannot be measured: the answers report no usable usage"
            return _check(ok=True, name=f"{name}'s speed", says=says)
        seconds = _RUN_CALLS * short.seconds + _RUN_INPUT / reads + _RUN_OUTPUT / writes
        slowest = short.seconds + 8_000 / reads + 1_000 / writes
        timeout = self._models.settings.timeout
        says = (
            f"is {reads:,.0f} tokens read and {writes:,.0f} written a second: a run of {_RUN_CALLS} calls, "
            f"{_RUN_INPUT:,} tokens in and {_RUN_OUTPUT:,} out takes about {_duration(seconds)}"
        )
        if slowest > timeout:
            says += f"; the longest answer takes {_duration(slowest)}: raise TRIAGE_MODEL_TIMEOUT above {timeout:g}"
        return _check(ok=slowest <= timeout, name=f"{name}'s speed", says=says)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"
