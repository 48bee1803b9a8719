"""Choose between the model and the rules, and fall back from the model to the rules."""

import dataclasses
from collections.abc import Awaitable, Callable
from typing import TypeVar

from nodes.brains.shared import is_shortened
from nodes.context.brain import Brain, Case, Judged, ModelError
from nodes.context.ports import Context
from nodes.state import BugTriageState

J = TypeVar("J")

MAX_FALLBACKS = 2
"""After this many fallbacks, rules judge the rest of the run (SPEC section 2)."""


async def judge(context: Context, case: Case, ask: Callable[[Brain], Awaitable[Judged[J]]]) -> Judged[J]:
    """Ask the run's brain. If the model fails, rules judge, and the result contains the reason."""
    if not is_model_asked(context, case.state):
        return await ask(context.rules)
    try:
        judged = await ask(context.brain)
    except ModelError as failure:
        # The usage of the failed calls is added, because the budget has paid for them.
        judged = await ask(context.rules)
        return dataclasses.replace(judged, usage=judged.usage + failure.usage, fallback=str(failure)[:300])
    # Rules read the whole text, also as a model's fallback.
    by_model = judged.judged_by != "rules"
    return dataclasses.replace(judged, compressed=True) if by_model and is_shortened(case) else judged


def is_model_asked(context: Context, state: BugTriageState) -> bool:
    """Return whether the run's brain is asked before the rules."""
    return context.brain is not context.rules and len(state.metrics.fallbacks) < MAX_FALLBACKS
