"""Who judges a run: what one may cost is counted by a brain of its own; clients and pace are the process's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.model import check_brain, model_settings
from bot.repo_config import RepositoryConfig
from bot.settings import Settings
from nodes.brains.llm import LLMBrain
from nodes.brains.models import Models
from nodes.brains.purse import Purse
from nodes.context import Brain


class Brains:
    """Brains for runs."""

    def __init__(self, rules: Brain, models: Models | None = None) -> None:
        """Without models rules judge every run."""
        self.rules = rules
        """What everything falls back to; it counts nothing, so that all runs share it."""
        self._models = models

    def for_run(self, config: RepositoryConfig, purse: Purse | None = None) -> Brain:
        """A brain whose calls a purse pays for, as the operator has set it and the repository allows."""
        if self._models is None or config.brain == "rules":
            return self.rules
        return LLMBrain(self._models, purse)


@asynccontextmanager
async def open_brains(settings: Settings, rules: Brain) -> AsyncIterator[Brains]:
    """The brains of this process, whose connections are closed in the end.

    Raises:
        UserError: the model is not configured, or cannot be the supervisor's.
    """
    if settings.brain == "rules":
        yield Brains(rules)
        return
    check_brain(settings)
    models = Models(model_settings(settings))
    try:
        yield Brains(rules, models)
    finally:
        await models.aclose()
