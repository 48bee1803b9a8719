"""Choose the next step (thresholds: PRD section 7) and the questions to the reporter that can change the ranking."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nodes.brains.rules.investigate import acting_kind, is_third_party
from nodes.brains.rules.missing import Need, needs_worth_asking, tells_how
from nodes.brains.rules.places import code_of, leading, reason_kinds, rival
from nodes.context.brain import Case
from nodes.guards import is_private, is_rejected, is_simple, may_ask, may_criticise, may_search, people_added
from nodes.issue.facts import raising_package
from nodes.judgements import NodeName, SupervisorDecision
from nodes.search.sentences import say
from nodes.search.tokens import comparable
from nodes.sources.protocol import route
from nodes.state import BugTriageState

WRITE_AT = 0.85
WRITE_AT_IF_CORROBORATED = 0.70
_CORROBORATES = 0.5
WEAK = 0.35
"""Confidence below which the first place is little more than a guess."""
THIN = 12
"""Number of words below which prose alone is not enough for a search."""


def decide(case: Case) -> SupervisorDecision:
    """Apply the first matching rule; each gives its reason in one sentence."""
    state = case.state
    if not _ran(state, "investigator"):
        return _step(case, "investigator", "The issue has not been read.")
    if is_private(state) or is_simple(state):
        return _step(case, "writer", "Nothing in this issue requires a code search.")
    if not _ran(state, "codebase_search"):
        reason = "The issue was read; the code was not searched yet."
        web = ("web_search",) if _needs_web(case) else ()
        also = (*web, *(name for name in _named(case) if name != "web_search"))
        return _step(case, "codebase_search", reason).model_copy(update={"also": also})
    last = state.marks.after_search
    # New evidence does not count.
    if last is not None and (people_added(state, last) or last.retries != state.retry_count):
        return _step(case, "codebase_search", "New information arrived after the last search: search again with it.")
    return _with_findings(case)


def _with_findings(case: Case) -> SupervisorDecision:
    state = case.state
    if _needs_web(case):
        return _step(case, "web_search", "The error or the issue's words point outside this repository.")
    # A question costs a person's time, so none is asked if the place is probably right.
    unsure = _confidence(state) < WRITE_AT_IF_CORROBORATED or _is_guess(case)
    question = next_question(case) if unsure else None
    if question is not None:
        asked = {"question": question.text, "question_options": question.options}
        return _step(case, "human_input", question.reason).model_copy(update=asked)
    # After the question, because an answer may name what the search lacked.
    if not code_of(case):
        return _step(case, "writer", "The search found nothing to judge: report that.")
    wanted = state.critic_feedback.required_evidence if state.critic_feedback is not None else ()
    if is_rejected(state) and may_search(state) and wanted and not may_criticise(state):
        return _step(case, "codebase_search", "The critic rejected the hypothesis and named what to search for.")
    if may_criticise(state):
        return _step(case, "critic", "The hypothesis has not been checked by the critic yet.")
    return _step(case, "writer", _reason_to_write(state))


def _ran(state: BugTriageState, node: str) -> bool:
    return any(entry.node == node for entry in state.trace)


def _needs_web(case: Case) -> bool:
    """Return whether the error was raised in a dependency, or the issue contains a keyword of the web search."""
    if not case.state.web_configured or _ran(case.state, "web_search"):
        return False
    raised_outside = is_third_party(case.facts) or raising_package(case.facts.traces) is not None
    return raised_outside or "web_search" in _named(case)


def _named(case: Case) -> tuple[str, ...]:
    return (route(f"{case.title}\n{case.body}", case.sources) or ()) if case.sources else ()


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
    return SupervisorDecision.to(node, reasoning, _confidence(case.state))


class ReporterQuestion(NamedTuple):
    """A question for the reporter, and the reason for the maintainer."""

    text: str
    reason: str
    options: tuple[str, ...]


def next_question(case: Case) -> ReporterQuestion | None:
    """Return the first useful question that was not asked before; None if no question may be asked."""
    exchanges = case.state.human_exchanges
    if not may_ask(case.state) or case.state.redirect_instructions or any(item.withdrawn for item in exchanges):
        return None  # after a redirect, the maintainer decides what to ask
    asked = {comparable(exchange.question) for exchange in exchanges}
    return next((question for question in _candidates(case) if comparable(question.text) not in asked), None)


def _is_thin(case: Case) -> bool:
    """Return whether the issue contains only a few words and nothing else to search for."""
    facts = case.facts
    names = facts.symbols or facts.paths or facts.modules
    return facts.words < THIN and not (facts.traces or facts.errors or facts.code_blocks or names)


def _is_guess(case: Case) -> bool:
    """Return whether no reason supports the first place of a short issue."""
    found = leading(case)
    return _is_thin(case) and not (found and reason_kinds(case, found[0].evidence))


def _candidates(case: Case) -> Iterator[ReporterQuestion]:
    found = leading(case)
    weak = not found or case.state.search_confidence < WEAK
    likelier = acting_kind(case.title, case.body, case.facts).rather
    # If few words fit two places equally well, a description of what happened helps more than a choice of a place.
    if likelier != "feature" and (_is_guess(case) or (_is_thin(case) and (weak or rival(found) is not None))):
        yield _WHAT_HAPPENED
    if weak and not tells_how(case):
        needs = needs_worth_asking(case)
        yield from (question for need, question in _FOR_NEED.items() if need in needs)


_WHAT_HAPPENED = ReporterQuestion(
    text=say("What did you do just before it went wrong, and what did the program do then?"),
    reason="The report is too short to search the code by.",
    options=(
        say("It stops with an error message (please paste all of it)"),
        say("It finishes, but the result is wrong (please show the input and the result)"),
        say("It hangs, or takes far too long"),
    ),
)
_FOR_NEED: Mapping[Need, ReporterQuestion] = {
    "error": ReporterQuestion(
        text=say("What exactly does the program print when it fails? Please paste the whole message."),
        reason="The report mentions an error without quoting it, and nothing else leads to one place in the code.",
        options=(
            say("An error with a stack trace (please paste it)"),
            say("A single line (please paste it)"),
            say("Nothing at all"),
        ),
    ),
    "steps": ReporterQuestion(
        text=say("What are the steps, or the shortest piece of code, that show the problem?"),
        reason="Without a name of a function, command or page the search has no place to start.",
        options=(say("I can paste code that shows it"), say("I can list the steps"), say("It happens only sometimes")),
    ),
}
