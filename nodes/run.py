"""Start a run, or resume it from its checkpoint."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, Durability, StateSnapshot

from nodes.context.ports import Context, ExternalSources
from nodes.graph import RECURSION_LIMIT, Graph
from nodes.sources.protocol import is_harmful
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
    ask: Ask | None = None,
    *,
    answer: Answer | None = None,
    question_id: str | None = None,
    watch: Watch | None = None,
    snapshot: StateSnapshot | None = None,
) -> Waiting | Finished:
    """Run a thread from its checkpoint until it waits or ends; a finished thread stays finished.

    The first state is ignored for an existing thread. ``ask`` returns the answer to each question of the run, which
    waits while there is none; ``answer`` is that to the pending question, and without it only the status is returned.
    The snapshot is the thread's current state, if the caller has just read it.

    Raises:
        StaleAnswerError: no question with that id is pending.
        ThreadDeletedError: the thread was deleted meanwhile.
    """
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}, "recursion_limit": RECURSION_LIMIT}
    snapshot = snapshot or await graph.aget_state(config)
    is_at_rest = answer is None if snapshot.interrupts else not snapshot.tasks
    if not (_exists(snapshot) and is_at_rest):
        begins = _graph_input(snapshot, initial, answer, question_id)
        # Checkpoints are written at each step if a step may cost a call; else at the end: repeating a run by rules is
        # cheaper than storing its steps.
        durability: Durability = "exit" if context.brain is context.rules and not context.outside.infos else "sync"
        steps = graph.astream(
            begins, config, context=context, durability=durability, stream_mode=["tasks"], version="v2"
        )
        async for part in steps:
            if watch is not None:
                watch(_step(cast("dict[str, Any]", part["data"])))
        # The stream reports steps only; an interrupt is visible in the stored state.
        snapshot = await graph.aget_state(config)
        if not _exists(snapshot):
            raise ThreadDeletedError(f"the thread {thread_id} was deleted while it ran")
    outcome = _result(snapshot)
    if ask is None or isinstance(outcome, Finished) or (given := await ask(outcome)) is None:
        return outcome
    question = outcome.exchange.question_id
    return await advance(graph, context, thread_id, initial, ask, answer=given, question_id=question, watch=watch)


def _step(task: dict[str, Any]) -> Step:
    """Return the step of a task, which LangGraph sends when it starts, and again with its result when it ends."""
    result = task.get("result")
    trace = result.get("trace", ()) if isinstance(result, dict) else ()
    return Step(str(task["id"]), str(task["name"]).removeprefix(_HANDLER), "result" in task, tuple(trace))


def _graph_input(
    snapshot: StateSnapshot, initial: BugTriageState, answer: Answer | None, question_id: str | None
) -> BugTriageState | Command[object] | None:
    """Return the input that starts a new thread, answers a waiting one, or resumes an interrupted one."""
    if not _exists(snapshot):
        return initial
    if not snapshot.interrupts:
        # Without input, LangGraph resumes a thread that was cut off from its checkpoint.
        return None
    waiting = snapshot.interrupts[0]
    if question_id != waiting.value.question_id:
        raise StaleAnswerError(f"question {question_id} is not waiting for an answer")
    return Command(resume={waiting.id: answer})


def _exists(snapshot: StateSnapshot) -> bool:
    """Return whether the thread exists: only then does LangGraph's snapshot have a creation time."""
    return snapshot.created_at is not None


def _result(snapshot: StateSnapshot) -> Waiting | Finished:
    """Return what a thread without a next step waits for, or its last state."""
    state = BugTriageState.model_validate(snapshot.values)
    if not snapshot.interrupts:
        return Finished(state)
    return Waiting(HumanExchange.model_validate(snapshot.interrupts[0].value), state)


def initial_state(
    title: str,
    body: str,
    *,
    repository: str,
    sha: str,
    outside: ExternalSources | None = None,
    notes: tuple[str, ...] = (),
) -> BugTriageState:
    """Return a run's first state, with all that a checkpoint must have; an issue that gives orders asks no source."""
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
