"""Rules in a fixed order that override the supervisor's decisions (SPEC section 2)."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple, get_args

from nodes.judgements import NodeName, Specialist
from nodes.limits import MAX_PARALLEL, MAX_QUESTIONS
from nodes.state import BugTriageState, Progress
from nodes.state.reducers import JOIN

ROUNDS_FOR_A_QUESTION = 3
"""Rounds that must remain when a question is asked, so that its answer can still change the report."""
MAX_SEARCHES = 2
MAX_CALLS = 2
"""Maximum number of queries of one source in parallel with others, because its question is the same each time."""
NOT_READABLE = "not readable"
"""The trace decision for a search that could not read the code."""
NOTHING_JOINED = "nothing joined"
"""The trace decision for a round in which no specialist answered."""


class Route(NamedTuple):
    """The next node, and the last guard that changed it."""

    node: NodeName
    guard: str | None = None


Guard = Callable[[BugTriageState, NodeName], NodeName | None]
"""One rule: the node it requires for a decision, or None if it does not apply."""


def route(state: BugTriageState) -> Route:
    """Apply the guards to the decision in ``state.next_node`` (PRD section 6), in order; ``end`` ends the run.

    The function is pure, and the result is the same for every brain.
    """
    result = Route(state.next_node or "writer")
    # Each guard sees the result of the guards before it.
    for guard in GUARDS:
        node = guard(state, result.node)
        if node is not None and node != result.node:
            result = Route(node, guard.__name__)
        if node is not None and guard in _FINAL:
            break
    return result


def investigator_first(state: BugTriageState, _decided: NodeName) -> NodeName | None:
    """Nothing is concluded before the issue was read."""
    return "investigator" if state.iterations == 0 else None


def report_ends_the_run(state: BugTriageState, _decided: NodeName) -> NodeName | None:
    """A report is final."""
    return "end" if state.report is not None else None


def iteration_limit(state: BugTriageState, _decided: NodeName) -> NodeName | None:
    """At the iteration limit the writer runs, and its draft becomes the report."""
    return "writer" if state.iterations >= state.max_iterations else None


def no_end_without_report(state: BugTriageState, decided: NodeName) -> NodeName | None:
    """A run does not end without a report, so the writer runs first."""
    return "writer" if decided == "end" and state.report is None else None


def question_limit(state: BugTriageState, decided: NodeName) -> NodeName | None:
    """At most two questions per issue, none too late for its answer to matter, and none about a security report."""
    return "codebase_search" if decided == "human_input" and not may_ask(state) else None


def web_search_configured(state: BugTriageState, decided: NodeName) -> NodeName | None:
    """The web is searched only with a configured provider, and never for a security report."""
    searchable = state.web_configured and not is_private(state)
    return "codebase_search" if decided == "web_search" and not searchable else None


def something_new(state: BugTriageState, decided: NodeName) -> NodeName | None:
    """A third code search or another call of the critic needs new information since the last one."""
    idle = {"codebase_search": not may_search(state), "critic": not may_criticise(state)}
    return "writer" if idle.get(decided) else None


def critic_verdict(state: BugTriageState, decided: NodeName) -> NodeName | None:
    """A rejected hypothesis is not written while new input may arrive; the critic judges that input first.

    When nothing new can come, the report is written and names the critic's gap (SPEC section 13).
    """
    if decided != "writer" or not is_rejected(state):
        return None
    # A critic that failed on this input is not asked again: it would fail until the iteration limit.
    if _given_since_verdict(state) and may_criticise(state):
        return "critic"
    may_learn_more = may_search(state) or any(may_be_asked(state, name) for name in ("web_search", *state.tools))
    return "investigator" if may_learn_more else None


def critic_reads_the_model(state: BugTriageState, decided: NodeName) -> NodeName | None:
    """The critic reads a model's hypothesis about the code before the writer runs."""
    return "critic" if decided == "writer" and is_unread(state) else None


