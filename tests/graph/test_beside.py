"""Parallel specialists: separate time limits, one join, and use of partial results."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from nodes.agents.external_sources import joint_confidence
from nodes.context.ports import TimeLimits
from nodes.evidence import Evidence, Locator
from nodes.graph import build_graph
from nodes.guards import NOTHING_JOINED, companions
from nodes.judgements import CauseSentence, Submission
from nodes.run import advance, initial_state
from nodes.sources.protocol import SourceError
from nodes.state import AgentFinding, BugTriageState, Finished, TraceEntry
from nodes.state.checkpoints import serializer
from nodes.state.reducers import shorten_old_findings
from tests.support.fakes import SHA, FakeCode, FakeWeb, ScriptedBrain, context, decide
from tests.support.patience import patience, wait_for
from tests.support.preloaded import Forked

PAGE = Evidence(kind="document", locator=Locator(url="https://example.org/1"), quote="known fault", reasons=("from d",))
BESIDE = [decide("codebase_search", also=("web_search", "docs")), decide("critic"), decide("writer")]


def source(name: str, seconds: float = 0.0, fault: Exception | None = None, *pages: Evidence) -> FakeWeb:
    async def before() -> None:
        await asyncio.sleep(seconds)
        if fault is not None:
            raise fault

    return FakeWeb(pages or (PAGE,), name=name, before=before)


def kept(ctx: Any) -> dict[str, Evidence]:
    found: dict[str, Evidence] = ctx.evidence.kept
    return found


async def finish(ctx: Any) -> BugTriageState:
    start = initial_state("scan hangs", "open quote", repository="o/r", sha=SHA, outside=ctx.outside)
    outcome = await advance(build_graph(InMemorySaver(serde=serializer())), ctx, "t", start)
    assert isinstance(outcome, Finished)
    assert outcome.state.report is not None
    return outcome.state


def entry(state: BugTriageState, node: str) -> TraceEntry:
    return next(entry for entry in state.trace if entry.node == node)


async def test_two_specialists_work_at_the_same_time() -> None:
    both = asyncio.Barrier(2)  # neither ends before the other has begun

    async def together() -> None:
        await both.wait()
        await asyncio.sleep(0.3)

    web, docs = (FakeWeb((PAGE,), name=name, before=together) for name in ("web_search", "docs"))
    async with asyncio.timeout(patience(20)):
        state = await finish(context(ScriptedBrain(list(BESIDE)), web=web, tools=[docs]))
    spans = [entry(state, name).timing for name in ("web_search", "docs")]
    assert all(span is not None and span.ended - span.started > 0.25 for span in spans)
    assert max(span.started for span in spans if span) < min(span.ended for span in spans if span)


async def test_a_specialist_that_hangs_times_out_with_an_entry_in_the_trace() -> None:
    tools = [source("docs", 600.0)]
    ctx = context(
        ScriptedBrain(list(BESIDE)), web=source("web_search"), tools=tools, patience=TimeLimits(outside=0.3, code=60.0)
    )
    state = await finish(ctx)
    hung = entry(state, "docs")
    assert (hung.decision, hung.error) == ("failed", "no answer within 0.3 s")
    assert [finding.confidence for finding in state.findings if finding.agent_name == "docs"] == [0.0]
    joined = entry(state, "join")
    assert (joined.decision, joined.counts["failed"], joined.counts["specialists"]) == ("joined", 1, 3)
    assert "no answer from docs" in joined.reason
    assert state.report is not None
    assert state.report.root_cause is not None


async def test_a_web_search_that_hangs_alone_times_out() -> None:
    decisions = [decide("web_search"), decide("codebase_search"), decide("writer")]
    ctx = context(ScriptedBrain(decisions), web=source("web_search", 600.0), patience=TimeLimits(outside=0.3))
    state = await finish(ctx)
    assert entry(state, "web_search").error == "no answer within 0.3 s"


async def test_a_code_search_that_hangs_beside_others_times_out() -> None:
    class Hanging(FakeCode):
        async def find(self, query: Any) -> Any:
            if not self.queries:
                self.queries.append(query)
                await asyncio.sleep(600)
            return await super().find(query)

    ctx = context(
        ScriptedBrain(list(BESIDE)), code=Hanging(), tools=[source("docs")], patience=TimeLimits(outside=60.0, code=0.3)
    )
    state = await finish(ctx)
    assert entry(state, "codebase_search").decision == "failed"
    assert entry(state, "docs").decision == "found"


@pytest.mark.parametrize(
    "fault", [SourceError("it is dead"), RuntimeError("a bug"), TimeoutError()], ids=["dead", "bug", "slow"]
)
async def test_if_everything_fails_the_general_search_runs(fault: Exception) -> None:
    decisions = [decide("web_search", also=("docs",)), decide("writer")]
    ctx = context(ScriptedBrain(decisions), web=source("web_search", 0.0, fault), tools=[source("docs", 0.0, fault)])
    state = await finish(ctx)
    assert entry(state, "join").decision == NOTHING_JOINED
    route = [entry.decision for entry in state.trace if entry.node == "supervisor"]
    assert route == ["investigator", "web_search", "codebase_search", "critic", "writer", "end"]
    assert state.report is not None
    assert state.report.suspects


async def test_parallel_nodes_join_once_and_a_shared_source_is_listed_once() -> None:
    twin = PAGE.model_copy(update={"locator": Locator(url="https://EXAMPLE.org/1/#top"), "quote": "known fault, again"})
    ctx = context(ScriptedBrain(list(BESIDE)), web=source("web_search", 0.0, None, twin), tools=[source("docs")])
    state = await finish(ctx)
    assert [entry.node for entry in state.trace].count("join") == 1
    outside = [kept(ctx)[key].locator.url for key in state.evidence if kept(ctx)[key].kind == "document"]
    assert len(outside) == 1
    assert state.report is not None
    assert [source.address for source in state.report.outside] == outside


async def test_outside_results_are_named_and_support_no_claim_alone() -> None:
    from nodes.judgements import Draft, DraftSuspect

    draft = Draft(
        verdict="Likely in the lexer.",
        root_cause="A page says that it is known [E4]. The loop never leaves [E1].",
        suspects=(DraftSuspect(evidence="E1", why="loop"),),
        how_to_confirm="Run it.",
        confidence=0.9,
    )
    page = PAGE.model_copy(update={"quote": "A page says that it is known"})
    ctx = context(ScriptedBrain(list(BESIDE), draft=draft), tools=[source("docs", 0.0, None, page)])
    state = await finish(ctx)
    assert state.report is not None
    number = state.report.outside[0].evidence
    assert kept(ctx)[state.evidence[int(number[1:]) - 1]] == page
    redrafted = draft.model_copy(update={"root_cause": draft.root_cause.replace("E4", number)})
    again = await finish(context(ScriptedBrain(list(BESIDE), draft=redrafted), tools=[source("docs", 0.0, None, page)]))
    assert again.report is not None
    assert again.report.root_cause == "The loop never leaves [E1]."
    assert any("only on sources outside" in line for line in again.report.citation_audit.dropped)


async def test_the_newest_findings_stay_whole_until_their_evidence_is_numbered() -> None:
    pages = [
        PAGE.model_copy(update={"quote": f"fault {n}", "locator": Locator(url=f"https://example.org/{n}")})
        for n in range(12)
    ]
    tools = [source(name, 0.0, None, *pages[4 * n : 4 * n + 4]) for n, name in enumerate(("a", "b", "c"))]
    decisions = [decide("codebase_search", also=("a", "b", "c")), decide("critic"), decide("writer")]
    ctx = context(ScriptedBrain(decisions), tools=tools)
    state = await finish(ctx)
    kinds = [kept(ctx)[key].kind for key in state.evidence]
    assert kinds.count("code") == 2
    assert kinds.count("document") == 9  # three of each
    assert kinds[:2] == ["code", "code"]


def test_a_tool_is_queried_at_most_twice_and_at_most_three_run_in_parallel() -> None:
    state = BugTriageState(iterations=1, tools=("a", "b", "c", "d"), web_configured=True)
    assert companions(state, "codebase_search", ("a", "x", "b", "a", "c", "d")) == ("a", "b", "c")
    queries = state.model_copy(update={"trace": (TraceEntry(node="a"),) * 2})
    assert companions(queries, "web_search", ("a", "codebase_search")) == ("codebase_search",)
    assert companions(state, "critic", ("a",)) == ()


def test_after_a_kill_between_branches_only_unfinished_ones_run_again(tmp_path: Path) -> None:
    log = tmp_path / "asked"
    command = [sys.executable, "-m", "tests.graph.killed_branches", str(tmp_path / "checkpoints.db"), str(log)]
    hanging = Forked([*command, "hang"])
    expected = {"web_search done", "docs asked"}
    wait_for(lambda: log.exists() and expected <= set(log.read_text().splitlines()), 60.0, hanging.poll)
    time.sleep(0.5)
    hanging.send_signal(signal.SIGKILL)
    hanging.wait()
    with Forked([*command, "go on"], stdout=subprocess.PIPE, text=True) as resumed:
        assert resumed.communicate(timeout=patience(60))[0].strip() == "success"
    queries = log.read_text().splitlines()
    assert queries.count("web_search done") == 1
    assert queries.count("docs asked") == 2
    assert queries.count("docs done") == 1


KEYS = st.lists(st.sampled_from("abcdef"), max_size=4, unique=True)
FINDINGS = st.lists(
    st.builds(
        lambda confidence, keys: AgentFinding(agent_name="x", confidence=confidence, evidence=tuple(keys)),
        st.floats(0, 1),
        KEYS,
    ),
    max_size=5,
)


@given(findings=FINDINGS, dice=st.randoms())
def test_joint_confidence_is_a_mean_of_those_with_evidence_in_any_order(
    findings: list[AgentFinding], dice: Any
) -> None:
    joint = joint_confidence(findings)
    counted = [finding.confidence for finding in findings if finding.evidence]
    assert not counted or min(counted) <= joint <= max(counted)
    assert counted or joint == 0
    shuffled = list(findings)
    dice.shuffle(shuffled)
    assert joint_confidence(shuffled) == joint
    assert joint_confidence([*findings, AgentFinding(agent_name="failed")]) == joint


@given(findings=FINDINGS, keys=KEYS)
def test_repeating_a_source_adds_no_weight(findings: list[AgentFinding], keys: list[str]) -> None:
    sure = AgentFinding(agent_name="sure", confidence=1.0, evidence=tuple(keys))
    twice = joint_confidence([*findings, sure, sure])
    once = joint_confidence([*findings, sure])
    shared = {key for finding in findings for key in finding.evidence} & set(keys)
    assert shared or twice == once


def test_only_the_newest_submission_of_a_model_stays_in_the_state() -> None:
    first, second = (Submission(cause=(CauseSentence(text=text, evidence=("k",)),)) for text in ("one", "two"))
    findings: tuple[AgentFinding, ...] = ()
    for submitted in (first, None, second, *[None] * 5):
        one = AgentFinding(agent_name="codebase_search", submitted=submitted)
        findings = shorten_old_findings(findings, (one,))
    assert [one.submitted for one in findings if one.submitted] == [second]
