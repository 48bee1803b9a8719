"""Provides the brain of a run. Each brain counts its run's cost; the process shares model clients and pace."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.model import check_brain, model_settings
from bot.repo_config import RepositoryConfig
from bot.settings import Settings
from nodes.brains.budget import ModelBudget
from nodes.brains.llm import LLMBrain
from nodes.brains.models import Models
from nodes.context import Brain


class Brains:
    """Creates brains for runs."""

    def __init__(self, rules: Brain, models: Models | None = None) -> None:
        """Set the shared parts. Without models, rules judge every run."""
        self.rules = rules
        """The fallback of every run. It counts nothing, so all runs share it."""
        self._models = models

    def for_run(self, config: RepositoryConfig, budget: ModelBudget | None = None) -> Brain:
        """A brain as the operator and the repository configured it; `budget` is charged for its calls."""
        if self._models is None or config.brain == "rules":
            return self.rules
        return LLMBrain(self._models, budget)


@asynccontextmanager
async def open_brains(settings: Settings, rules: Brain) -> AsyncIterator[Brains]:
    """Open the brains of this process; close their connections at the end.

    Raises:
        UserError: The model is not configured, or is not suitable for the supervisor.
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
