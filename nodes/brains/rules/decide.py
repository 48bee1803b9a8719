"""Choose the next step: search, ask, criticise or write (thresholds: PRD section 7)."""

from __future__ import annotations

from nodes.brains.rules.investigate import is_third_party
from nodes.brains.rules.places import code_of
from nodes.brains.rules.questions import Question, is_guess, next_question
from nodes.context import Case
from nodes.guards import is_simple, may_criticise, may_search, progress
from nodes.sources import route
from nodes.sources.dependency import raising_package
from nodes.state import BugTriageState, NodeName, SupervisorDecision

WRITE_AT = 0.85
WRITE_AT_IF_CORROBORATED = 0.70
_CORROBORATES = 0.5


def decide(case: Case) -> SupervisorDecision:
    """Apply the first matching rule; each gives its reason in one sentence."""
    state = case.state
    if not _ran(state, "investigator"):
        return _step(case, "investigator", "The issue has not been read.")
    if _is_simple(case):
        return _step(case, "writer", "Nothing in this issue requires a code search.")
    if not _ran(state, "codebase_search"):
        reason = "The issue was read; the code was not searched yet."
        return _step(case, "codebase_search", reason).model_copy(update={"also": _parallel_nodes(case)})
    if _has_new_input(state):
        return _step(case, "codebase_search", "New information arrived after the last search: search again with it.")
    return _with_findings(case)


def _with_findings(case: Case) -> SupervisorDecision:
    state = case.state
    if _needs_web(case):
        return _step(case, "web_search", "The error or the issue's words point outside this repository.")
    # A question costs a person's time, so none is asked if the place is probably right.
    unsure = _confidence(state) < WRITE_AT_IF_CORROBORATED or is_guess(case)
    question = next_question(case) if unsure else None
    if question is not None:
        return _ask(case, question)
    # After the question, because an answer may name what the search lacked.
    if not code_of(case):
        return _step(case, "writer", "The search found nothing to judge: report that.")
    if _may_search_for_gaps(state):
        return _step(case, "codebase_search", "The critic rejected the hypothesis and named what to search for.")
    if may_criticise(state):
        return _step(case, "critic", "The hypothesis has not been checked by the critic yet.")
    return _step(case, "writer", _reason_to_write(state))


def _ran(state: BugTriageState, node: str) -> bool:
    return any(entry.node == node for entry in state.trace)


def _is_simple(case: Case) -> bool:
    reading = case.state.reading
    return (reading is not None and reading.kind == "security") or is_simple(case.state)


def _has_new_input(state: BugTriageState) -> bool:
    """Return whether an answer, a redirect or a retry arrived since the last search; new evidence does not count."""
    last, now = state.marks.after_search, progress(state)
    if last is None:
        return False
    return (last.answers, last.redirects, last.retries) != (now.answers, now.redirects, now.retries)


def _needs_web(case: Case) -> bool:
    """Return whether the error was raised in a dependency, or the issue contains a keyword of the web search."""
    if not case.state.web_configured or _ran(case.state, "web_search"):
        return False
    raised_outside = is_third_party(case.facts) or raising_package(case.facts.traces) is not None
    return raised_outside or "web_search" in _named(case)


def _parallel_nodes(case: Case) -> tuple[str, ...]:
    """Return the sources to query in parallel with the code search: the web if needed, and tools by their keywords."""
    web = ("web_search",) if _needs_web(case) else ()
    return (*web, *(name for name in _named(case) if name != "web_search"))


def _named(case: Case) -> tuple[str, ...]:
    return route(f"{case.title}\n{case.body}", case.sources).sources if case.sources else ()


def _may_search_for_gaps(state: BugTriageState) -> bool:
    verdict = state.critic_feedback
    if verdict is None or verdict.verdict == "APPROVED" or not may_search(state):
        return False
    return bool(verdict.required_evidence) and not may_criticise(state)


def _confidence(state: BugTriageState) -> float:
    return state.search_confidence if _ran(state, "codebase_search") else 0.0


def _reason_to_write(state: BugTriageState) -> str:
    confidence = _confidence(state)
    confident = [finding for finding in state.findings if finding.confidence >= _CORROBORATES]
    supports = {finding.agent_name for finding in confident if finding.agent_name != "join"}
    if confidence >= WRITE_AT:
        return "The first place is very probably correct."
    if confidence >= WRITE_AT_IF_CORROBORATED and len(supports) >= 2:
        return "The first place is probably correct, and two findings agree."
    return "No further step would raise the confidence: write the report."


def _step(case: Case, node: NodeName, reasoning: str) -> SupervisorDecision:
    return SupervisorDecision(
        next_node=node, reasoning=reasoning, question=None, question_context=None, confidence=_confidence(case.state)
    )


def _ask(case: Case, question: Question) -> SupervisorDecision:
    return SupervisorDecision(
        next_node="human_input",
        reasoning=question.reason,
        question=question.text[:300],
        question_context=question.context[:600] or None,
        confidence=_confidence(case.state),
        question_options=question.options,
    )
