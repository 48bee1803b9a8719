"""Wire the nodes together; nothing is decided here but what happens when a node breaks."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from nodes import guards
from nodes.codebase_search import codebase_search
from nodes.context import Context
from nodes.critic import critic
from nodes.human_input import human_input_node
from nodes.investigator import investigator
from nodes.state import ROUNDS_LIMIT, AgentFinding, BugTriageState, TraceEntry, Update
from nodes.supervisor import supervisor_node
from nodes.web_search import web_search
from nodes.writer import bare_report, writer

logger = logging.getLogger(__name__)

RECURSION_LIMIT = 4 * ROUNDS_LIMIT + 10
"""A round is at most four steps (supervisor, node, and a handler for each); a run must end by its own limit first."""

Graph = CompiledStateGraph[BugTriageState, Context, BugTriageState, BugTriageState]
Handler = Callable[[BugTriageState, NodeError], Command[Any]]

SPECIALISTS = ("investigator", "codebase_search", "web_search", "critic", "human_input", "writer")


def build_graph(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """START → supervisor → one node, or several specialists at once → supervisor … → END."""
    graph = StateGraph(BugTriageState, context_schema=Context)
    graph.add_node("supervisor", supervisor_node, error_handler=_supervisor_failed)
    nodes: dict[str, Callable[..., Awaitable[Update]]] = {
        "investigator": investigator,
        "codebase_search": codebase_search,
        "web_search": web_search,
        "critic": critic,
        "human_input": human_input_node,
    }
    for name, node in nodes.items():
        graph.add_node(name, node, error_handler=_specialist_failed)
    graph.add_node("writer", writer, error_handler=_writer_failed)
    graph.add_edge(START, "supervisor")
    graph.add_conditional_edges("supervisor", _next, [*SPECIALISTS, END])
    for name in SPECIALISTS:
        graph.add_edge(name, "supervisor")
    return graph.compile(checkpointer=checkpointer).with_config({"recursion_limit": RECURSION_LIMIT})


def _next(state: BugTriageState) -> list[str]:
    """What the supervisor stored, and nothing else."""
    if state.next_node in (None, "end"):
        return [END]
    return [str(state.next_node), *state.also]


def _specialist_failed(state: BugTriageState, error: NodeError) -> Command[Literal["supervisor"]]:
    """A broken specialist costs its finding, never the run."""
    logger.error("%s failed", error.node, exc_info=error.error)
    finding = AgentFinding(agent_name=error.node, summary=f"{error.node} failed; the run went on without it.")
    update: dict[str, Any] = {"findings": (finding,), "trace": (_failure(state, error),)}
    if error.node == "human_input":
        update |= {"pending_exchange": None, "awaiting_human": False}
        if state.pending_exchange is not None:
            update["human_exchanges"] = (state.pending_exchange.model_copy(update={"withdrawn": True}),)
    return Command(update=update, goto="supervisor")


def _writer_failed(state: BugTriageState, error: NodeError) -> Command[Literal["supervisor"]]:
    """Every run ends with something to read, even when writing it broke."""
    logger.error("writer failed", exc_info=error.error)
    report = bare_report(state, type(error.error).__name__)
    update = {"report": report, "requires_human_review": True, "trace": (_failure(state, error),)}
    return Command(update=update, goto="supervisor")


def _supervisor_failed(state: BugTriageState, error: NodeError) -> Command[Any]:
    """Without a supervisor the guards alone lead to a report."""
    logger.error("supervisor failed", exc_info=error.error)
    route = guards.route(state.model_copy(update={"next_node": "writer"}))
    update = {
        "next_node": route.node,
        "also": (),
        "iterations": state.iterations + 1,
        "trace": (_failure(state, error),),
    }
    return Command(update=update, goto=END if route.node == "end" else route.node)


def _failure(state: BugTriageState, error: NodeError) -> TraceEntry:
    said = f"{type(error.error).__name__}: {error.error}"
    return TraceEntry(node=error.node, decision="failed", confidence=0.0, error=said[:300], iteration=state.iterations)
