"""Which next steps a decision may name now: those that no guard would turn into another."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import create_model

from nodes.guards import route
from nodes.state import BugTriageState, NodeName, SupervisorDecision


def legal_next_nodes(state: BugTriageState) -> tuple[NodeName, ...]:
    """The nodes that the guards would let pass in this state; never empty, as something always may follow."""
    nodes: tuple[NodeName, ...] = get_args(NodeName)
    return tuple(node for node in nodes if route(state.model_copy(update={"next_node": node})).node == node)


def decision_schema(nodes: tuple[NodeName, ...]) -> type[SupervisorDecision]:
    """A decision that can name only these nodes, so that a model cannot choose another."""
    allowed = Literal[nodes]  # type: ignore[valid-type]
    return create_model("SupervisorDecision", __base__=SupervisorDecision, next_node=(allowed, ...))
