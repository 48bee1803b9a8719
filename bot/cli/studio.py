"""The graph for ``langgraph dev``: triages an issue against a local clone, with the checkpoints of the command line."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from bot.cli.local.repository import open_engine
from bot.report.comment.markdown import MarkdownRenderer
from bot.runs.code import EngineCode
from bot.runs.context import configured
from bot.runs.local import open_brain
from bot.settings.environment import load_settings
from bot.settings.repository import RepositoryConfig
from bot.store.databases.checkpoints import open_checkpoints
from bot.store.databases.sqlite_file import SqliteDatabase
from bot.store.runs.rows import LocalRuns
from nodes.brains.rules import RulesBrain
from nodes.context.ports import Context
from nodes.graph import build_graph
from nodes.run import initial_state
from nodes.state import BugTriageState
from nodes.state.checkpoints import SqliteCheckpoints, serializer

State = BugTriageState


@dataclass(frozen=True, slots=True)
class Clone:
    """The context that a client of the server gives: which code a run reads."""

    repository: str = "."
    """Path of a clone."""
    rev: str = "HEAD"


class LocalGraph(CompiledStateGraph[State, Context, State, State]):
    """The graph, which opens what a run may call by itself: a client can only give values of JSON."""

    async def astream(
        self,
        input: Any,  # noqa: A002  the name of the base class
        config: RunnableConfig | None = None,
        *,
        context: Any = None,
        **given: Any,
    ) -> AsyncIterator[Any]:
        """Run an issue, given as ``issue_title`` and ``issue_body``, or resume the run of a thread."""
        where = Clone(**context) if isinstance(context, dict) else context or Clone()
        begins = isinstance(input, dict)
        values = input if begins else (await self.aget_state(config or {})).values
        title, body = str(values.get("issue_title", "")), str(values.get("issue_body", ""))
        thread = str((config or {}).get("configurable", {}).get("thread_id", ""))
        # A run that resumes reads the commit that it began with.
        async with _opened(title, body, where, thread, None if begins else values.get("sha")) as opened:
            start = initial_state(title, body, repository="", sha=opened.code.sha) if begins else input
            async for part in super().astream(start, config, context=opened, **given):
                yield part


@asynccontextmanager
async def _opened(title: str, body: str, where: Clone, thread: str, sha: str | None) -> AsyncIterator[Context]:
    # The server reports calls that block its event loop, as reading settings and repositories does.
    settings = await asyncio.to_thread(load_settings, where.repository)
    path = await asyncio.to_thread(Path(where.repository).resolve)
    opened = await asyncio.to_thread(open_engine, str(path), sha or where.rev, settings.triage_data_dir)
    runs = LocalRuns(await asyncio.to_thread(SqliteDatabase, settings.triage_data_dir / "store.db"))
    async with aclosing(runs), open_brain(settings) as brain:
        rules = RulesBrain()
        parts = Context(
            title=title,
            body=body,
            code=EngineCode(*opened),
            evidence=runs.evidence(f"studio:{thread}"),
            brain=brain or rules,
            rules=rules,
            renderer=MarkdownRenderer(),
        )
        yield configured(parts, RepositoryConfig(answer_questions=True))


@asynccontextmanager
async def checkpoints() -> AsyncIterator[SqliteCheckpoints]:
    """Open the checkpoints of the data directory."""
    settings = await asyncio.to_thread(load_settings, ".")
    await asyncio.to_thread(lambda: settings.triage_data_dir.mkdir(mode=0o700, parents=True, exist_ok=True))
    async with open_checkpoints(settings.triage_data_dir / "checkpoints.db") as connection:
        yield SqliteCheckpoints(connection, serde=serializer())


graph = LocalGraph(**{**vars(build_graph()), "context_schema": Clone})