_FINAL: tuple[Guard, ...] = (investigator_first, report_ends_the_run, iteration_limit)
"""If one of these applies, the guards after it are skipped."""
GUARDS: tuple[Guard, ...] = (
    *_FINAL,
    *(no_end_without_report, question_limit, web_search_configured),
    *(something_new, critic_verdict, critic_reads_the_model),
)
"""SPEC section 2, in its order. PRD section 6 has a different order, in which a model can loop (SPEC section 13)."""
MEANINGS = {guard.__name__: (guard.__doc__ or "").partition("\n")[0] for guard in GUARDS} | {
    "harmful_request": "An issue that contains instructions instead of a description triggers no outside search.",
    "empty_or_repeated_question": "A question must not be empty, and must not repeat an earlier one.",
}
"""What a guard that changed a decision requires, in one sentence, by its name."""


def is_unreadable(state: BugTriageState) -> bool:
    """Return whether at least one code search ran and none could read the code."""
    searches = [entry.decision for entry in state.trace if entry.node == "codebase_search"]
    return bool(searches) and set(searches) == {NOT_READABLE}


def may_ask(state: BugTriageState) -> bool:
    """Return whether code is readable, fewer than two questions were asked, and rounds remain for an answer."""
    if is_unreadable(state) or is_private(state):
        return False
    asked = len(state.human_exchanges) + (state.pending_exchange is not None)
    return asked < MAX_QUESTIONS and state.max_iterations - state.iterations >= ROUNDS_FOR_A_QUESTION


def is_private(state: BugTriageState) -> bool:
    """Return whether the issue is a security report; then no question is posted and no outside source is queried."""
    return state.reading is not None and state.reading.kind == "security"


def may_search(state: BugTriageState) -> bool:
    """Return whether a code search is left under the limit, or something new arrived since the last one."""
    return state.marks.searches < MAX_SEARCHES or is_exempt(state)


def is_exempt(state: BugTriageState) -> bool:
    """Return whether evidence, an answer, a redirect or a retry arrived after the last code search was joined."""
    return state.marks.after_search is not None and progress(state) != state.marks.after_search


def may_criticise(state: BugTriageState) -> bool:
    """Return whether anything changed, or a model read the code again, since the critic was last called."""
    return progress(state) != state.marks.at_critic or is_unread(state)


def is_rejected(state: BugTriageState) -> bool:
    """Return whether the last verdict is REJECTED."""
    return state.critic_feedback is not None and state.critic_feedback.verdict == "REJECTED"


def is_unread(state: BugTriageState) -> bool:
    """Return whether a model read the code and no critic was called since, with or without a verdict."""
    steps = [entry for entry in state.trace if entry.node in ("codebase_search", "critic")]
    read = [number for number, step in enumerate(steps) if step.node == "codebase_search" and step.judged_by != "rules"]
    return bool(read) and all(step.node != "critic" for step in steps[read[-1] :])


def has_submitted(state: BugTriageState) -> bool:
    """Return whether a model ended its reading of the code with a cause and a place."""
    given = state.submitted
    return given is not None and bool(given.cause and given.places)


def allowed_nodes(state: BugTriageState) -> tuple[NodeName, ...]:
    """Return the nodes that the guards allow in this state; never empty, as one step is always allowed."""
    nodes: tuple[NodeName, ...] = get_args(NodeName)
    return tuple(node for node in nodes if route(state.model_copy(update={"next_node": node})).node == node)


def worthwhile_nodes(state: BugTriageState) -> tuple[NodeName, ...]:
    """Return the next nodes that the guards allow and that can change the report; never empty.

    They follow from the supervisor's own instructions (PRD section 3), which a model may overlook: the code is searched
    before a question is asked or a report is written, after an approval the report is written, after a rejection the
    code is searched for what the critic misses, and a step that was taken is not repeated without new input.
    """
    allowed = allowed_nodes(state)
    return tuple(node for node in allowed if _is_worthwhile(state, node)) or allowed


