"""Runs that share a stored budget: exact to the call, and no worker blocked by a long wait."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from bot.limits.ceilings import Amount, Ceiling, Scope
from bot.store.databases.sqlite import SqliteStore
from bot.store.runs.usage import read_spent
from bot.worker.budgets import MAX_POSTPONED, SharedBudget
from nodes.brains.calls.budget import PostponedError
from nodes.brains.calls.models import Models, ModelSettings
from nodes.brains.llm import LLMBrain
from nodes.brains.rules import RulesBrain
from nodes.context.brain import Case, ModelError
from nodes.graph import build_graph
from nodes.issue.facts import IssueFacts
from nodes.judgements import Investigation
from nodes.run import advance, initial_state
from nodes.state import BugTriageState, Finished
from nodes.state.checkpoints import serializer
from tests.limits.day import sound
from tests.servers.model_server import ModelServer, Reply, Request, error, fields_of, says, serve
from tests.support.fakes import SHA, context

CASE = Case(state=BugTriageState(iterations=1), title="It fails", body="", facts=IssueFacts(), evidence=())
NO_LIMIT = Ceiling()
ANSWER = says(Investigation(problem="It fails.", hypothesis="", confidence=0.2).model_dump())


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve() as running:
        running.script = [ANSWER]
        yield running


@dataclass
class Stage:
    """A store, a model, and brains for runs that share both."""

    store: SqliteStore
    models: Models
    met: list[str] = field(default_factory=list)

    def brain(self, run: int, *, ceiling: Ceiling = NO_LIMIT, **day: int) -> LLMBrain:
        return LLMBrain(self.models, self.budget(run, ceiling, Ceiling(**day)))

    def budget(self, run: int, ceiling: Ceiling, day: Ceiling) -> SharedBudget:
        async def limited(code: str, _message: str) -> None:
            self.met.append(code)

        return SharedBudget(
            run=Scope("run", f"h/1#1:{run}", "run", ceiling),
            day=(Scope("repository", "h/1", "2026-01-31", day),),
            counters=self.store.usage,
            pace=self.store.pace("models", 6_000),
            prices={"gpt-4o": (2.0, 10.0)},
            limited=limited,
        )

    async def spent(self) -> Amount:
        scope = Scope("repository", "h/1", "2026-01-31")
        return await self.store._database.read(lambda db: read_spent(db, scope))


@pytest.fixture
async def stage(server: ModelServer, tmp_path: Path) -> AsyncIterator[Stage]:
    store = SqliteStore(tmp_path / "store.db")
    models = Models(ModelSettings(base_url=server.url, max_retries=2))
    yield Stage(store, models)
    await models.aclose()
    await store.aclose()


async def test_a_day_s_calls_are_shared_by_all_runs(stage: Stage, server: ModelServer) -> None:
    brains = [stage.brain(run, calls=3) for run in range(2)]
    for n in range(3):
        await brains[n % 2].investigate(CASE)
    with pytest.raises(ModelError, match="limit of 3 model calls for this repository today"):
        await brains[1].investigate(CASE)
    assert len(server.requests) == 3
    assert stage.met == ["repository.calls"]


async def test_tokens_and_cost_are_what_the_server_reports(stage: Stage) -> None:
    await stage.brain(1).investigate(CASE)
    assert await stage.spent() == Amount(calls=1, tokens=120, cost=100 * 2 + 20 * 10)


async def test_a_call_that_could_pass_a_ceiling_is_not_made(stage: Stage, server: ModelServer) -> None:
    with pytest.raises(ModelError, match=r"limit of \$0.01 cost of models for this run"):
        await stage.brain(1, ceiling=Ceiling(cost=10_000)).investigate(CASE)
    assert (server.requests, await stage.spent()) == ([], Amount())


async def test_a_refused_request_is_a_call_without_tokens(stage: Stage, server: ModelServer) -> None:
    server.script = [error(429, retry_after_ms="5"), ANSWER]
    await stage.brain(1).investigate(CASE)
    assert await stage.spent() == Amount(calls=2, tokens=120, cost=400)


async def test_a_long_wait_postpones_the_job_and_applies_to_all(stage: Stage, server: ModelServer) -> None:
    server.script = [error(429, retry_after="90")]
    with pytest.raises(PostponedError) as postponed:
        await stage.brain(1).investigate(CASE)
    assert postponed.value.after == 90
    with pytest.raises(PostponedError):
        await stage.brain(2).investigate(CASE)
    assert len(server.requests) == 1
    assert (await stage.spent()).calls == 1
    assert stage.met == ["model.busy", "model.pace"]


async def test_a_run_that_is_postponed_too_often_is_judged_by_rules(stage: Stage, server: ModelServer) -> None:
    await stage.store.pace("models", 6_000).close(600.0)
    for _ in range(MAX_POSTPONED):
        with pytest.raises(PostponedError):
            await stage.brain(1).investigate(CASE)
    with pytest.raises(ModelError, match="too often"):
        await stage.brain(1).investigate(CASE)
    assert await stage.spent() == Amount()


_FIELDS = ("next_node", "problem", "places", "approved", "root_cause")
"""One field of each role's schema."""


async def test_a_postponed_run_resumes_where_it_stopped(stage: Stage, server: ModelServer) -> None:
    requests: list[str] = []

    def busy_once(request: Request) -> Reply:
        fields = fields_of(request)
        role = next(name for name in _FIELDS if name in fields)
        requests.append(role)
        return error(429, retry_after="90") if role == "approved" and requests.count(role) == 1 else sound(request)

    server.script = busy_once
    graph = build_graph(InMemorySaver(serde=serializer()))
    start = initial_state("scan hangs", "open quote", repository="o/r", sha=SHA)
    with pytest.raises(PostponedError):
        await advance(graph, context(stage.brain(1), rules=RulesBrain()), "t", start)
    before = len(requests)
    await stage.store._database.do(lambda db: db.execute("UPDATE paces SET closed_until = 0").rowcount)
    outcome = await advance(graph, context(stage.brain(1), rules=RulesBrain()), "t", start)
    assert isinstance(outcome, Finished)
    assert outcome.state.metrics.fallbacks == ()
    assert requests[before] == "approved"
    assert requests.count("problem") == 1
    assert (await stage.spent()).calls == len(requests)
