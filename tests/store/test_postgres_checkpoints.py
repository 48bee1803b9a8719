"""Runs in Postgres are resumed by other processes and other releases."""

from __future__ import annotations

import pytest

from bot.store.databases.database import StoreError
from bot.store.databases.postgres_checkpoints import open_postgres_checkpoints
from nodes.graph import build_graph
from nodes.run import advance, initial_state
from nodes.state import CURRENT_SCHEMA_VERSION, Answer, BugTriageState, Finished, Waiting
from tests.serve.app import ask
from tests.support.fakes import SHA, ScriptedBrain, context, decide

START = initial_state("scan hangs", "open quote", repository="o/r", sha=SHA)
PLAIN = [decide("codebase_search"), decide("critic"), decide("writer")]
LONG = initial_state("scan hangs", "open quote\n" * 400, repository="o/r", sha=SHA)
OLD = START.model_copy(update={"schema_version": 0})


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(START, id="this-release"),
        pytest.param(LONG, id="a-long-text"),
        pytest.param(OLD, id="an-older-one"),
    ],
)
async def test_a_run_that_waits_continues_in_another_process(url: str, start: BugTriageState) -> None:
    brain = ScriptedBrain([decide("human_input", question="Which version?"), *PLAIN])
    async with open_postgres_checkpoints(url) as saver:
        waiting = await advance(build_graph(saver), context(brain), "t", start)
    assert isinstance(waiting, Waiting)
    answer, question_id = Answer(text="2"), waiting.exchange.question_id
    async with open_postgres_checkpoints(url) as saver:
        done = await advance(build_graph(saver), context(brain), "t", start, answer=answer, question_id=question_id)
        assert isinstance(done, Finished)
        assert done.state.schema_version == CURRENT_SCHEMA_VERSION
        assert done.state.issue_body == start.issue_body
        await saver.adelete_thread("t")
        assert await saver.aget_tuple({"configurable": {"thread_id": "t"}}) is None


async def test_a_long_text_is_stored_once_and_not_with_each_step(url: str) -> None:
    brain = ScriptedBrain([*[decide("codebase_search")] * 3, *PLAIN])
    async with open_postgres_checkpoints(url) as saver:
        await advance(build_graph(saver), context(brain), "t", LONG)
    rows = ask(url, "SELECT octet_length(checkpoint::text) FROM checkpoints ORDER BY checkpoint_id")
    assert len(rows) > 10
    assert max(size for (size,) in rows) < len(LONG.issue_body)


async def test_text_of_a_reporter_causes_no_database_fault(url: str) -> None:
    start = initial_state("a\0b", "\0 \\u0000 \N{PILE OF POO}", repository="o/r", sha=SHA)
    brain = ScriptedBrain(list(PLAIN))
    async with open_postgres_checkpoints(url) as saver:
        done = await advance(build_graph(saver), context(brain), "t", start)
    assert isinstance(done, Finished)


async def test_an_unavailable_database_is_not_a_fault_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.store.databases.postgres_checkpoints.SERVER_SECONDS", 0.1)
    async with open_postgres_checkpoints("postgresql://127.0.0.1:1/nowhere") as saver:
        with pytest.raises(StoreError):
            await advance(build_graph(saver), context(ScriptedBrain(list(PLAIN))), "t", START)
