"""A run on disk in which one branch is done and another hangs until it is killed; used by test_beside."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from nodes.evidence import Evidence, Locator
from nodes.graph import build_graph
from nodes.run import advance, initial_state
from nodes.state import Finished
from nodes.state.checkpoints import SqliteCheckpoints, serializer
from tests.support.fakes import SHA, FakeWeb, ScriptedBrain, context, decide


async def main(database: str, log: Path, how: str) -> None:
    def note(line: str) -> None:
        with log.open("a") as file:
            file.write(f"{line}\n")

    async def quick() -> None:
        note("web_search done")

    async def slow() -> None:
        note("docs asked")
        await asyncio.sleep(600 if how == "hang" else 0)
        note("docs done")

    page = Evidence(kind="web", locator=Locator(url="https://example.org/1"), quote="known fault")
    decisions = [decide("web_search", also=("docs",)), decide("codebase_search"), decide("writer")]
    brain = ScriptedBrain(decisions if how == "hang" else decisions[1:])
    ctx = context(brain, web=FakeWeb((page,), before=quick), tools=[FakeWeb(name="docs", before=slow)])
    async with SqliteCheckpoints.from_conn_string(database) as saver:
        saver.serde = serializer()
        start = initial_state("scan hangs", "open quote", repository="o/r", sha=SHA, outside=ctx.outside)
        outcome = await advance(build_graph(saver), ctx, "t", start)
    assert isinstance(outcome, Finished)
    assert outcome.state.report is not None
    print(outcome.state.report.status)


asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
