"""Choose the next step by rules (PRD section 7's thresholds)."""

from __future__ import annotations

from nodes import guards
from nodes.brains.rules.questions import next_question
from nodes.context import Case
from nodes.state import NodeName, Specialist, SupervisorDecision

SURE, CORROBORATED = 0.85, 0.70
"""PRD section 7: enough with one finding; enough with two that agree."""


def decide(case: Case) -> SupervisorDecision:
    """Read, search, ask if it matters, doubt, write: each only as long as it can change something."""
    state = case.state
    if state.tier == "simple":
        return _go(case, "writer", "The issue needs no code to be looked at.")
    if state.marks.after_search is None:
        also: tuple[Specialist, ...] = ("web_search",) if _is_from_outside(case) else ()
        return _go(case, "codebase_search", "The issue was read; now the code it is about.", also=also)
    if guards.is_exempt(state):
        return _go(case, "codebase_search", "Something new was said: search again with it.")
    question = next_question(case)
    if question is not None:
        return SupervisorDecision(
            next_node="human_input",
            reasoning=question.reason,
            question=question.text,
            question_context="Any answer helps; you can also reply in your own words.",
            confidence=state.search_confidence,
            question_options=question.options,
        )
    if guards.may_criticise(state):
        return _go(case, "critic", "There is a hypothesis: try to refute it.")
    return _go(case, "writer", _why_write(case))


def _is_from_outside(case: Case) -> bool:
    """Does the trace end in code that is not the repository's, and is there a web to ask?"""
    trace = case.facts.traces[0] if case.facts.traces else None
    if not case.state.web_configured or trace is None or not trace.frames:
        return False
    return any(part in trace.frames[0].path for part in ("site-packages/", "node_modules/", "/.cargo/", "/pkg/mod/"))


def _why_write(case: Case) -> str:
    confidence = case.state.search_confidence
    agreeing = sum(finding.confidence >= CORROBORATED for finding in case.state.findings)
    if confidence >= SURE:
        return f"Confidence is {confidence:.0%}: one good finding is enough."
    if confidence >= CORROBORATED and agreeing >= 2:
        return f"Confidence is {confidence:.0%} and {agreeing} findings agree."
    return "Nothing further can be found out: report what is known."


def _go(case: Case, node: NodeName, reasoning: str, *, also: tuple[Specialist, ...] = ()) -> SupervisorDecision:
    return SupervisorDecision(
        next_node=node,
        reasoning=reasoning,
        question=None,
        question_context=None,
        confidence=case.state.search_confidence,
        also=also,
    )
