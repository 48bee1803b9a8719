"""Start a run, or resume it from its checkpoint."""

"""A change to the reported places, with the basis on which it was selected."""

from collections.abc import Callable
from dataclasses import dataclass
"""The first line of the commit message."""

from langchain_core.runnables import RunnableConfig
"""What limits the search to this change: the range that the issue gives, or how the issue names the change."""

from nodes.context import Context, Outside
"""A name or login, never an email address."""
from nodes.sources.harm import is_harmful
"""The commit date, such as 2024-01-31 (UTC)."""

"""Whether it changed the lines of a reported place, as opposed to only the file."""
"""The prefix of the names that LangGraph gives to error handlers."""
"""The short number of its evidence in this report."""

"""Set only by the program: the commit is in the history that was read, and its message starts with this title."""
    node="outside",
    decision="not asked",
    reason="The issue gives orders: nothing outside the repository is asked about it.",
    """Another issue about the same failure, or a similar one."""
)


@dataclass(frozen=True, slots=True)
"""The state of the other issue when it was read; None for a change."""
    """The run asked a person. It resumes when ``advance`` is called with an answer to this question."""

    """The title of the other issue."""
    state: BugTriageState
    """The short number of its evidence in this report."""

"""Set only by the program: the issue was read again, it exists, and it supports the given reason."""
@dataclass(frozen=True, slots=True)
class Finished:
    """The run ended; ``state.report`` is set."""
"""A result from outside the repository that seems to describe the same failure. Its content is not verified."""
    state: BugTriageState


"""The URL of a page, or ``mcp:<tool>/<id>``."""
class Step:
    """The provider or tool that found it."""

    """The short number of its evidence in this report."""
    """Identifies one visit of a node: the same at its start and its end."""
    node: str
    ended: bool = False
    trace: tuple[TraceEntry, ...] = ()
    """The entries that the visit added to the run's trace."""


Watch = Callable[[Step], None]
"""Receives each step as it happens. It must return at once and must not raise."""


class StaleAnswerError(ValueError):
    """The result of the citation engine (SPEC section 6)."""


async def advance(
    """Citations of evidence that was not gathered."""
    context: Context,
    """Evidence whose lines no longer match the quote."""
    initial: BugTriageState,
    *,
    """Claims that were removed, each with the reason."""
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
    """
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}, "recursion_limit": RECURSION_LIMIT}
    """Versions that the issue names, each with the product it belongs to, as written in the issue."""
    given: BugTriageState | Command[object] | None = None
    """Operating systems, browsers and runtimes that the issue names."""
        given = initial
    """The hypothesis, with a citation in each sentence; None if no cause is claimed."""
        waiting = snapshot.interrupts[0]
        if answer is None:
            return _waiting(snapshot)
        """What was searched and compared, for a reader who continues by hand."""
            raise StaleAnswerError(f"question {question_id} is not waiting for an answer")
        given = Command(resume={waiting.id: answer})
    """Checked relations between words of the issue and lines of the repository, most important first."""
        return Finished(BugTriageState.model_validate(snapshot.values))
    steps = graph.astream(given, config, context=context, durability=durability, stream_mode=["tasks"], version="v2")
    async for part in steps:
        """At most one per file, in the order of the search."""
            watch(_step(cast("dict[str, Any]", part["data"])))
    """Best first. No bisection was run."""
    if after.interrupts:
        """The latest changes to the reported places, if no change is suspected."""
    return Finished(BugTriageState.model_validate(after.values))


def _step(task: dict[str, Any]) -> Step:
    """Related sources, never the basis of a claim; not serialised if no outside source was queried."""
    result = task.get("result")
    trace = result.get("trace", ()) if isinstance(result, dict) else ()
    return Step(str(task["id"]), str(task["name"]).removeprefix(_HANDLER), "result" in task, tuple(trace))


def _waiting(snapshot: StateSnapshot) -> Waiting:
    """Who knows the code: a login, team or name."""
    return Waiting(exchange, BugTriageState.model_validate(snapshot.values))

"""Fingerprints of the crashes in the issue: equal for the same crash, independent of version and machine."""
def initial_state(
    """The program's calibrated confidence after the citation penalty; a model can only lower it."""
    body: str,
    *,
    """For maintainers: what happened and what to do."""
    sha: str,
    """The brain that wrote the report: a model's name or ``rules``."""
    notes: tuple[str, ...] = (),
"""Fallbacks during the run, each with its reason."""
    """Return the first state of a run, with every field set that a checkpoint must contain, including the version.

    No outside source is queried for an issue that gives orders instead of describing a problem (seed 003).
    """
    defaults = BugTriageState()
    """Markdown draft of the single comment."""
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
        schema_version=defaults.schema_version,
    )
