"""Which next steps a decision may name now; the guards have the last word on the rest."""

from __future__ import annotations

from typing import Literal

from pydantic import create_model

from nodes.state import MAX_QUESTIONS, BugTriageState, NodeName, SupervisorDecision

_ROUNDS_FOR_A_QUESTION = 3


def legal_next_nodes(state: BugTriageState) -> tuple[NodeName, ...]:
    """The steps that no guard would turn into another, cheap to tell from the state alone (SPEC section 2)."""
    if state.iterations == 0:
        return ("investigator",)
    if state.report is not None:
        return ("end",)
    if state.iterations >= state.max_iterations:
        return ("writer",)
    nodes: list[NodeName] = ["investigator", "codebase_search"]
    if state.web_configured:
        nodes.append("web_search")
    nodes.append("critic")
    if _may_ask(state):
        nodes.append("human_input")
    if not _rejected(state):
        nodes.append("writer")
    return tuple(nodes)


def decision_schema(nodes: tuple[NodeName, ...]) -> type[SupervisorDecision]:
    """A decision that can name only these nodes, so that a model cannot choose another."""
    allowed = Literal[nodes]  # type: ignore[valid-type]
    return create_model("SupervisorDecision", __base__=SupervisorDecision, next_node=(allowed, ...))


def _may_ask(state: BugTriageState) -> bool:
    asked = len(state.human_exchanges) + (state.pending_exchange is not None)
    return asked < MAX_QUESTIONS and state.max_iterations - state.iterations >= _ROUNDS_FOR_A_QUESTION


def _rejected(state: BugTriageState) -> bool:
    return state.critic_feedback is not None and state.critic_feedback.verdict == "REJECTED"
