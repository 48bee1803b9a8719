"""Steps of a run are readable while it is in progress."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from bot.ports import IssueRef
from bot.store.databases.database import StoreError
from bot.store.runs.run_events import MAX_EVENTS, RunEvents, Visit, recording
from bot.store.tables import Store
from nodes.graph import build_graph
from nodes.limits import ROUNDS_LIMIT
from nodes.run import Step, advance, initial_state
from nodes.state import Finished, Waiting
from nodes.state.checkpoints import serializer
from tests.support.fakes import SHA, ScriptedBrain, context, decide
from tests.support.patience import Deadline

REF = IssueRef("github.com", 7, 9, "octo", "parser", 4)
START = initial_state("scan hangs", "open quote", repository="o/r", sha=SHA)
PLAIN = [decide("codebase_search"), decide("critic"), decide("writer")]


def graph() -> Any:
    return build_graph(InMemorySaver(serde=serializer()))


class Held(ScriptedBrain):
    """Reads the issue when the test allows it."""

    def __init__(self, decisions: list[Any]) -> None:
        super().__init__(decisions)
        self.let = asyncio.Event()

    async def investigate(self, case: Any) -> Any:
        await self.let.wait()
        return await super().investigate(case)


async def visits(events: RunEvents) -> list[Visit]:
    return [Visit.model_validate_json(body) for body in await events.all()]


async def test_a_running_node_is_visible(store: Store) -> None:
    events, brain = store.for_issue(REF).events(1), Held(list(PLAIN))
    async with recording(events) as watch:
        run = asyncio.create_task(advance(graph(), context(brain), "t", START, watch=watch))
        deadline = Deadline(30.0)
        while not any(one.node == "investigator" for one in await visits(events)):
            assert not deadline.passed()
            await asyncio.sleep(0.02)
        (seen,) = [one for one in await visits(events) if one.node == "investigator"]
        assert seen.ended is None
        brain.let.set()
        await run
    ended = [one for one in await visits(events) if one.ended is not None]
    assert [one.id for one in ended if one.node == "investigator"] == [seen.id]
    assert [one.node for one in ended if one.node != "supervisor"] == [
        "investigator",
        "codebase_search",
        "critic",
        "writer",
    ]
    assert [entry.decision for one in ended for entry in one.trace if entry.node == "supervisor"] == [
        *("investigator", "codebase_search", "critic", "writer", "end")
    ]
    assert all(one.began <= (one.ended or 0) for one in ended)


async def test_a_run_that_asks_has_its_question_as_the_last_step(store: Store) -> None:
    events = store.for_issue(REF).events(1)
    async with recording(events) as watch:
        decisions = [decide("human_input", question="Which version?"), *PLAIN]
        assert isinstance(await advance(graph(), context(ScriptedBrain(decisions)), "t", START, watch=watch), Waiting)
    last = (await visits(events))[-1]
    assert (last.node, last.trace) == ("human_input", ())


async def test_an_unavailable_store_loses_the_steps_and_not_the_run() -> None:
    class Away:
        clock = staticmethod(time.time)

        async def add(self, *_: str) -> None:
            raise StoreError("the disk is full")

    away: Any = Away()
    async with recording(away) as watch:
        outcome = await advance(graph(), context(ScriptedBrain(list(PLAIN))), "t", START, watch=watch)
    assert isinstance(outcome, Finished)


async def test_steps_noted_during_the_last_write_are_stored() -> None:
    """A run may end while a write is under way."""
    writing, let = asyncio.Event(), asyncio.Event()
    stored: list[Visit] = []

    class Slow:
        clock = staticmethod(time.time)

        async def add(self, *bodies: str) -> None:
            writing.set()
            await let.wait()
            stored.extend(map(Visit.model_validate_json, bodies))

    slow: Any = Slow()
    async with recording(slow) as watch:
        watch(Step("first", "critic", ended=True))
        await writing.wait()
        watch(Step("second", "writer", ended=True))
        asyncio.get_running_loop().call_soon(let.set)  # after the end of this block has been noticed
    assert [(one.id, one.node) for one in stored] == [("first", "critic"), ("second", "writer")]


def test_the_longest_run_fits() -> None:
    nodes_a_round = 2 + 2  # the supervisor, the node it chose, and companions
    assert 2 * nodes_a_round * ROUNDS_LIMIT < MAX_EVENTS
