"""If the code cannot be read, the report says so, names no place and asks no question."""

from __future__ import annotations

from typing import Any

import pytest

from bot.runs.code import NoCode
from nodes.guards import NOT_READABLE, is_unreadable, may_ask
from nodes.search.git.errors import GitFailed
from nodes.state import BugTriageState, TraceEntry
from tests.graph.test_run import PLAIN, finish
from tests.support.fakes import FakeCode, ScriptedBrain, context, decide


def broken() -> FakeCode:
    def fail() -> None:
        raise GitFailed("git cannot list it")

    return FakeCode(fail=fail)


@pytest.mark.parametrize("code", [NoCode("it has no commit yet"), broken()], ids=["no-code", "git-fails"])
@pytest.mark.parametrize(
    "decisions",
    [
        pytest.param(list(PLAIN), id="writes"),
        pytest.param([decide("codebase_search"), decide("human_input", question="Which version?")], id="wants-to-ask"),
        pytest.param([decide("writer")], id="never-searches"),
    ],
)
async def test_a_model_that_claims_a_cause_cannot_claim_a_search(code: Any, decisions: list[Any]) -> None:
    state = await finish(context(ScriptedBrain([*decisions, decide("writer")]), code=code))
    report = state.report
    assert report is not None
    assert (report.root_cause, report.suspects, state.human_exchanges) == (None, (), ())
    assert not [line for line in report.tried if line.startswith("Searched the code")]
    if any(entry.node == "codebase_search" for entry in state.trace):
        assert report.not_found == "code_not_readable"
        assert report.verdict == "The code could not be read, so the report names no place."
        assert report.requires_human_review


def searched(*decisions: str) -> BugTriageState:
    return BugTriageState(trace=tuple(TraceEntry(node="codebase_search", decision=decision) for decision in decisions))


@pytest.mark.parametrize(
    ("state", "unreadable"),
    [
        pytest.param(searched(), False, id="not-looked-for"),
        pytest.param(searched(NOT_READABLE), True, id="not-readable"),
        pytest.param(searched(NOT_READABLE, "found"), False, id="readable-later"),
    ],
)
def test_code_is_unreadable_only_if_no_search_read_it(state: BugTriageState, unreadable: bool) -> None:
    assert is_unreadable(state) == unreadable
    assert may_ask(state) != unreadable
