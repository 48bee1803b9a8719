"""What a run records of itself besides its report: scores, lengths, retries, compression and the critique."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from bot.report.comment.markdown import MarkdownRenderer
from bot.report.document import build_result
from bot.runs.context import configured
from nodes.brains.calls.models import Models, ModelSettings
from nodes.brains.llm import LLMBrain
from nodes.brains.rules import RulesBrain
from nodes.context.brain import Brain
from nodes.context.ports import Context
from nodes.graph import build_graph
from nodes.run import advance, initial_state
from nodes.search.types import Query, Survey
from nodes.state import BugTriageState, Finished, TraceEntry
from nodes.state.checkpoints import serializer
from tests.servers.endpoints import answer
from tests.servers.model_server import ModelServer, Request, says, serve, text_of
from tests.support.fakes import SHA, FakeCode, FakeEvidence, ScriptedBrain, decide

BODY = "The lexer hangs on an open quote: `scan` never returns."
LONG = f"{BODY} " + "It prints the same line again. " * 400


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve() as running:
        yield running


async def triage(brain: Brain, body: str = BODY, code: FakeCode | None = None) -> BugTriageState:
    code = code or FakeCode()
    rules = RulesBrain()
    parts = Context("scan hangs", body, code, FakeEvidence(), brain, rules, MarkdownRenderer())
    ctx = configured(parts)
    start = initial_state(ctx.title, ctx.body, repository="o/r", sha=SHA)
    outcome = await advance(build_graph(InMemorySaver(serde=serializer())), ctx, "t", start)
    assert isinstance(outcome, Finished)
    return outcome.state


def entries(state: BugTriageState, node: str) -> list[TraceEntry]:
    return [entry for entry in state.trace if entry.node == node]


async def test_a_search_records_its_threshold_and_the_mean_score_of_its_results() -> None:
    state = await triage(RulesBrain())
    found = entries(state, "codebase_search")[0]
    assert found.scores["threshold_used"] == 0.6
    assert 0.6 <= found.scores["avg_score"] <= 1.0
    again = [entry for entry in entries(state, "codebase_search")[1:] if entry.scores]
    assert all(entry.scores["threshold_used"] == 0.55 for entry in again)


async def test_a_writer_records_its_length_and_a_supervisor_the_retries() -> None:
    brain = ScriptedBrain([decide("codebase_search"), decide("writer"), decide("writer")], confidence=0.2)
    state = await triage(brain)
    assert all(entry.counts["answer_length"] > 0 for entry in entries(state, "writer"))
    retries = [entry.counts["retry_count"] for entry in entries(state, "supervisor")]
    assert retries == sorted(retries)
    assert retries[-1] == state.retry_count == entries(state, "writer")[-1].counts["retry_count"]


class Fading(FakeCode):
    """A search that is less sure each time that it is asked about facts."""

    async def survey(self, query: Query) -> Survey:
        found = await super().survey(query)
        self.confidence -= 0.1
        return found


async def test_the_best_draft_is_reported_even_if_later_ones_are_worse() -> None:
    state = await triage(RulesBrain(), code=Fading(confidence=0.6))
    drafts = state.metrics.confidence_history
    assert len(drafts) == 3
    assert drafts[0] == max(drafts) > drafts[1]
    assert state.report is not None
    assert (state.report.confidence, state.best_draft) == (drafts[0], None)
    assert state.clarification_question == state.report.review_message
    message = f"After 2 wider searches, confidence in the first place is {drafts[0]:.0%}: "
    assert state.report.review_message.startswith(message)


async def test_the_result_contains_the_critique() -> None:
    state = await triage(ScriptedBrain([decide("codebase_search"), decide("critic"), decide("writer")]))
    critique = build_result(state).critique
    assert critique is not None
    assert (critique.verdict, critique.gaps != ()) == ("APPROVED", True)
    assert build_result(await triage(ScriptedBrain([decide("writer")] * 9))).critique is None


async def test_a_model_gets_a_long_text_compressed(server: ModelServer) -> None:
    server.script = lambda request: says(answer(request))
    models = Models(ModelSettings(base_url=server.url, api_key="k", max_retries=0, calls_per_minute=10**6))
    state = await triage(LLMBrain(models), LONG)
    await models.aclose()
    read = entries(state, "investigator")[0]
    assert read.counts.get("context_compressed", 0) == 1
    prompt = next(text_of(request) for request in server.requests if "You are the investigator" in text_of(request))
    assert "characters left out" in prompt
    assert len(prompt) < 14_000


async def test_rules_read_the_whole_text_and_record_no_compression() -> None:
    state = await triage(RulesBrain(), LONG)
    assert not any("context_compressed" in entry.counts for entry in state.trace)


async def test_both_attempts_of_an_invalid_decision_are_logged_without_what_the_model_wrote(
    server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    def script(request: Request) -> object:
        if "You are the supervisor" in text_of(request):
            return says({**answer(request), "next_node": "the secret plan"})
        value = answer(request)
        # Without a cause, there is more than one next step.
        return says({**value, "cause": []} if "cause" in value else value)

    server.script = script  # type: ignore[assignment]
    models = Models(ModelSettings(base_url=server.url, api_key="k", max_retries=0, calls_per_minute=10**6))
    with caplog.at_level(logging.WARNING, logger="nodes.brains.calls.asking"):
        await triage(LLMBrain(models))
    await models.aclose()
    logged = [(one.levelname, one.getMessage()) for one in caplog.records if "SupervisorDecision" in one.getMessage()]
    assert [level for level, _ in logged[:2]] == ["WARNING", "ERROR"]
    assert [f"(attempt {number})" in message for number, (_, message) in enumerate(logged[:2], 1)] == [True, True]
    assert "next_node" in logged[0][1]
    assert not any("secret plan" in message for _, message in logged)
