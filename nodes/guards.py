"""The order of rules that no supervisor's decision can override (SPEC section 2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, get_args

from nodes.state import MAX_QUESTIONS, BugTriageState, NodeName, Progress, Specialist

ROUNDS_FOR_A_QUESTION = 3
"""Rounds that must be left when a question is put, so that its answer can still change the report."""
MAX_SEARCHES = 2


class Route(NamedTuple):
    """Where the run goes next, and the last guard that had a say."""

    node: NodeName
    guard: str | None = None


def route_from_supervisor(state: BugTriageState) -> NodeName:
    """The next node for the decision in ``state.next_node`` (PRD section 6); ``end`` ends the run."""
    return route(state).node


def route(state: BugTriageState) -> Route:
    """Apply the guards in their order; pure, and the same for every brain."""
    if state.iterations == 0:
        return _changed(state.next_node, "investigator", "investigator_first")
    if state.report is not None:
        return _changed(state.next_node, "end", "report_is_set")
    if state.iterations >= state.max_iterations:
        return _changed(state.next_node, "writer", "iteration_limit")
    return _below_the_limit(state)


def _below_the_limit(state: BugTriageState) -> Route:
    node, guard = state.next_node or "writer", None
    if node == "end":
        node, guard = "writer", "no_end_without_report"
    if node == "human_input" and not may_ask(state):
        node, guard = "codebase_search", "question_limit"
    if node == "web_search" and not state.web_configured:
        node, guard = "codebase_search", "no_web_search"
    if (node == "codebase_search" and not may_search(state)) or (node == "critic" and not may_criticise(state)):
        node, guard = "writer", "nothing_new"
    if node == "writer" and is_rejected(state):
        node = "critic" if _given_since_verdict(state) else "investigator"
        guard = "critic_verdict"
    return Route(node, guard)


def may_ask(state: BugTriageState) -> bool:
    """Are fewer than two questions put, over all runs of the issue, and enough rounds left for an answer?"""
    put = len(state.human_exchanges) + (state.pending_exchange is not None)
    return put < MAX_QUESTIONS and state.max_iterations - state.iterations >= ROUNDS_FOR_A_QUESTION


def may_search(state: BugTriageState) -> bool:
    """Is this not a third code search with nothing new?"""
    return state.marks.searches < MAX_SEARCHES or is_exempt(state)


def is_exempt(state: BugTriageState) -> bool:
    """Did evidence, an answer, a redirect or a retry arrive since the last code search had joined?"""
    return state.marks.after_search is not None and progress(state) != state.marks.after_search


def may_criticise(state: BugTriageState) -> bool:
    """Is there something that the critic has not judged?"""
    return progress(state) != state.marks.at_critic


def is_rejected(state: BugTriageState) -> bool:
    """Is the last verdict REJECTED?"""
    return state.critic_feedback is not None and state.critic_feedback.verdict == "REJECTED"


def _given_since_verdict(state: BugTriageState) -> bool:
    judged = state.critic_feedback.on_evidence if state.critic_feedback else None
    now = progress(state)
    return judged is None or (now.evidence, now.answers, now.redirects) != (
        judged.evidence,
        judged.answers,
        judged.redirects,
    )


def progress(state: BugTriageState) -> Progress:
    """How much the run has been given so far."""
    return Progress(
        evidence=len(state.evidence),
        answers=sum(exchange.answer is not None for exchange in state.human_exchanges),
        redirects=len(state.redirect_instructions),
        retries=state.retry_count,
    )


def companions(state: BugTriageState, node: NodeName, wanted: Iterable[Specialist]) -> tuple[Specialist, ...]:
    """Which further specialists may run beside ``node`` (SPEC section 4)."""
    if node not in get_args(Specialist):
        return ()
    allowed = {"codebase_search": may_search(state), "web_search": state.web_configured}
    return tuple(name for name in dict.fromkeys(wanted) if name != node and allowed[name])


def settled(state: BugTriageState) -> Route | None:
    """The route, if every possible decision leads to the same one; then nobody need be asked."""
    routes = {route(state.model_copy(update={"next_node": node})).node for node in get_args(NodeName)}
    if len(routes) > 1:
        return None
    return route(state.model_copy(update={"next_node": None}))


def _changed(decided: NodeName | None, node: NodeName, guard: str) -> Route:
    return Route(node, guard if decided != node else None)
