"""Wire the nodes together. This module only decides what happens when a node fails."""

import asyncio
import functools
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from nodes import guards
from nodes.agents.codebase_search import codebase_search
from nodes.agents.critic import critic
from nodes.agents.external_sources import join, no_answer, tool, web_search
from nodes.agents.human_input import human_input_node
from nodes.agents.investigator import investigator
from nodes.agents.writer import writer
from nodes.agents.writing.compose import without_code_references
from nodes.context.ports import Context, UnavailableError
from nodes.limits import ROUNDS_LIMIT
from nodes.report import TriageReport
from nodes.search.sentences import say
from nodes.state import AgentFinding, BugTriageState, Timing, TraceEntry, Update
from nodes.supervisor import join_evidence, mark_step, supervisor_node

logger = logging.getLogger(__name__)

RECURSION_LIMIT = 5 * ROUNDS_LIMIT + 10
"""A round has at most five steps (supervisor, nodes, join, handlers). The run's own limit must apply first."""

Graph = CompiledStateGraph[BugTriageState, Context, BugTriageState, BugTriageState]
Node = Callable[[BugTriageState, Runtime[Context]], Awaitable[Update]]

ALONE = ("investigator", "critic", "human_input", "writer")
Destination = Literal["investigator", "codebase_search", "web_search", "critic", "human_input", "writer", "__end__"]
SPECIALISTS = ("codebase_search", "web_search", "tool")
"""Nodes that may run in parallel. ``tool`` represents every tool that a branch may query."""


