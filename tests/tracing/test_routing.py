"""The routing attributes of spans: names and numbers, without text of an issue."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bot.observability.observer import observing
from bot.observability.spans import ALLOWED, Spans, routing
from nodes.state import TraceEntry
from tests.graph.test_beside import finish
from tests.support.fakes import FakeWeb, ScriptedBrain, context, decide

SECRET = "the secret plans of the reporter"


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        pytest.param(
            {"trace": (TraceEntry(node="supervisor", decision="critic", reason=SECRET, guard="something_new"),)},
            {"triage.decision": "critic", "triage.guard": "something_new"},
            id="a-decision",
        ),
        pytest.param(
            {
                "trace": (
                    TraceEntry(
                        node="join",
                        decision="joined",
                        reason=SECRET,
                        confidence=0.5,
                        counts={"specialists": 2, "failed": 1, "sources": 3, SECRET: 1},
                    ),
                )
            },
            {
                "triage.decision": "joined",
                "triage.confidence": 0.5,
                "triage.specialists": 2,
                "triage.failed": 1,
                "triage.sources": 3,
            },
            id="a-join",
        ),
        pytest.param({"trace": (TraceEntry(node="x", decision=SECRET),)}, {}, id="an-unknown-decision"),
        pytest.param(
            {"also": ("docs",), "tier": "complex"}, {"triage.beside": "docs", "triage.tier": "complex"}, id="2"
        ),
        pytest.param(
            {
                "next_node": "codebase_search",
                "also": ("docs",),
                "supervisor_confidence": 0.7,
                "supervisor_reasoning": SECRET,
                "trace": (TraceEntry(node="supervisor", decision="codebase_search", reason=SECRET, confidence=0.7),),
            },
            {
                "triage.beside": "docs",
                "triage.decision": "codebase_search",
                "triage.confidence": 0.7,
                "triage.supervisorRouting": '{"next": "codebase_search", "specialists": ["codebase_search", "docs"], '
                '"confidence": 0.7, "guard": null, "judged_by": "rules", "iteration": 0}',
            },
            id="a-supervisor",
        ),
        pytest.param({"tier": SECRET, "messages": [SECRET], "trace": SECRET}, {}, id="no-node"),
        pytest.param(SECRET, {}, id="no-mapping"),
    ],
)
def test_routing(outputs: Any, expected: dict[str, Any]) -> None:
    assert routing(outputs) == expected
    assert set(expected) <= ALLOWED


async def test_every_node_of_a_run_can_be_recorded_without_text() -> None:
    decisions = [decide("codebase_search", also=("docs",)), decide("critic"), decide("writer")]
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with observing(Spans(provider.get_tracer("t"))):
        await finish(context(ScriptedBrain(decisions), title=SECRET, tools=[FakeWeb(name="docs")]))
    spans = [(span.name, dict(span.attributes or {})) for span in exporter.get_finished_spans()]
    assert "docs" in [expected.get("triage.beside") for name, expected in spans if name == "node supervisor"]
    assert {"node join", "node tool", "node codebase_search"} <= {name for name, _ in spans}
    assert SECRET not in str(spans)
