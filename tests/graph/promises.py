"""The invariants of every run, whatever the supervisor decides and whatever fails (SPEC section 2)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError

from nodes.context.brain import ModelError
from nodes.context.ports import Signal, TimeLimits
from nodes.evidence import Evidence, Locator
from nodes.graph import build_graph
from nodes.guards import MAX_CALLS
from nodes.judgements import SupervisorDecision
from nodes.limits import MAX_QUESTIONS, ROUNDS_LIMIT
from nodes.run import advance, initial_state
from nodes.search.history.types import Commit, History, Owner, SuspectCommit, Suspicion
from nodes.search.types import Reason
from nodes.sources.protocol import SourceError
from nodes.state import Answer, BugTriageState, Finished, Waiting
from nodes.state.checkpoints import serializer
from tests.support.fakes import SHA, FakeCode, FakeEvidence, FakeSignals, FakeWeb, ScriptedBrain, context

logging.getLogger("nodes.graph").setLevel(logging.CRITICAL)


LONG = "a long line " * 25
SUBJECTS = {letter * 40: LONG[:300] for letter in "bcdef"}
PAST = History(
    Suspicion(
        tuple(
            SuspectCommit(Commit(sha, LONG[:80], 1, title), 1.0, "versions", (Reason("lines", LONG, 1.0),) * 9)
            for sha, title in SUBJECTS.items()
        ),
        explanation=LONG,
    ),
    (Owner(LONG[:80], 1.0, (Reason("blame", LONG, 1.0),) * 9),),
)


@dataclass(frozen=True)
class Script:
    """The events of one run."""

    decisions: Sequence[SupervisorDecision] = ()
    audits: Sequence[bool] = ()
    answers: Sequence[str | None] = ()
    failures: Sequence[str | None] = ()
    """The result of each question to the brain in turn: None, ``model`` or ``bug``."""
    redirects: int = 0
    web: bool = False
    tools: Sequence[str] = ()
    sources: Sequence[str] = ()
    """The result of each question to a source in turn: ``found``, ``dead``, ``slow`` or ``bug``."""
    confidence: float = 0.9
    broken_search: bool = False
    max_retries: int = 2


@dataclass
class Ran:
    """The externally visible behaviour of a run."""

    state: BugTriageState | None = None
    questions: int = 0
    asked_with: list[int] = field(default_factory=list)
    error: str = ""


async def run(script: Script) -> Ran:
    """Run the compiled graph with a script."""
    failures = list(script.failures)

    def before(_role: str) -> None:
        failure = failures.pop(0) if failures else None
        if failure == "model":
            raise ModelError("no answer")
        if failure == "bug":
            raise RuntimeError("a bug")

    sources = list(script.sources)

    async def source() -> None:
        how = sources.pop(0) if sources else "found"
        if how == "dead":
            raise SourceError("dead")
        if how == "slow":
            await asyncio.sleep(60)
        if how == "bug":
            raise RuntimeError("a bug")

    pages = [Evidence(kind="web", locator=Locator(url=f"https://example.org/{n}"), quote=LONG * 3) for n in range(5)]

    def search_fails() -> None:
        if script.broken_search:
            raise OSError("unreadable")

    brain = ScriptedBrain(
        decisions=list(script.decisions), audits=list(script.audits), before=before, confidence=script.confidence
    )
    ctx = context(
        brain,
        code=FakeCode(confidence=script.confidence, fail=search_fails, past=PAST, subjects=SUBJECTS),
        evidence=FakeEvidence(),
        web=FakeWeb(tuple(pages), before=source) if script.web else None,
        tools=[FakeWeb(tuple(pages[1:]), name=name, before=source) for name in script.tools],
        patience=TimeLimits(outside=0.01, code=60.0),
        signals=FakeSignals([Signal(n + 1, f"look at {n}") for n in range(script.redirects)]),
    )
    graph = build_graph(InMemorySaver(serde=serializer()))
    start = initial_state("scan hangs", "open quote", repository="o/r", sha=SHA, outside=ctx.outside)
    start = start.model_copy(update={"max_retries": script.max_retries})
    return await _drive(graph, ctx, start, list(script.answers))


async def _drive(graph: Any, ctx: Any, start: BugTriageState, answers: list[str | None]) -> Ran:
    ran = Ran()
    try:
        outcome = await advance(graph, ctx, "run", start)
        while isinstance(outcome, Waiting):
            ran.questions += 1
            snapshot = (await graph.aget_state({"configurable": {"thread_id": "run"}})).values
            ran.asked_with.append(snapshot["max_iterations"] - snapshot["iterations"] + 1)
            if ran.questions > MAX_QUESTIONS:
                return ran
            answer = Answer(text=answers.pop(0) if answers else None, answered_by="reporter")
            question_id = outcome.exchange.question_id
            outcome = await advance(graph, ctx, "run", start, answer=answer, question_id=question_id)
        assert isinstance(outcome, Finished)
        ran.state = outcome.state
    except GraphRecursionError:
        ran.error = "the run does not end"
    return ran


def broken_promises(ran: Ran, script: Script) -> list[str]:
    """Return the invariants that a run violated."""
    if ran.questions > MAX_QUESTIONS:
        return ["more than two questions"]
    if ran.state is None:
        return [ran.error or "no final state"]
    state = ran.state
    steps = [entry for entry in state.trace if entry.node == "supervisor"]
    route = [entry.decision for entry in steps if entry.decision != "failed"]
    broken = {
        "no report": state.report is None,
        "the investigator is not first": bool(route) and route[0] != "investigator",
        "something ran after the report": "end" in route[:-1] or _ran_after_report(state),
        "too many rounds": len(steps) > ROUNDS_LIMIT + 2 or len(steps) > state.max_iterations + 2,
        "a question too late to matter": any(left < 3 for left in ran.asked_with),
        "web search without a provider": not script.web and "web_search" in route,
        "a tool that is not configured": not {node for node in _nodes(state) if node.startswith("tool_")}
        <= {*script.tools},
        "a tool asked more than twice": any(_nodes(state).count(name) > MAX_CALLS for name in script.tools),
        "more beside each other than may be": _nodes(state).count("join") > len(route),
        "a third search with nothing new": state.marks.searches > 2,
        "the state outgrew its bound": len(state.model_dump_json()) > 32_000,
    }
    broken["a model's hypothesis that no critic was asked to refute"] = _is_written_unread(state)
    return [promise for promise, is_broken in broken.items() if is_broken] + _critic_faults(state)


def _is_written_unread(state: BugTriageState) -> bool:
    """Return whether a writer ran after a model read the code, with rounds left and no critic in between."""
    unread, limited = False, False
    for entry in state.trace:
        if entry.node == "supervisor":
            limited = (
                bool(entry.error) or entry.guard == "iteration_limit" or entry.reason == "Only one step is possible."
            )
        elif entry.node == "codebase_search" and entry.judged_by != "rules":
            unread = True
        elif entry.node == "critic":
            unread = False
        elif entry.node == "writer" and unread and not limited:
            return True
    return False


def _nodes(state: BugTriageState) -> list[str]:
    return [entry.node for entry in state.trace]


def _ran_after_report(state: BugTriageState) -> bool:
    nodes = [entry.node for entry in state.trace]
    done = next((i for i, e in enumerate(state.trace) if e.node == "writer" and e.decision != "retry"), len(nodes))
    return any(node != "supervisor" for node in nodes[done + 1 :])


def _critic_faults(state: BugTriageState) -> list[str]:
    """Return faults: a writer on a current REJECTED while something new may come, or a critic without news."""
    faults = []
    verdict: str | None = None
    new = True
    sources = ["codebase_search", *state.tools, *(["web_search"] if state.web_configured else [])]
    for number, entry in enumerate(state.trace):
        before = [one.node for one in state.trace[:number]]
        exhausted = all(before.count(name) >= MAX_CALLS for name in sources)
        if entry.node == "critic":
            if not new:
                faults.append("a critic on unchanged evidence")
            verdict, new = entry.decision if entry.decision != "failed" else verdict, False
        elif (
            entry.node in ("codebase_search", "web_search", "human_input", "investigator")
            or entry.node.startswith("tool_")
            or entry.decision == "retry"
        ):
            new = True
        below_limit = entry.node == "supervisor" and entry.guard != "iteration_limit" and not entry.error
        settled = entry.reason == "Only one step is possible."
        if below_limit and not settled and not exhausted and entry.decision == "writer" and verdict == "REJECTED":
            faults.append("a writer on a live REJECTED")
    return faults