def _is_worthwhile(state: BugTriageState, node: NodeName) -> bool:
    verdict, searched = state.critic_feedback, was_searched(state)
    if state.iterations == 0 or state.report is not None:
        return True
    if verdict is not None and verdict.verdict == "APPROVED" and not _given_since_verdict(state):
        return node == "writer"
    changes: dict[NodeName, bool] = {
        "investigator": people_added(state, state.marks.at_investigator),
        "codebase_search": not searched or people_added(state, state.marks.after_search) or is_objection_open(state),
        "web_search": is_rejected(state) or all(entry.node != "web_search" for entry in state.trace),
        "critic": searched and _given_since(state, state.marks.at_critic),
        # A submission goes to the critic first: a question would delay a report that may need no answer.
        "human_input": searched and not is_rejected(state) and not (is_unread(state) and has_submitted(state)),
        "writer": searched or is_simple(state) or not may_search(state),
    }
    return changes.get(node, True)


def was_searched(state: BugTriageState) -> bool:
    """Return whether a code search ran, even one that could not read the code."""
    return any(entry.node == "codebase_search" and entry.decision != "failed" for entry in state.trace)


def is_objection_open(state: BugTriageState) -> bool:
    """Return whether the critic rejected the hypothesis and no code was searched since."""
    nodes = [entry.node for entry in state.trace if entry.node in ("critic", "codebase_search")]
    return is_rejected(state) and nodes[-1:] != ["codebase_search"]


def people_added(state: BugTriageState, last: Progress | None) -> bool:
    """Return whether an answer or a redirect arrived since a step; False if the step never ran."""
    now = progress(state)
    return last is not None and (last.answers, last.redirects) != (now.answers, now.redirects)


def _given_since(state: BugTriageState, last: Progress | None) -> bool:
    """Return whether evidence, an answer or a redirect arrived; a retry alone adds nothing to judge."""
    now = progress(state)
    return last is None or (last.evidence, last.answers, last.redirects) != (now.evidence, now.answers, now.redirects)


def _given_since_verdict(state: BugTriageState) -> bool:
    return _given_since(state, state.critic_feedback.on_evidence if state.critic_feedback else None)


def progress(state: BugTriageState) -> Progress:
    """Count the evidence, answers, redirects and retries of the run so far."""
    return Progress(
        evidence=len(state.evidence),
        answers=sum(exchange.answer is not None for exchange in state.human_exchanges),
        redirects=len(state.redirect_instructions),
        retries=state.retry_count,
    )


def companions(state: BugTriageState, node: NodeName, requested: Iterable[str]) -> tuple[str, ...]:
    """Return the further specialists and tools that may run in parallel with ``node`` (SPEC section 4)."""
    if node not in get_args(Specialist):
        return ()
    others = (name for name in dict.fromkeys(requested) if name != node and may_run_in_parallel(state, name))
    return tuple(islice(others, MAX_PARALLEL))


def may_run_in_parallel(state: BugTriageState, name: str) -> bool:
    """Return whether a decision may run this specialist or tool in parallel with another."""
    return may_search(state) if name == "codebase_search" else may_be_asked(state, name)


def may_be_asked(state: BugTriageState, name: str) -> bool:
    """Return whether this source is configured and was queried fewer times than the limit."""
    configured = state.web_configured if name == "web_search" else name in state.tools
    return configured and not is_private(state) and sum(entry.node == name for entry in state.trace) < MAX_CALLS


def all_failed(state: BugTriageState) -> bool:
    """Return whether every parallel branch of the last round failed and the general search is due (SPEC section 4)."""
    last = state.trace[-1] if state.trace else None
    return last is not None and last.node == JOIN and last.decision == NOTHING_JOINED and may_search(state)


def is_simple(state: BugTriageState) -> bool:
    """Return whether no code search is needed; a redirect from a maintainer always requires one."""
    return state.tier == "simple" and not state.redirect_instructions


def forced_route(state: BugTriageState) -> Route | None:
    """Return the route if every possible decision leads to the same node; then the brain need not be asked."""
    # The guards are pure, so every decision can be tried without a model call.
    routes = {route(state.model_copy(update={"next_node": node})).node for node in get_args(NodeName)}
    if len(routes) > 1:
        return None
    return route(state.model_copy(update={"next_node": None}))