def build_graph(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """Build the graph: START → supervisor → one node, or several specialists at once → supervisor … → END."""
    return _compiled().copy(update={"checkpointer": checkpointer})


@functools.cache
def _compiled() -> Graph:
    """Compile once per process: langgraph disassembles every node for it, which takes longer than a run by rules."""
    graph = StateGraph(BugTriageState, context_schema=Context)
    graph.add_node("supervisor", supervisor_node, error_handler=_supervisor_failed)
    nodes: dict[str, Callable[..., Awaitable[Update]]] = {
        "investigator": investigator,
        "codebase_search": limited("codebase_search", codebase_search),
        "web_search": limited("web_search", web_search),
        "tool": limited("tool", tool),
        "critic": critic,
        "human_input": human_input_node,
    }
    # The error handlers turn a failure into a finding, so nodes only catch exceptions that they can name.
    for name, node in nodes.items():
        graph.add_node(name, node, error_handler=_specialist_failed)
    # The writer has a separate handler, because a run without its finding would have no report.
    graph.add_node("writer", writer, error_handler=_writer_failed)
    # A deferred node runs once, after all parallel branches.
    graph.add_node("join", join, defer=True)
    graph.add_edge(START, "supervisor")
    graph.add_conditional_edges("supervisor", _next, [*ALONE, *SPECIALISTS, END])
    for name in SPECIALISTS:
        # Parallel branches meet in the join.
        graph.add_conditional_edges(name, lambda state: "join" if state.also else "supervisor", ["join", "supervisor"])
    for name in (*ALONE, "join"):
        graph.add_edge(name, "supervisor")
    return graph.compile().with_config({"recursion_limit": RECURSION_LIMIT})


def _next(state: BugTriageState) -> list[str | Send]:
    """Return the nodes that the supervisor stored in the state, without a decision of its own."""
    if state.next_node in (None, "end"):
        return [END]
    if not state.also:
        return [str(state.next_node)]
    # Findings join in this order, and the newest are not shortened, so the code search comes last.
    names = sorted((str(state.next_node), *state.also), key=lambda name: name == "codebase_search")
    return [Send(name if name in SPECIALISTS else "tool", state.model_copy(update={"branch": name})) for name in names]


def limited(name: str, node: Node) -> Node:
    """Give a specialist a time limit, except a code search alone, and record when it ran next to others."""

    async def run(state: BugTriageState, runtime: Runtime[Context]) -> Update:
        if name == "codebase_search" and not state.also:
            return await node(state, runtime)
        patience = runtime.context.outside.patience
        # The general limit is too short for the first search in a large repository and for a model's lookups.
        seconds = patience.code if name == "codebase_search" else patience.outside
        started, began = time.time(), time.perf_counter()
        try:
            async with asyncio.timeout(seconds):
                update = await node(state, runtime)
        except TimeoutError:
            update = no_answer(state.branch or name, f"no answer within {seconds:g} s", state, began)
        if not state.also:
            return update
        timing = Timing(started=round(started, 3), ended=round(time.time(), 3))
        return {**update, "trace": tuple(entry.model_copy(update={"timing": timing}) for entry in update["trace"])}

    return run


def _specialist_failed(state: BugTriageState, error: NodeError) -> Command[Literal["supervisor", "join"]]:
    """Continue the run without the finding of a failed specialist."""
    _log_failure(error)
    name = state.branch or error.node
    entry = _failure(state, error).model_copy(update={"node": name})
    finding = AgentFinding(agent_name=name, summary=f"{name} failed; the run continued without it.")
    update: dict[str, Any] = {"findings": (finding,), "trace": (entry,)}
    # Otherwise the run would wait for an answer that no node reads.
    if error.node == "human_input":
        update |= {"pending_exchange": None, "awaiting_human": False}
        if state.pending_exchange is not None:
            update["human_exchanges"] = (state.pending_exchange.model_copy(update={"withdrawn": True}),)
    return Command(update=update, goto="join" if state.branch else "supervisor")


def _writer_failed(state: BugTriageState, error: NodeError) -> Command[Literal["supervisor"]]:
    """Replace the report with a bare one, so every run ends with a report even if the writer fails."""
    _log_failure(error)
    report = _bare_report(state, type(error.error).__name__)
    update = {"report": report, "requires_human_review": True, "trace": (_failure(state, error),)}
    return Command(update=update, goto="supervisor")


def _bare_report(state: BugTriageState, reason: str) -> TriageReport:
    """Return a minimal report after the writer failed: the best draft, or the state of the search."""
    note = f"Writing the report failed: {reason}"[:300]
    comment = say("The report could not be written. A maintainer should look at this issue.")
    kept = state.best_draft or TriageReport(
        verdict=comment,
        kind=state.reading.kind if state.reading else "bug",
        repository=state.repository,
        commit=state.sha,
    )
    update: dict[str, object] = {"root_cause": None, "not_found": "claims_failed_checking"}
    update |= {"status": "needs_clarification", "requires_human_review": True}
    update |= {"review_message": note, "notes": (*kept.notes, note)}
    failed = kept.model_copy(update={**update, "github_comment": comment})
    is_security = "security" in (kept.kind, state.reading and state.reading.kind)
    return without_code_references(failed) if is_security else failed


async def _supervisor_failed(
    state: BugTriageState, error: NodeError, runtime: Runtime[Context]
) -> Command[Destination]:
    """Let the guards alone route to a report when the supervisor fails."""
    _log_failure(error)
    # The failed node would have recorded this; without it, the next step would treat the same evidence as new.
    evidence = await join_evidence(state, runtime.context)
    now = state.model_copy(update={"evidence": evidence})
    route = guards.route(now.model_copy(update={"next_node": "writer"}))
    update = {
        "evidence": evidence,
        "next_node": route.node,
        "also": (),
        "iterations": state.iterations + 1,
        "marks": mark_step(now, (route.node,)),
        "trace": (_failure(state, error),),
    }
    return Command(update=update, goto="__end__" if route.node == "end" else route.node)


def _log_failure(error: NodeError) -> None:
    """Log a failed node: a known condition in one line, a fault of the program with its traceback."""
    is_known = isinstance(error.error, UnavailableError)
    reason = f": {error.error}" if is_known else ""
    logger.error("%s failed%s", error.node, reason, exc_info=None if is_known else error.error)


def _failure(state: BugTriageState, error: NodeError) -> TraceEntry:
    message = f"{type(error.error).__name__}: {error.error}"
    return TraceEntry(
        node=error.node, decision="failed", confidence=0.0, error=message[:300], iteration=state.iterations
    )
