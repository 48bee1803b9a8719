"""A whole run by rules on a small repository with the real search."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from bot.report.comment.markdown import MarkdownRenderer
from bot.runs.code import EngineCode
from bot.runs.context import withdraw
from nodes.brains.rules import RulesBrain
from nodes.context.ports import Context
from nodes.graph import build_graph
from nodes.issue.facts import read_facts
from nodes.run import advance, initial_state
from nodes.search.engine import Engine
from nodes.state import BugTriageState, Finished
from nodes.state.checkpoints import serializer
from tests.support.fakes import FakeEvidence, FakeSignals
from tests.support.repositories import make_repository


async def run_by_rules(folder: Path, files: Mapping[str, str], title: str, body: str, **context: Any) -> BugTriageState:
    """Commit files, run the graph on an issue until it ends, and return its state; ``context`` adds to the context."""
    make_repository(folder, files)
    return await run_at(Engine(folder, None), title, body, **context)


async def run_at(engine: Engine, title: str, body: str, **context: Any) -> BugTriageState:
    """Run the graph on an issue at the last commit of a repository until it ends, and return its state."""
    rules = RulesBrain()
    ctx = Context(
        title=title,
        body=body,
        code=EngineCode(engine, engine.commit("HEAD")),
        evidence=FakeEvidence(),
        brain=rules,
        rules=rules,
        signals=FakeSignals(),
        renderer=MarkdownRenderer(server_url="https://github.example", repository="octo/feedbox"),
        facts=read_facts(title, body),
        **context,
    )
    start = initial_state(title, body, repository="octo/feedbox", sha=ctx.code.sha, outside=ctx.outside)
    outcome = await advance(build_graph(InMemorySaver(serde=serializer())), ctx, "t", start, withdraw)
    assert isinstance(outcome, Finished)
    return outcome.state
