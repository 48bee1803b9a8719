"""Read code with a model: in a conversation, or in two stages where a model or its server cannot hold one."""

from __future__ import annotations

from nodes.brains.calls.abilities import Abilities
from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import Model, ReadingLimits
from nodes.brains.calls.replies import InvalidOutput
from nodes.brains.conversation import Conversation
from nodes.brains.stages import Stages
from nodes.context import Case, Judged, ModelError
from nodes.judgements import CodeReading
from nodes.state import Usage

NARROW = 16_000
"""Tokens of a context window below which a conversation does not fit."""


def converses(known: Abilities) -> bool:
    """Return whether code is read in a conversation; otherwise files are chosen, then their functions."""
    return known.reading != "stages" and (known.window is None or known.window >= NARROW)


class Reader:
    """Reads the code of one run; an objection continues the conversation that it is about."""

    def __init__(self, budget: ModelBudget, limits: ReadingLimits) -> None:
        self._budget = budget
        self._limits = limits
        self._conversation: Conversation | None = None

    async def read(self, model: Model, case: Case) -> Judged[CodeReading]:
        """Find the places that an issue is about.

        Raises:
            ModelError: no usable answer arrived.
        """
        if case.tools is None:
            return Judged(CodeReading(summary="There is no code to read.", details=""), judged_by=model.name)
        if not converses(model.abilities):
            return await Stages(model, self._budget, case, Usage()).read(case.tools)
        # A process that resumes a run has no conversation, so it begins one with the objection.
        earlier = self._conversation if case.looked_up is not None else None
        self._conversation = conversation = earlier or Conversation(model, self._budget, case, self._limits)
        try:
            return await (conversation.read(case.tools) if earlier is None else earlier.resume(case, case.tools))
        except InvalidOutput as invalid:
            if conversation.turns > 1:
                message = f"{model.name} gave two invalid answers in its conversation: {invalid}"
                raise ModelError(message[:300], conversation.usage) from invalid
            # A model that cannot make its first call is not asked for one again for a while.
            model.learn(reading="stages")
            return await Stages(model, self._budget, case, conversation.usage).read(case.tools)
