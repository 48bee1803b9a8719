"""Check the model's endpoint with the requests of a run: a few small calls, and one of a run's full size."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

from pydantic import BaseModel, Field

from bot.doctor.check import Check
from bot.model import model_fault, model_settings
from bot.settings import Settings
from nodes.brains.budget import RunBudget
from nodes.brains.models import Models
from nodes.brains.replies import InvalidOutput
from nodes.brains.structured import Message, ask_structured
from nodes.context import ModelError

MOST_CALLS = 12
"""Limit for all questions together, including corrections and alternative output methods."""
_CONTEXT = 7_000
"""Words of the largest question; a run's conversation about code takes 8,000 tokens."""


class _Word(BaseModel):
    """The requested answer."""

    word: str = Field(max_length=40)


def check_model(settings: Settings, *, calls: bool) -> Iterator[Check]:
    """Check that the configured models exist and can answer in the required form.

    Args:
        settings: names the models.
        calls: whether the models may be called; if False, only the list of models is read.
    """
    if settings.brain == "rules":
        yield Check(ok=True, name="model", says="none: rules judge; set OPENAI_API_KEY or OPENAI_BASE_URL to use one")
        return
    fault = model_fault(settings)
    yield Check(ok=fault is None, name="model", says=fault or f"{settings.triage_supervisor_model} answers")
    if fault is None and calls:
        yield from asyncio.run(_asked(settings))


async def _asked(settings: Settings) -> list[Check]:
    return [check async for check in _abilities(settings)]


async def _abilities(settings: Settings) -> AsyncIterator[Check]:
    chosen = model_settings(settings)
    models = Models(chosen)
    budget = RunBudget(models.pace, MOST_CALLS)
    try:
        for name in dict.fromkeys((chosen.supervisor, chosen.default, chosen.critic or chosen.default)):
            yield await _structured(models, budget, name)
        yield await _long(models, budget, chosen.default)
    finally:
        await models.aclose()


async def _structured(models: Models, budget: RunBudget, name: str) -> Check:
    """Check that a model answers in the requested form at temperature 0."""
    model = models.get(name)
    question: list[Message] = [("system", "Answer in the form that is asked for."), ("human", "Say the word ready.")]
    try:
        await ask_structured(model, _Word, question, budget=budget)
    except (ModelError, InvalidOutput) as error:
        says = f"gives no structured answer: {str(error)[:200]}; choose a model that can, or TRIAGE_BRAIN=rules"
        return Check(ok=False, name=name, says=says)
    return Check(ok=True, name=name, says=f"gives structured answers ({model.method}), at temperature 0")


async def _long(models: Models, budget: RunBudget, name: str) -> Check:
    text = " ".join(["code"] * _CONTEXT)
    question: list[Message] = [("system", "Answer in the form that is asked for."), ("human", f"{text}\nSay ready.")]
    try:
        await ask_structured(models.get(name), _Word, question, budget=budget)
    except (ModelError, InvalidOutput) as error:
        says = f"cannot process {_CONTEXT:,} words at once: {str(error)[:200]}; give it a context of 16,000 tokens"
        return Check(ok=False, name=f"{name}'s context", says=says)
    return Check(
        ok=True, name=f"{name}'s context", says=f"holds {_CONTEXT:,} words, the length of a run's longest request"
    )
