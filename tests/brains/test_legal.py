"""A model may only choose steps that the guards allow."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.brains.llm import decision_schema
from nodes.guards import allowed_nodes, route, worthwhile_nodes
from nodes.judgements import NodeName
from nodes.report import TriageReport
from nodes.state import BugTriageState, CriticVerdict, HumanExchange, Marks, Progress

STATES = st.builds(
    BugTriageState,
    iterations=st.integers(0, 9),
    human_exchanges=st.sampled_from([(), (HumanExchange(),), (HumanExchange(),) * 2]),
    critic_feedback=st.sampled_from([None, CriticVerdict(verdict="REJECTED"), CriticVerdict(verdict="APPROVED")]),
    report=st.sampled_from([None, TriageReport()]),
    web_configured=st.booleans(),
    marks=st.builds(Marks, searches=st.integers(0, 3), at_critic=st.sampled_from([None, Progress()])),
)


@given(state=STATES)
def test_the_legal_steps_are_those_that_no_guard_overrides(state):
    legal = allowed_nodes(state)
    assert legal
    for node in get_args(NodeName):
        routed = route(state.model_copy(update={"next_node": node})).node
        assert (routed == node) == (node in legal)


@given(state=STATES)
def test_the_offered_steps_are_legal_and_never_empty(state):
    assert set() < set(worthwhile_nodes(state)) <= set(allowed_nodes(state))


@pytest.mark.parametrize("nodes", [("writer",), ("codebase_search", "writer")])
def test_the_schema_lists_only_the_legal_nodes(nodes):
    field = decision_schema(nodes).model_json_schema()["properties"]["next_node"]
    assert tuple(field.get("enum", [field.get("const")])) == nodes


def test_the_schema_asks_for_the_reasons_before_the_decision():
    assert list(decision_schema(("critic", "writer")).model_fields)[:2] == ["reasoning", "next_node"]
