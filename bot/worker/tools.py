"""Resources that jobs share: brains, search engines and clients, opened once per process."""

from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from langgraph.checkpoint.base import BaseCheckpointSaver

from bot.github.app import GitHub, TokenGitHub
from bot.ports import RepositoryRef
from bot.runs.fetching import MirrorLimits
from bot.runs.mirrors import Mirrors
from bot.runs.model import check_brain, model_settings
from bot.runs.sources import Sources
from bot.settings.environment import Settings
from bot.settings.repository import RepositoryConfig
from bot.settings.server import ServerSettings
from bot.store.databases.checkpoints import open_saver
from bot.store.databases.sqlite import open_store
from bot.store.runs.usage import StoredPace
from bot.store.tables import Store
from bot.worker.budgets import Budgets, SharedBudget, run_scope
from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import Models
from nodes.brains.rules import RulesBrain
from nodes.brains.screening import brain_of
from nodes.context.brain import Brain
from nodes.graph import Graph, build_graph
from nodes.search.engine import Engine

MAX_INDEXES = 96_000_000
"""Approximate bytes of indexes in memory. Parsed files are cached on disk next to each mirror."""
MAX_ENGINES = 64
"""Number of engines in memory, however small they are: each holds a file open."""

_LOCAL = ("127.0.0.1", "::1", "localhost")
"""Where GitHub itself runs on this machine, as it does in tests."""


class Engines:
    """A cache of engines by mirror, evicted by least recent use."""

    def __init__(self, largest: int = MAX_INDEXES) -> None:
        """Create an empty cache of at most ``largest`` bytes; the index used last may exceed them alone."""
        self._largest = largest
        self._engines: OrderedDict[Path, Engine] = OrderedDict()

    def of(self, mirror: Path) -> Engine:
        """Return the engine of a mirror, created if needed. An engine whose mirror was removed is replaced."""
        engine = self._engines.pop(mirror, None)
        if engine is None or not mirror.exists():
            engine = Engine(mirror, mirror.parent)
        # The engine was removed from the dict and is put last below, so the dict's order is that of the last use.
        taken = sum(other.memory for other in self._engines.values())
        while self._engines and (taken + engine.memory > self._largest or len(self._engines) >= MAX_ENGINES):
            _, oldest = self._engines.popitem(last=False)
            taken -= oldest.memory
        self._engines[mirror] = engine
        return engine


@dataclass(frozen=True, slots=True)
class Brains:
    """Creates brains for runs; without models, rules judge every run."""

    rules: Brain
    """The fallback of every run. It counts nothing, so all runs share it."""
    models: Models | None = None

    def for_run(self, config: RepositoryConfig, budget: ModelBudget | None = None) -> Brain:
        """Return a brain as the operator and the repository configured it; `budget` is charged for its calls."""
        if self.models is None or config.brain == "rules":
            return self.rules
        return brain_of(self.models, budget)


@dataclass(frozen=True, slots=True)
class Tools:
    """All resources of a job."""

    store: Store
    github: GitHub
    mirrors: Mirrors
    engines: Engines
    graph: Graph
    checkpoints: BaseCheckpointSaver[Any]
    brains: Brains
    sources: Sources
    budgets: Budgets
    pace: StoredPace
    """Pace of model calls, shared by all processes that use the store."""
    settings: Settings

    def budget(self, thread: str, ref: RepositoryRef, limited: Callable[[str, str], Awaitable[None]]) -> SharedBudget:
        """Return the budget of a run's calls, of the repository's day too; ``limited`` gets a limit's code and text."""
        budgets = self.budgets
        day = budgets.day(ref, self.store.clock())
        return SharedBudget(run_scope(thread, budgets.run), day, self.store.usage, self.pace, budgets.prices, limited)


@asynccontextmanager
async def open_tools(settings: ServerSettings) -> AsyncIterator[Tools]:
    """Open the resources, and close them at the end; raises ``UserError`` if the model cannot be used."""
    async with AsyncExitStack() as stack:
        # The stack closes in reverse order, so the store, which everything else uses, is closed last.
        store = open_store(settings.settings)
        stack.push_async_callback(store.aclose)
        github = open_github(settings, store)
        stack.push_async_callback(github.aclose)
        # An unusable key is reported at the start, with a clear message, instead of by every job.
        await github.check_key()
        checkpoints = await stack.enter_async_context(open_saver(settings.settings))
        models = None
        if settings.settings.brain != "rules":
            check_brain(settings.settings)
            models = Models(model_settings(settings.settings))
            stack.push_async_callback(models.aclose)
        yield Tools(
            store=store,
            github=github,
            mirrors=Mirrors(
                settings.data_dir / "repos",
                MirrorLimits(free=settings.settings.triage_free_mb * 1_000_000),
                local_addresses=urlsplit(settings.settings.github_api_url).hostname in _LOCAL,
            ),
            engines=Engines(),
            graph=build_graph(checkpoints),
            checkpoints=checkpoints,
            sources=Sources(settings.operator, settings.settings.github_server_url),
            brains=Brains(RulesBrain(), models),
            budgets=Budgets.of(settings.settings, settings.operator),
            pace=store.pace("models", settings.settings.triage_model_calls_per_minute),
            settings=settings.settings,
        )


def open_github(settings: ServerSettings, store: Store) -> GitHub:
    """Return the client, to be closed by the caller."""
    api_url, server_url = settings.settings.github_api_url, settings.settings.github_server_url
    if settings.token:
        return TokenGitHub(settings.token, writes=store.writes, api_url=api_url, server_url=server_url)
    return GitHub(
        app_id=str(settings.app_id),
        private_key=settings.private_key,
        writes=store.writes,
        api_url=api_url,
        server_url=server_url,
    )
