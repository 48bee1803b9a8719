"""Resources that jobs share: opened once per process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from langgraph.checkpoint.base import BaseCheckpointSaver

from bot.github import GitHub
from bot.github.token import TokenGitHub
from bot.mirrors import Mirrors
from bot.server_settings import ServerSettings
from bot.sources import Sources
from bot.store.checkpoints import open_saver
from bot.store.opening import open_store
from bot.store.pace import StoredPace
from bot.store.tables import Store
from bot.worker.brains import Brains, open_brains
from bot.worker.budgets import Budgets
from bot.worker.engines import Engines
from bot.worker.retention import Retention
from nodes.brains.rules import RulesBrain
from nodes.graph import Graph, build_graph


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
    keep: Retention
    sources: Sources
    """Sources outside the repository that a run may query."""
    budgets: Budgets
    pace: StoredPace
    """Pace of model calls, shared by all processes that use the store."""
    bots: frozenset[str]
    """Logins of bots that the operator counts as people, in lower case."""


@asynccontextmanager
async def open_tools(settings: ServerSettings) -> AsyncIterator[Tools]:
    """Open the resources; close them at the end."""
    async with AsyncExitStack() as stack:
        store = open_store(settings.settings)
        stack.push_async_callback(store.aclose)
        github = _github(settings, store)
        stack.push_async_callback(github.aclose)
        await github.check_key()
        checkpoints = await stack.enter_async_context(open_saver(settings.settings))
        yield Tools(
            store=store,
            github=github,
            mirrors=Mirrors(settings.data_dir / "repos", local_addresses=_is_local(settings)),
            engines=Engines(
                settings.settings.triage_cache_mb * 1_000_000, most_text=settings.settings.triage_index_mb * 1_000_000
            ),
            graph=build_graph(checkpoints),
            checkpoints=checkpoints,
            sources=Sources(settings.operator),
            brains=await stack.enter_async_context(open_brains(settings.settings, RulesBrain())),
            budgets=Budgets.of(settings.settings),
            keep=Retention.of(settings.settings),
            pace=store.pace("models", settings.settings.triage_model_calls_per_minute),
            bots=settings.settings.bots,
        )


def _github(settings: ServerSettings, store: Store) -> GitHub:
    given = settings.settings
    if settings.token:
        return TokenGitHub(
            settings.token, writes=store.writes, api_url=given.github_api_url, server_url=given.github_server_url
        )
    return GitHub(
        app_id=str(settings.app_id),
        private_key=settings.private_key,
        writes=store.writes,
        api_url=settings.settings.github_api_url,
        server_url=settings.settings.github_server_url,
    )


def _is_local(settings: ServerSettings) -> bool:
    """Whether GitHub itself runs on this machine, as it does in tests."""
    return urlsplit(settings.settings.github_api_url).hostname in ("127.0.0.1", "::1", "localhost")
