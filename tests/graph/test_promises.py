"""The invariants of SPEC section 2 for arbitrary decisions and failures, and the need for each guard."""

from __future__ import annotations

import asyncio
import random
from typing import get_args

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nodes import guards
from nodes.judgements import NodeName
from tests.graph.promises import Script, broken_promises, run
from tests.support.fakes import decide

NODES = get_args(NodeName)
TOOLS = ("tool_a", "tool_b", "tool_c")
QUESTIONS = [None, "", "Which version?", "which VERSION", "Does it happen without the cache?", "On which system?"]

decisions = st.builds(
    lambda node, question, also: decide(node, question=question, also=also),
    st.sampled_from(NODES),
    st.sampled_from(QUESTIONS),
    st.lists(st.sampled_from(["codebase_search", "web_search", *TOOLS, "tool_unknown"]), max_size=6).map(tuple),
)
scripts = st.builds(
    Script,
    decisions=st.lists(decisions, max_size=25),
    audits=st.lists(st.booleans(), max_size=10),
    answers=st.lists(st.sampled_from(["2.4", "yes " * 250, None]), max_size=2),
    failures=st.lists(st.sampled_from([None, None, None, "model", "bug"]), max_size=40),
    redirects=st.integers(0, 5),
    web=st.booleans(),
    tools=st.sampled_from([(), TOOLS[:1], TOOLS]),
    sources=st.lists(st.sampled_from(["found", "found", "dead", "slow", "bug"]), max_size=20),
    confidence=st.sampled_from([0.0, 0.3, 0.66, 0.9]),
    broken_search=st.booleans(),
    max_retries=st.integers(0, 3),
)


@pytest.mark.timeout(600)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(script=scripts)
# A critic that failed is not called again on the same evidence.
@example(
    script=Script(
        decisions=[decide("critic"), decide("codebase_search")], failures=[*[None] * 6, "bug"], audits=[False, True]
    )
)
# A failed supervisor still leads to a step, which the next decision must count.
@example(
    script=Script(
        decisions=[decide("critic"), decide("human_input", question="Which version?"), *[decide("critic")] * 2],
        failures=[*[None] * 4, "bug"],
        audits=[False, True],
        answers=["2.4"],
    )
)
# A failed supervisor drops duplicates from outside as another one does; counted, they would be new to the critic.
@example(
    script=Script(
        decisions=[decide("critic"), decide("web_search"), *[decide("critic")] * 3],
        failures=[*[None] * 7, "bug"],
        audits=[False] * 4,
        web=True,
    )
)
def test_every_run_keeps_the_promises(script: Script) -> None:
    assert broken_promises(asyncio.run(run(script)), script) == []


@pytest.mark.tried("guards removed one by one")
@pytest.mark.parametrize("guard", [guard.__name__ for guard in guards.GUARDS])
def test_without_any_single_guard_a_promise_fails(guard: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "GUARDS", tuple(g for g in guards.GUARDS if g.__name__ != guard))
    dice = random.Random(guard)
    assert any(broken_promises(asyncio.run(run(script)), script) for script in (_stubborn(dice) for _ in range(60)))


def _stubborn(dice: random.Random) -> Script:
    """Return a supervisor that repeatedly chooses one or two nodes."""
    favourites = dice.sample(NODES, dice.choice([1, 1, 2]))
    fresh = (f"Question {n}?" for n in range(100))
    return Script(
        decisions=[decide(dice.choice(favourites), question=next(fresh)) for _ in range(30)],
        audits=[dice.random() < 0.3 for _ in range(10)],
        answers=[dice.choice(["yes", None]) for _ in range(2)],
        confidence=dice.choice([0.3, 0.9]),
    )
