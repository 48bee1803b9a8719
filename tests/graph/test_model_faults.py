"""Whole runs with every failure of a model server; none loses the report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from nodes.brains.calls.models import Models, ModelSettings
from nodes.brains.llm import LLMBrain
from nodes.brains.rules import RulesBrain
from nodes.graph import build_graph
from nodes.report import TriageReport
from nodes.run import advance, initial_state
from nodes.state import Answer, BugTriageState, Finished, Waiting
from nodes.state.checkpoints import serializer
from tests.servers.model_server import ModelServer, Reply, error, fields_of, says, serve
from tests.support.fakes import SHA, context
from tests.support.patience import patience

DECISION = {"reasoning": "because", "question": None, "question_context": None, "confidence": 0.9}
NEXT = {2: "critic", 3: "writer"}
ANSWERS: dict[str, dict[str, Any]] = {
    "problem": {
        "problem": "scan never ends",
        "hypothesis": "the lexer",
        "missing": [],
        "kind": "bug",
        "severity": "high",
        "severity_reason": "it hangs",
        "search_terms": ["scan"],
        "confidence": 0.6,
    },
    "places": {
        "cause": [{"text": "The loop has no way out.", "evidence": ["src/lexer.py:1"]}],
        "places": [{"evidence": "src/lexer.py:1", "why": "a loop"}],
        "confidence": 0.9,
    },
    "approved": {
        "approved": True,
        "gaps": [],
        "required_evidence": [],
        "contradictions": [],
        "confidence": 0.9,
        "against_other": "[E1] is where it loops.",
        "other_holds": False,
    },
    "root_cause": {
        "verdict": "The scanner never leaves its loop.",
        "root_cause": "The loop has no way out [E1].",
        "suspects": [{"evidence": "E1", "why": "the loop"}],
        "missing": [],
        "ruled_out": [],
        "how_to_confirm": "Run it.",
        "labels": ["bug"],
        "kind": "bug",
        "severity": "high",
        "severity_reason": "it hangs",
        "confidence": 0.9,
    },
}


def good(request: dict[str, Any]) -> Reply:
    """Return the reply of a correct model, by the schema."""
    properties = fields_of(request)
    if "next_node" in properties:
        prompt = str(request["messages"])
        round_ = next(n for n in range(12) if f"Iteration: {n} /" in prompt)
        return says({**DECISION, "next_node": NEXT.get(round_, "writer"), "question_options": [], "also": []})
    for key in ("root_cause", "approved", "problem", "places"):
        if key in properties:
            return says(ANSWERS[key])
    raise AssertionError(properties)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve() as running:
        yield running


async def triage(server: ModelServer, **settings: Any) -> BugTriageState:
    chosen: dict[str, Any] = {"base_url": server.url, "api_key": "k", "max_retries": 0, "timeout": patience(10.0)}
    models = Models(ModelSettings(**{**chosen, "calls_per_minute": 100_000, **settings}))
    ctx = context(LLMBrain(models), rules=RulesBrain())
    graph = build_graph(InMemorySaver(serde=serializer()))
    start = initial_state(ctx.title, ctx.body, repository="o/r", sha=SHA)
    try:
        outcome = await advance(graph, ctx, "t", start)
        while isinstance(outcome, Waiting):
            question = outcome.exchange.question_id
            outcome = await advance(graph, ctx, "t", start, answer=Answer(), question_id=question)
    finally:
        await models.aclose()
    assert isinstance(outcome, Finished)
    return outcome.state


def report_of(state: BugTriageState) -> TriageReport:
    assert state.report is not None
    return state.report


async def test_a_model_that_works_writes_the_report(server: ModelServer) -> None:
    server.script = good
    state = await triage(server)
    report = report_of(state)
    assert report.written_by == "gpt-4o"
    assert report.verdict == "The scanner never leaves its loop."
    assert [suspect.checked for suspect in report.suspects] == [True]
    assert not report.notes
    assert state.metrics.usage.calls == len(server.requests) == 4
    assert all(request["temperature"] == 0 for request in server.requests)


@pytest.mark.tried("faults and lies of a model")
@pytest.mark.parametrize(
    ("reply", "says_so"),
    [
        pytest.param(says({**DECISION, "next_node": "lunch"}), None, id="wrong-enum"),
        pytest.param(says("{"), None, id="bad-json"),
        pytest.param(says('{"next_node": "wri', finish="length"), None, id="truncated"),
        pytest.param(says(None, refusal="I will not."), "refus", id="refusal"),
        pytest.param(says(""), None, id="empty"),
        pytest.param(
            Reply({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": []}),
            None,
            id="no-choices",
        ),
        pytest.param(error(429, Retry_After="0"), "429", id="429"),
        pytest.param(error(500), "500", id="500"),
        pytest.param(Reply({}, delay=2.0), "time", id="hang"),
    ],
)
async def test_every_failure_ends_in_a_report_by_rules(server: ModelServer, reply: Reply, says_so: str | None) -> None:
    server.script = [reply]
    state = await triage(server, timeout=0.4)
    report = report_of(state)
    assert report.written_by == "rules"
    assert report.suspects
    assert report.notes
    if says_so:
        assert says_so in " ".join(report.notes).lower()


async def test_a_short_overload_changes_nothing(server: ModelServer) -> None:
    busy = [True]

    def once(request: dict[str, Any]) -> Reply:
        return error(429, Retry_After="0") if busy and busy.pop() else good(request)

    server.script = once
    report = report_of(await triage(server, max_retries=2))
    assert report.written_by == "gpt-4o"
    assert not report.notes


@pytest.mark.tried("faults and lies of a model")
async def test_fabrications_with_high_confidence_are_not_published(server: ModelServer) -> None:
    def liar(request: dict[str, Any]) -> Reply:
        if "root_cause" not in fields_of(request):
            return good(request)
        lie = {"root_cause": "The cache is stale [E77]. All is proven.", "verdict": "Certainly the cache [E77]."}
        return says({**ANSWERS["root_cause"], **lie, "confidence": 1.0})

    server.script = liar
    state = await triage(server)
    report = report_of(state)
    assert "cache" not in report.model_dump_json(exclude={"citation_audit"})
    assert report.root_cause is None
    assert report.evaluation.faithfulness <= 0.40
    assert state.metrics.claims_dropped > 0
    assert report.requires_human_review


@pytest.mark.tried("faults and lies of a model")
async def test_a_sentence_that_exceeds_its_evidence_is_not_published(server: ModelServer) -> None:
    """Every sentence cites valid evidence, but states something invented, exaggerated or repeated."""

    def boaster(request: dict[str, Any]) -> Reply:
        if "root_cause" not in fields_of(request):
            return good(request)
        boast = {
            "verdict": "This analysis is definitely right.",
            "root_cause": "The loop has no way out [E1]. `launch()` is called on line 900 [E1]. It is proven [E1].",
            "suspects": [{"evidence": "E1", "why": "`launch()` is there, as this report shows"}],
            "ruled_out": ["the lexer's speed"],
        }
        return says({**ANSWERS["root_cause"], **boast})

    server.script = boaster
    state = await triage(server)
    report = report_of(state)
    published = report.model_dump_json(exclude={"citation_audit"})
    assert not [word for word in ("launch", "900", "proven", "definitely", "speed", "analysis") if word in published]
    assert report.root_cause in (None, "The loop has no way out [E1].")
    assert len(report.citation_audit.dropped) == 5
    assert state.metrics.claims_dropped >= 5
