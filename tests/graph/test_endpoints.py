"""Each simulated endpoint in a whole triage; the model writes the report if it can answer at all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from nodes.brains.calls.models import Models, ModelSettings
from nodes.brains.llm import LLMBrain
from nodes.brains.rules import RulesBrain
from nodes.graph import build_graph
from nodes.run import advance, initial_state
from nodes.state import BugTriageState, Finished
from nodes.state.checkpoints import serializer
from tests.servers.endpoints import ENDPOINTS, Endpoint, form_of
from tests.servers.model_server import ModelServer, serve
from tests.support.fakes import SHA, context
from tests.support.patience import patience

CALLS = 4
LONG = "The lexer hangs on an open quote: `scan` never returns. " + "It prints `a[i] = {x: (1, 2)}` again. " * 400


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with serve() as running:
        yield running


async def triage(server: ModelServer, models: Models, endpoint: Endpoint) -> BugTriageState:
    server.script = endpoint.script()
    server.requests.clear()
    ctx = context(LLMBrain(models), rules=RulesBrain(), **({"body": LONG} if endpoint.long else {}))
    start = initial_state(ctx.title, ctx.body, repository="o/r", sha=SHA)
    outcome = await advance(build_graph(InMemorySaver(serde=serializer())), ctx, "t", start)
    assert isinstance(outcome, Finished)
    return outcome.state


def models_for(server: ModelServer, endpoint: Endpoint) -> Models:
    named = {"supervisor": endpoint.model, "default": endpoint.model, **endpoint.settings}
    timeout = patience(10.0)
    return Models(
        ModelSettings(
            base_url=server.url, api_key="k", timeout=timeout, calls_per_minute=100_000, max_retries=1, **named
        )
    )


def test_there_are_at_least_two_dozen() -> None:
    assert len({endpoint.name for endpoint in ENDPOINTS}) == len(ENDPOINTS) >= 24


@pytest.mark.parametrize("endpoint", [pytest.param(one, id=one.name.replace(" ", "-")) for one in ENDPOINTS])
async def test_the_report_is_by_the_model_where_it_can_answer(server: ModelServer, endpoint: Endpoint) -> None:
    models = models_for(server, endpoint)
    try:
        state = await triage(server, models, endpoint)
        report = state.report
        assert report is not None
        assert report.written_by == (endpoint.model if endpoint.by_model else "rules"), report.notes
        assert report.suspects
        assert endpoint.notes in " ".join(report.notes)
        assert state.metrics.usage.calls == len(server.requests)
        if endpoint.by_model:
            assert not state.metrics.fallbacks
            assert bool(report.notes) == bool(endpoint.notes)
            calls = CALLS + (endpoint.reading == "stages") + endpoint.turns - 1
            assert len(server.requests) == calls + endpoint.extra
            last = server.requests[-1]
            assert form_of(last) == endpoint.method
            assert ("temperature" in last) == endpoint.temperature
        if endpoint.by_model and endpoint.extra:
            # Refused options are remembered: the next run repeats no refused request.
            again = await triage(server, models, endpoint)
            assert again.report is not None
            assert again.report.written_by == endpoint.model
            assert len(server.requests) == CALLS + (endpoint.reading == "stages") + len(endpoint.first)
    finally:
        await models.aclose()
