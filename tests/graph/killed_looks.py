"""A run with a model's lookups in a real repository, in a separate process that can be killed."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from bot.runs.code import EngineCode
from bot.store.databases.sqlite_file import SqliteDatabase
from bot.store.runs.rows import LocalRuns
from nodes.brains.calls.models import Models, ModelSettings
from nodes.brains.llm import LLMBrain
from nodes.brains.rules import RulesBrain
from nodes.graph import build_graph
from nodes.run import advance, initial_state
from nodes.search.engine import Engine
from nodes.state import Finished
from nodes.state.checkpoints import SqliteCheckpoints, serializer
from tests.support.fakes import context


async def main(checkpoints: str, database: Path, repository: str, url: str) -> None:
    engine = Engine(repository)
    sha = engine.commit()
    runs = LocalRuns(SqliteDatabase(database))
    models = Models(ModelSettings(base_url=url, timeout=30, max_retries=0, calls_per_minute=100_000))
    ctx = context(LLMBrain(models), rules=RulesBrain(), code=EngineCode(engine, sha), evidence=runs.evidence("run"))
    start = initial_state(ctx.title, ctx.body, repository="o/r", sha=sha).model_copy(update={"max_retries": 0})
    async with SqliteCheckpoints.from_conn_string(checkpoints) as saver:
        saver.serde = serializer()
        outcome = await advance(build_graph(saver), ctx, "t", start)
    await models.aclose()
    await runs.aclose()
    assert isinstance(outcome, Finished)
    state = outcome.state
    looks = [line for entry in state.trace for line in entry.looks]
    print(json.dumps({"evidence": state.evidence, "looks": looks}))


asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4]))
