"""Start a run, or resume it from its checkpoint."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, Durability, StateSnapshot

from nodes.context import Context, ExternalSources
from nodes.graph import RECURSION_LIMIT, Graph
from nodes.sources import is_harmful
from nodes.state import Answer, BugTriageState, Finished, HumanExchange, TraceEntry, Waiting

_HANDLER = "__error_handler__"
"""The prefix of the names that LangGraph gives to error handlers."""


_CLOSED = TraceEntry(
    node="outside",
    decision="not asked",
    reason="The issue contains instructions instead of a description: outside sources are not queried.",
    guard="harmful_request",
)


@dataclass(frozen=True, slots=True)
class Step:
    """The start or the end of a node."""

    id: str
    """Identifies one visit of a node: the same at its start and its end."""
    node: str
    ended: bool = False
    trace: tuple[TraceEntry, ...] = ()
    """The entries that the visit added to the run's trace."""


Watch = Callable[[Step], None]
"""Receives each step as it happens. It must return at once and must not raise."""


Ask = Callable[[Waiting], Awaitable[Answer | None]]
"""Returns the answer to the question of a waiting run; None while there is none."""


class StaleAnswerError(ValueError):
    """The answer belongs to a question that is no longer pending."""


class ThreadDeletedError(RuntimeError):
    """Another process ended the run and deleted its thread while this one still ran it."""


async def advance(
    graph: Graph,
    context: Context,
    thread_id: str,
    initial: BugTriageState,
    *,
    answer: Answer | None = None,
    question_id: str | None = None,
    watch: Watch | None = None,
    snapshot: StateSnapshot | None = None,
    durability: Durability = "sync",
) -> Waiting | Finished:
    """Run a thread from its checkpoint until it waits or ends.

    Args:
        graph: compiled with a checkpointer.
        context: what the run may call.
        thread_id: one per run; a finished thread stays finished.
        initial: the first state of a new thread; ignored for an existing thread.
        answer: the answer to the pending question; None only returns the current status.
        question_id: the question that the answer belongs to.
        watch: receives each node's start and end.
        snapshot: the thread's current state, if the caller has just read it.
        durability: whether to store a checkpoint after each step, or only when the run waits or ends.

    Raises:
        StaleAnswerError: no question with that id is pending.
        ThreadDeletedError: the thread was deleted meanwhile.
    """
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}, "recursion_limit": RECURSION_LIMIT}
    snapshot = snapshot or await graph.aget_state(config)
    waits = bool(snapshot.interrupts)
    if _exists(snapshot) and (answer is None if waits else not snapshot.tasks):
        return _result(snapshot)
    # Without input, LangGraph resumes a thread that was cut off from its checkpoint.
    graph_input: BugTriageState | Command[object] | None = None if _exists(snapshot) else initial
    if waits:
        waiting = snapshot.interrupts[0]
        if question_id != waiting.value.question_id:
            raise StaleAnswerError(f"question {question_id} is not waiting for an answer")
        graph_input = Command(resume={waiting.id: answer})
    steps = graph.astream(
        graph_input, config, context=context, durability=durability, stream_mode=["tasks"], version="v2"
    )
    async for part in steps:
        if watch is not None:
            watch(_step(cast("dict[str, Any]", part["data"])))
    # The stream reports steps only; an interrupt is visible in the stored state.
    after = await graph.aget_state(config)
    if not _exists(after):
        raise ThreadDeletedError(f"the thread {thread_id} was deleted while it ran")
    return _result(after)


def _exists(snapshot: StateSnapshot) -> bool:
    """Return whether the thread exists: only then does LangGraph's snapshot have a creation time."""
    return snapshot.created_at is not None


def _result(snapshot: StateSnapshot) -> Waiting | Finished:
    """Return what a thread without a next step waits for, or its last state."""
    state = BugTriageState.model_validate(snapshot.values)
    if not snapshot.interrupts:
        return Finished(state)
    return Waiting(HumanExchange.model_validate(snapshot.interrupts[0].value), state)


async def advance_answered(
    graph: Graph,
    context: Context,
    thread_id: str,
    initial: BugTriageState,
    ask: Ask,
    *,
    watch: Watch | None = None,
    snapshot: StateSnapshot | None = None,
    durability: Durability = "sync",
) -> Waiting | Finished:
    """Advance a run and put each of its questions to ``ask``, until one has no answer or the run ends.

    Args:
        graph: compiled with a checkpointer.
        context: what the run may call.
        thread_id: one per run.
        initial: the first state of a new thread.
        ask: returns the answer to a question; None while there is none.
        watch: receives each node's start and end.
        snapshot: the thread's current state, if the caller has just read it.
        durability: whether to store a checkpoint after each step, or only when the run waits or ends.
    """
    outcome = await advance(graph, context, thread_id, initial, watch=watch, snapshot=snapshot, durability=durability)
    while isinstance(outcome, Waiting):
        answer = await ask(outcome)
        if answer is None:
            return outcome
        question = outcome.exchange.question_id
        outcome = await advance(
            graph, context, thread_id, initial, answer=answer, question_id=question, watch=watch, durability=durability
        )
    return outcome


def _step(task: dict[str, Any]) -> Step:
    """Convert a LangGraph task event. LangGraph sends one when a task starts, and one with the result when it ends."""
    result = task.get("result")
    trace = result.get("trace", ()) if isinstance(result, dict) else ()
    return Step(str(task["id"]), str(task["name"]).removeprefix(_HANDLER), "result" in task, tuple(trace))


def initial_state(
    title: str,
    body: str,
    *,
    repository: str,
    sha: str,
    outside: ExternalSources | None = None,
    notes: tuple[str, ...] = (),
) -> BugTriageState:
    """Return the first state of a run, with every field set that a checkpoint must contain, including the version.

    No outside source is queried for an issue that gives orders instead of describing a problem.
    """
    outside = outside or ExternalSources()
    configured = outside.web is not None or bool(outside.tools)
    closed = configured and is_harmful(f"{title}\n{body}")
    return BugTriageState(
        issue_title=title[:300],
        issue_body=body[:4_000],
        repository=repository,
        sha=sha,
        web_configured=outside.web is not None and not closed,
        tools=() if closed else tuple(outside.tools),
        trace=(_CLOSED,) if closed else (),
        notes=notes,
        schema_version=BugTriageState().schema_version,
    )
