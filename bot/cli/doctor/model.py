"""Test the model's endpoint with the requests of a run: what it accepts, and how much it reads."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
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

_check = partial(Check, part="model")
MAX_CALLS = 30
"""Maximum requests for all questions together, including corrections and requests that an endpoint refuses."""
_CONTEXT = 7_000
"""Words of the largest question; a run's conversation about code takes 8,000 tokens."""
_FIRST_CALL = "Call the tool `tree` with the path `src`, and nothing else."
_SYSTEM: Message = ("system", "Answer in the form that is asked for.")


class _Word(BaseModel):
    """The requested answer."""

    word: str = Field(max_length=40)


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
