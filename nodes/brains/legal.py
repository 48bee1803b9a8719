"""List the next steps that a decision may name now: those that no guard would change."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import BaseModel, Field, create_model

from nodes.guards import may_run_beside, route
from nodes.state import BugTriageState, NodeName, Specialist, SupervisorDecision


def legal_next_nodes(state: BugTriageState) -> tuple[NodeName, ...]:
    """Return the nodes that the guards allow in this state; never empty, as one step is always allowed."""
    nodes: tuple[NodeName, ...] = get_args(NodeName)
    return tuple(node for node in nodes if route(state.model_copy(update={"next_node": node})).node == node)


def legal_companions(state: BugTriageState, nodes: tuple[NodeName, ...]) -> tuple[str, ...]:
    """Return the specialists and configured tools that may run in parallel with one of these nodes; often empty."""
    beside = set(nodes) & set(get_args(Specialist))
    names = (*get_args(Specialist), *state.tools)
    return tuple(name for name in names if may_run_beside(state, name) and beside - {name})


def decision_schema(nodes: tuple[NodeName, ...], companions: tuple[str, ...] = ()) -> type[BaseModel]:
    """Build a decision schema that contains only these nodes and companions, so a model cannot choose another."""
    own = {name: (field.annotation, field) for name, field in SupervisorDecision.model_fields.items()}
    fields: dict[str, Any] = {**own, "next_node": (Literal[nodes], ...)}
    del fields["also"]
    if companions:
        allowed: Any = Literal[companions]
        fields["also"] = (tuple[allowed, ...], Field(default=(), max_length=8))
    return create_model("SupervisorDecision", __doc__=SupervisorDecision.__doc__, **fields)
