"""Each guard, in the terms of the PRD."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.guards import companions, route
from nodes.report import TriageReport
from nodes.state import BugTriageState, CriticVerdict, HumanExchange, Marks, Progress

ASKED = HumanExchange(question="Which?", answer="2.4")
REJECTED = CriticVerdict(verdict="REJECTED", on_evidence=Progress())


@pytest.mark.parametrize(
    ("given", "decided", "node", "guard"),
    [
        pytest.param({"iterations": 0}, "writer", "investigator", "investigator_first", id="1-first"),
        pytest.param({"iterations": 0}, "investigator", "investigator", None, id="1-agreed"),
        pytest.param({"report": TriageReport()}, "critic", "end", "report_ends_the_run", id="2"),
        pytest.param(
            {"iterations": 8, "report": TriageReport()}, "critic", "end", "report_ends_the_run", id="2-over-3"
        ),
        pytest.param({"iterations": 8}, "critic", "writer", "iteration_limit", id="3"),
        pytest.param({"iterations": 8, "critic_feedback": REJECTED}, "end", "writer", "iteration_limit", id="3-over-8"),
        pytest.param({}, "end", "writer", "no_end_without_report", id="4"),
        pytest.param({"critic_feedback": REJECTED}, "end", "investigator", "critic_verdict", id="4-then-8"),
        pytest.param({"human_exchanges": (ASKED, ASKED)}, "human_input", "codebase_search", "question_limit", id="5"),
        pytest.param(
            {"human_exchanges": (ASKED,), "pending_exchange": ASKED},
            "human_input",
            "codebase_search",
            "question_limit",
            id="5-pending-counts",
        ),
        pytest.param({"iterations": 6}, "human_input", "codebase_search", "question_limit", id="5-too-late"),
        pytest.param({"iterations": 5}, "human_input", "human_input", None, id="5-just-in-time"),
        pytest.param(
            {"human_exchanges": (ASKED, ASKED), "marks": Marks(searches=2, after_search=Progress(answers=2))},
            "human_input",
            "writer",
            "something_new",
            id="5-then-7",
        ),
        pytest.param({}, "web_search", "codebase_search", "web_search_configured", id="6"),
        pytest.param({"web_configured": True}, "web_search", "web_search", None, id="6-configured"),
        pytest.param(
            {"marks": Marks(searches=2, after_search=Progress())}, "codebase_search", "writer", "something_new", id="7"
        ),
        pytest.param(
            {"marks": Marks(searches=2, after_search=Progress()), "retry_count": 1},
            "codebase_search",
            "codebase_search",
            None,
            id="7-retry",
        ),
        pytest.param(
            {"marks": Marks(searches=2, after_search=Progress()), "redirect_instructions": ("the parser",)},
            "codebase_search",
            "codebase_search",
            None,
            id="7-redirect",
        ),
        pytest.param({"marks": Marks(at_critic=Progress())}, "critic", "writer", "something_new", id="7-critic"),
        pytest.param(
            {"marks": Marks(at_critic=Progress()), "evidence": ("k",)}, "critic", "critic", None, id="7-critic-new"
        ),
        pytest.param({"critic_feedback": REJECTED}, "writer", "investigator", "critic_verdict", id="8"),
        pytest.param(
            {"critic_feedback": REJECTED, "evidence": ("k",)}, "writer", "critic", "critic_verdict", id="8-evidence"
        ),
        pytest.param({"critic_feedback": REJECTED}, "codebase_search", "codebase_search", None, id="8-others-pass"),
        pytest.param(
            {"critic_feedback": REJECTED, "marks": Marks(searches=2, after_search=Progress(), at_critic=Progress())},
            "writer",
            "writer",
            None,
            id="8-nothing-new-can-come",
        ),
        pytest.param(
            {
                "critic_feedback": REJECTED,
                "marks": Marks(searches=2, after_search=Progress(), at_critic=Progress()),
                "web_configured": True,
            },
            "writer",
            "investigator",
            "critic_verdict",
            id="8-the-web-was-not-asked",
        ),
    ],
)
def test_route(given: dict[str, Any], decided: Any, node: str, guard: str | None) -> None:
    state = BugTriageState(**{"iterations": 2, **given, "next_node": decided})
    assert route(state) == (node, guard)


@pytest.mark.parametrize(
    ("node", "wanted", "web", "expected"),
    [
        pytest.param("codebase_search", ("web_search",), True, ("web_search",), id="both"),
        pytest.param("codebase_search", ("web_search",), False, (), id="no-web"),
        pytest.param("critic", ("codebase_search",), True, (), id="beside-no-specialist"),
        pytest.param("web_search", ("web_search", "codebase_search"), True, ("codebase_search",), id="once-each"),
    ],
)
def test_companions(node: Any, wanted: Any, *, web: bool, expected: tuple[str, ...]) -> None:
    assert companions(BugTriageState(iterations=1, web_configured=web), node, wanted) == expected


def test_a_third_search_cannot_run_in_parallel() -> None:
    state = BugTriageState(iterations=1, web_configured=True, marks=Marks(searches=2, after_search=Progress()))
    assert companions(state, "web_search", ("codebase_search",)) == ()
