"""Wire the nodes together; nothing is decided here but what happens when a node breaks."""

from __future__ import annotations

import asyncio
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
from nodes.codebase_search import codebase_search
from nodes.context import Context
from nodes.critic import critic
from nodes.human_input import human_input_node
from nodes.investigator import investigator
from nodes.join import join
from nodes.outside import no_answer
from nodes.state import ROUNDS_LIMIT, AgentFinding, BugTriageState, Timing, TraceEntry, Update
from nodes.supervisor import supervisor_node
from nodes.tool import tool
from nodes.web_search import web_search
from nodes.writer import bare_report, writer

logger = logging.getLogger(__name__)

RECURSION_LIMIT = 5 * ROUNDS_LIMIT + 10
"""A round is at most five steps (supervisor, nodes, join, handlers); a run must end by its own limit first."""

Graph = CompiledStateGraph[BugTriageState, Context, BugTriageState, BugTriageState]
Node = Callable[[BugTriageState, Runtime[Context]], Awaitable[Update]]
Handler = Callable[[BugTriageState, NodeError], Command[Any]]

ALONE = ("investigator", "critic", "human_input", "writer")
Destination = Literal["investigator", "codebase_search", "web_search", "critic", "human_input", "writer", "__end__"]
SPECIALISTS = ("codebase_search", "web_search", "tool")
"""What may run beside each other; ``tool`` stands for whichever tool a branch is sent to ask."""


def build_graph(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """START → supervisor → one node, or several specialists at once → supervisor … → END."""
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
    for name, node in nodes.items():
        graph.add_node(name, node, error_handler=_specialist_failed)
    graph.add_node("writer", writer, error_handler=_writer_failed)
    graph.add_node("join", join, defer=True)
    graph.add_edge(START, "supervisor")
    graph.add_conditional_edges("supervisor", _next, [*ALONE, *SPECIALISTS, END])
    for name in SPECIALISTS:
        graph.add_conditional_edges(name, _after, ["join", "supervisor"])
    for name in (*ALONE, "join"):
        graph.add_edge(name, "supervisor")
    return graph.compile(checkpointer=checkpointer).with_config({"recursion_limit": RECURSION_LIMIT})


def _next(state: BugTriageState) -> list[str | Send]:
    """What the supervisor stored, and nothing else."""
    if state.next_node in (None, "end"):
        return [END]
    if not state.also:
        return [str(state.next_node)]
    # Findings join in this order, and the newest stay whole: the code's come last.
    names = sorted((str(state.next_node), *state.also), key=lambda name: name == "codebase_search")
    return [Send(_node_of(name), state.model_copy(update={"branch": name})) for name in names]


def _node_of(name: str) -> str:
    return name if name in SPECIALISTS else "tool"


def _after(state: BugTriageState) -> Literal["join", "supervisor"]:
    """What ran beside others is joined first."""
    return "join" if state.also else "supervisor"


def limited(name: str, node: Node) -> Node:
    """A specialist that has only so much time; what it leaves behind beside others says when it ran.

    The code search alone has no limit: it is what everything falls back to.
    """

    async def run(state: BugTriageState, runtime: Runtime[Context]) -> Update:
        if name == "codebase_search" and not state.also:
            return await node(state, runtime)
        patience = runtime.context.outside.patience
        seconds = patience.code if name == "codebase_search" else patience.outside
        started = time.time()
        try:
            async with asyncio.timeout(seconds):
                update = await node(state, runtime)
        except TimeoutError:
            spent = round((time.time() - started) * 1000)
            update = no_answer(state.branch or name, f"no answer within {seconds:g} s", state, spent)
        return _timed(update, started) if state.also else update

    return run


def _timed(update: Update, started: float) -> Update:
    timing = Timing(started=round(started, 3), ended=round(time.time(), 3))
    return {**update, "trace": tuple(entry.model_copy(update={"timing": timing}) for entry in update["trace"])}


def _specialist_failed(state: BugTriageState, error: NodeError) -> Command[Literal["supervisor", "join"]]:
    """A broken specialist costs its finding, never the run."""
    logger.error("%s failed", error.node, exc_info=error.error)
    name = state.branch or error.node
    entry = _failure(state, error).model_copy(update={"node": name})
    finding = AgentFinding(agent_name=name, summary=f"{name} failed; the run went on without it.")
    update: dict[str, Any] = {"findings": (finding,), "trace": (entry,)}
    if error.node == "human_input":
        update |= {"pending_exchange": None, "awaiting_human": False}
        if state.pending_exchange is not None:
            update["human_exchanges"] = (state.pending_exchange.model_copy(update={"withdrawn": True}),)
    return Command(update=update, goto="join" if state.branch else "supervisor")


def _writer_failed(state: BugTriageState, error: NodeError) -> Command[Literal["supervisor"]]:
    """Every run ends with something to read, even when writing it broke."""
    logger.error("writer failed", exc_info=error.error)
    report = bare_report(state, type(error.error).__name__)
    update = {"report": report, "requires_human_review": True, "trace": (_failure(state, error),)}
    return Command(update=update, goto="supervisor")


def _supervisor_failed(state: BugTriageState, error: NodeError) -> Command[Destination]:
    """Without a supervisor the guards alone lead to a report."""
    logger.error("supervisor failed", exc_info=error.error)
    route = guards.route(state.model_copy(update={"next_node": "writer"}))
    update = {
        "next_node": route.node,
        "also": (),
        "iterations": state.iterations + 1,
        "trace": (_failure(state, error),),
    }
    return Command(update=update, goto="__end__" if route.node == "end" else route.node)


def _failure(state: BugTriageState, error: NodeError) -> TraceEntry:
    said = f"{type(error.error).__name__}: {error.error}"
    return TraceEntry(node=error.node, decision="failed", confidence=0.0, error=said[:300], iteration=state.iterations)
