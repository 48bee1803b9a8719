"""The two judgements behind one protocol, and the rule for falling back from one to the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import TypeVar

from nodes.context import Brain, Case, Context, Judged, ModelError

J = TypeVar("J")

MAX_FALLBACKS = 2
"""After so many fallbacks rules judge the rest of the run (SPEC section 2)."""


async def judge(context: Context, case: Case, ask: Callable[[Brain], Awaitable[Judged[J]]]) -> Judged[J]:
    """Ask the run's brain; where the model fails, rules judge and the answer says why."""
    if context.brain is context.rules or len(case.state.metrics.fallbacks) >= MAX_FALLBACKS:
        return await ask(context.rules)
    try:
        return await ask(context.brain)
    except ModelError as failure:
        judged = await ask(context.rules)
        return dataclasses.replace(judged, fallback=str(failure)[:300])
