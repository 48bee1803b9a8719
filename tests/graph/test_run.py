"""Start, wait, resume, retry and redirect of a run."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.memory import InMemorySaver

from nodes.context.ports import Signal, UnavailableError
from nodes.evidence import Evidence, Locator
from nodes.graph import build_graph
from nodes.judgements import Draft, DraftSuspect
from nodes.run import StaleAnswerError, ThreadDeletedError, advance, initial_state
from nodes.state import CURRENT_SCHEMA_VERSION, Answer, BugTriageState, Finished, Waiting
from nodes.state.checkpoints import NewerSchemaError, SqliteCheckpoints, migrate, serializer
from tests.support.fakes import SHA, FakeCode, FakeSignals, FakeWeb, ScriptedBrain, context, decide, refuse
from tests.support.patience import patience, wait_for
from tests.support.preloaded import Forked

START = initial_state("scan hangs", "open quote", repository="o/r", sha=SHA)
PLAIN = [decide("codebase_search"), decide("critic"), decide("writer")]


def graph() -> Any:
    return build_graph(InMemorySaver(serde=serializer()))


async def finish(ctx: Any, start: BugTriageState = START) -> BugTriageState:
    outcome = await advance(graph(), ctx, "t", start)
    assert isinstance(outcome, Finished)
    return outcome.state


def route_of(state: BugTriageState) -> list[str]:
    return [entry.decision for entry in state.trace if entry.node == "supervisor"]


@pytest.mark.parametrize(("claim_from", "claims"), [(0.0, True), (0.65, True), (0.99, False)])
async def test_no_cause_is_claimed_below_the_maintainers_threshold(claim_from: float, claims: bool) -> None:
    state = await finish(replace(context(ScriptedBrain(list(PLAIN))), claim_from=claim_from))
    assert state.report is not None
    assert (state.report.root_cause is not None) == claims
    assert (state.report.statement == "claim") == claims
    assert state.report.suspects


async def test_a_plain_run_claims_a_cause_that_was_checked() -> None:
    state = await finish(context(ScriptedBrain(list(PLAIN))))
    assert route_of(state) == ["investigator", "codebase_search", "critic", "writer", "end"]
    assert state.report is not None
    assert state.report.root_cause == "The loop never leaves [E1]."
    assert [suspect.checked for suspect in state.report.suspects] == [True, True]
    assert not state.report.requires_human_review


async def test_a_thread_deleted_by_another_process_is_not_a_finished_run() -> None:
    class DeletedAtTheEnd(InMemorySaver):
        """Deletes the thread right before it is read after the run."""

        reads = 0

        async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
            self.reads += 1
            if self.reads == 3:
                self.delete_thread("t")
            return await super().aget_tuple(config)

    saver = DeletedAtTheEnd(serde=serializer())
    with pytest.raises(ThreadDeletedError):
        await advance(build_graph(saver), context(ScriptedBrain(list(PLAIN))), "t", START)
    assert saver.reads == 3


async def test_a_question_waits_and_its_answer_reaches_the_search() -> None:
    brain = ScriptedBrain([decide("human_input", question="Which version?"), *PLAIN])
    ctx = context(brain)
    app = graph()
    waiting = await advance(app, ctx, "t", START)
    assert isinstance(waiting, Waiting)
    assert waiting.exchange.question == "Which version?"
    assert isinstance(await advance(app, ctx, "t", START), Waiting)
    with pytest.raises(StaleAnswerError):
        await advance(app, ctx, "t", START, answer=Answer(text="2"), question_id="another")
    done = await advance(app, ctx, "t", START, answer=Answer(text="2.4"), question_id=waiting.exchange.question_id)
    assert isinstance(done, Finished)
    assert [exchange.answer for exchange in done.state.human_exchanges] == ["2.4"]
    assert done.state.max_iterations == 10
    assert "2.4" in ctx.code.queries[0].extra  # type: ignore[attr-defined]


async def test_a_question_names_only_code_of_the_commit() -> None:
    made_up = "Does `src/nope.py:9999` run? "
    options = ("2.4", "`src/nope.py:9999`", f"Long. {'x' * 300}")
    question = {"question": f"{made_up}Which version?", "question_context": made_up, "question_options": options}
    question["reasoning"] = "The version decides. See [nope.py](https://docs.example/nope)."
    brain = ScriptedBrain([decide("human_input").model_copy(update=question), *PLAIN])
    waiting = await advance(graph(), context(brain), "t", START)
    exchange = waiting.exchange
    assert (exchange.question, exchange.context, exchange.options) == ("Which version?", "", ("2.4",))
    assert exchange.reason == "The version decides."


@pytest.mark.parametrize("question", ["Does `src/nope.py:9` run?", "[this](https://docs.example/nope)"])
async def test_a_question_about_absent_code_or_of_a_link_becomes_a_search(question: str) -> None:
    state = await finish(context(ScriptedBrain([decide("human_input", question=question), *PLAIN])))
    assert [entry.guard for entry in state.trace if entry.guard] == ["empty_or_repeated_question"]


async def test_an_empty_or_repeated_question_becomes_a_search() -> None:
    state = await finish(context(ScriptedBrain([decide("human_input", question="  "), decide("critic")])))
    assert route_of(state)[1] == "codebase_search"
    assert state.trace[2].guard == "empty_or_repeated_question"
    assert state.pending_exchange is None


@pytest.mark.parametrize(("brain", "retries"), [("rules", 2), ("a model", 0)])
async def test_a_weak_draft_is_retried_while_that_can_change_it_then_goes_to_a_person(brain: str, retries: int) -> None:
    """A model would read the same code again, and its confidence cannot rise without an answer."""
    ctx = context(ScriptedBrain(list(PLAIN), confidence=0.4, name=brain), code=FakeCode(confidence=0.4))
    state = await finish(ctx)
    assert [reason.reason for reason in state.metrics.retry_reasons] == ["quality_issue_detected"] * retries
    assert state.report is not None
    assert state.report.root_cause is None
    assert state.report.requires_human_review
    assert state.report.status == "needs_clarification"
    assert state.report.statement == "ranked"


@pytest.mark.parametrize(
    ("by_model", "limits"), [pytest.param(False, [10, 20, 20], id="rules"), pytest.param(True, [16], id="model")]
)
async def test_a_retry_searches_wider_and_a_model_reads_widely_from_the_start(
    by_model: bool, limits: list[int]
) -> None:
    brain = ScriptedBrain(list(PLAIN), confidence=0.4, name="a model" if by_model else "rules")
    ctx = context(brain, code=FakeCode(confidence=0.4), **({} if by_model else {"rules": brain}))
    await finish(ctx)
    assert [query.limit for query in ctx.code.queries] == limits  # type: ignore[attr-defined]


async def test_zero_retries_disable_retries() -> None:
    start = START.model_copy(update={"max_retries": 0})
    state = await finish(context(ScriptedBrain(list(PLAIN), confidence=0.4)), start)
    assert state.retry_count == 0
    assert state.requires_human_review


def test_no_limit_on_retries_means_the_default() -> None:
    assert BugTriageState(max_retries=None).max_retries == 2


async def test_an_unreachable_model_leads_to_a_report_by_rules_that_states_it() -> None:
    state = await finish(context(ScriptedBrain(before=refuse)))
    assert state.report is not None
    assert state.report.written_by == "rules"
    assert any("did not answer" in note for note in state.report.notes)
    assert len(state.metrics.fallbacks) == 2


async def test_fabricated_citations_never_reach_the_report() -> None:
    draft = Draft(
        verdict="It is the cache [E99].",
        root_cause="The cache is stale [E99]. The loop never leaves [E1]. It is slow.",
        suspects=(DraftSuspect(evidence="E99", why="x"), DraftSuspect(evidence="E1", why="loop")),
        confidence=1.0,
    )
    state = await finish(context(ScriptedBrain(list(PLAIN), draft=draft)))
    assert state.report is not None
    assert "E99" not in state.report.model_dump_json(exclude={"citation_audit"})
    assert state.report.citation_audit.fabricated == ("E99",)
    assert state.report.citation_audit.uncited_claims == 1
    assert state.report.confidence == pytest.approx(0.9 * 0.5 * 0.97, abs=1e-3)
    assert state.report.evaluation.faithfulness <= 0.40
    assert state.metrics.claims_dropped == 9


async def test_a_quote_that_no_longer_matches_is_dropped() -> None:
    code = FakeCode()
    brain = ScriptedBrain([decide("codebase_search"), decide("writer")])

    def rewrite(role: str) -> None:
        if role == "writer":
            code.files["src/lexer.py"][1] = "    pass"

    brain.before = rewrite
    state = await finish(context(brain, code=code))
    assert state.report is not None
    assert [suspect.path for suspect in state.report.suspects] == ["src/reader.py"]
    assert "E1" in state.report.citation_audit.failed


async def test_a_redirect_adds_rounds_and_reaches_the_search() -> None:
    signals = FakeSignals([Signal(n, f"look at {n}") for n in range(1, 6)])
    ctx = context(ScriptedBrain(list(PLAIN)), signals=signals)
    state = await finish(ctx)
    assert state.redirect_instructions == ("look at 1", "look at 2", "look at 3")
    assert state.max_iterations == 8 + 9
    assert ctx.code.queries[0].extra[:3] == state.redirect_instructions  # type: ignore[attr-defined]


async def test_specialists_run_beside_each_other_and_join_once() -> None:
    page = Evidence(kind="web", locator=Locator(url="https://example.org/1"), quote="known fault")
    brain = ScriptedBrain([decide("codebase_search", also=("web_search",)), decide("writer")])
    start = START.model_copy(update={"web_configured": True})
    state = await finish(context(brain, web=FakeWeb((page,))), start)
    assert route_of(state) == ["investigator", "codebase_search", "critic", "writer", "end"]
    assert {entry.node for entry in state.trace} >= {"codebase_search", "web_search"}
    assert page.key in state.evidence


def test_after_a_kill_only_the_interrupted_node_runs_again(tmp_path: Path) -> None:
    log = tmp_path / "asked"
    command = [sys.executable, "-m", "tests.graph.killed_run", str(tmp_path / "checkpoints.db"), str(log)]
    hanging = Forked([*command, "hang"])
    wait_for(lambda: log.exists() and "critic" in log.read_text(), 60.0, hanging.poll)
    hanging.send_signal(signal.SIGKILL)
    hanging.wait()
    with Forked([*command, "go on"], stdout=subprocess.PIPE, text=True) as resumed:
        assert resumed.communicate(timeout=patience(60))[0].strip() == "success"
    queries = log.read_text().split()
    assert [queries.count(role) for role in ("investigator", "codebase_search", "critic", "writer")] == [1, 1, 2, 1]


def test_an_old_checkpoint_is_migrated() -> None:
    values = migrate({"schema_version": 0, "redirect_instructions": "the parser"})
    assert BugTriageState(**values).redirect_instructions == ("the parser",)
    assert values["schema_version"] == CURRENT_SCHEMA_VERSION


def test_a_newer_checkpoint_is_refused() -> None:
    with pytest.raises(NewerSchemaError, match="newer release"):
        migrate({"schema_version": CURRENT_SCHEMA_VERSION + 1})


async def test_a_waiting_run_of_an_old_schema_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    brain = ScriptedBrain([decide("human_input", question="Which version?"), *PLAIN])
    old = START.model_copy(update={"schema_version": 0})
    async with SqliteCheckpoints.from_conn_string(str(tmp_path / "c.db")) as saver:
        saver.serde = serializer()
        app = build_graph(saver)
        waiting = await advance(app, context(brain), "t", old)
        assert isinstance(waiting, Waiting)
        done = await advance(
            app, context(brain), "t", old, answer=Answer(text="2"), question_id=waiting.exchange.question_id
        )
    assert isinstance(done, Finished)
    assert done.state.schema_version == CURRENT_SCHEMA_VERSION


async def test_what_a_port_lacks_is_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    def full() -> None:
        raise UnavailableError("the disk is full")

    with caplog.at_level(logging.ERROR, logger="nodes.graph"):
        state = await finish(context(ScriptedBrain(list(PLAIN)), code=FakeCode(fail=full)))
    assert state.report is not None
    failed = [record for record in caplog.records if "failed" in record.message]
    assert "codebase_search failed: the disk is full" in [record.message for record in failed]
    assert not any(record.exc_info for record in failed)


async def test_a_search_cannot_confirm_itself() -> None:
    code = FakeCode(confidence=0.4)
    brain = ScriptedBrain(list(PLAIN))

    def surer(role: str) -> None:
        if role == "writer":
            code.confidence = 0.98

    brain.before = surer
    state = await finish(context(brain, code=code))
    assert state.report is not None
    assert state.report.confidence == 0.4
    assert state.report.root_cause is None


async def test_an_answer_may_raise_the_confidence() -> None:
    code = FakeCode(confidence=0.4)
    brain = ScriptedBrain([decide("codebase_search"), decide("human_input", question="Which?"), *PLAIN])
    ctx = context(brain, code=code)
    app = graph()
    waiting = await advance(app, ctx, "t", START)
    assert isinstance(waiting, Waiting)
    code.confidence = 0.9
    done = await advance(app, ctx, "t", START, answer=Answer(text="x"), question_id=waiting.exchange.question_id)
    assert isinstance(done, Finished)
    assert done.state.report is not None
    assert done.state.report.confidence == 0.9
