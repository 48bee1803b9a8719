"""A run in a separate process that can be killed; it logs every question to the brain."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from nodes.graph import build_graph
from nodes.run import advance, initial_state
from nodes.state import Finished
from nodes.state.checkpoints import SqliteCheckpoints, serializer
from tests.support.fakes import SHA, ScriptedBrain, context, decide

NEXT = {1: "codebase_search", 2: "critic", 3: "writer"}


class Stateful(ScriptedBrain):
    """Decides by the round, so that a restarted process continues as the first would have."""

    async def decide(self, case):
        self.decisions = [decide(NEXT.get(case.state.iterations, "writer"))]
        return await super().decide(case)


async def main(database: str, log: Path, *, hang: bool) -> None:
    def note(role: str) -> None:
        with log.open("a") as file:
            file.write(f"{role}\n")
        if hang and role == "critic":
            time.sleep(600)

    async with SqliteCheckpoints.from_conn_string(database) as saver:
        saver.serde = serializer()
        start = initial_state("scan hangs", "open quote", repository="o/r", sha=SHA)
        outcome = await advance(build_graph(saver), context(Stateful(before=note)), "t", start)
        assert isinstance(outcome, Finished)
        assert outcome.state.report is not None
        print(outcome.state.report.status)


asyncio.run(main(sys.argv[1], Path(sys.argv[2]), hang=sys.argv[3] == "hang"))
