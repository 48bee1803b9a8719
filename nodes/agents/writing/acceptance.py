"""Decides whether a draft is accepted, written again after another search, or replaced by an earlier draft."""

from __future__ import annotations

from nodes.agents.writing.statement import is_thin
from nodes.context import Case
from nodes.context.agreement import Table, confidence_of, opinions_from, support_of
from nodes.guards import is_objection_open, is_unreadable
from nodes.report import TriageReport
from nodes.state import BugTriageState
from nodes.trust.quality_gate import LOW_CONFIDENCE, Gate, Signals, gate

_NEEDS_NO_CODE = frozenset({"feature", "question", "spam"})


def is_by_rules(report: TriageReport, case: Case) -> bool:
    """Return whether rules also ranked the places: rules that replace a model retain its order."""
    searches = [finding for finding in case.state.findings if finding.agent_name == "codebase_search"]
    return report.written_by == "rules" and all(search.judged_by == "rules" for search in searches)


def is_too_thin(report: TriageReport, case: Case) -> bool:
    """Return whether an issue is too short to search by; never if a model inferred more from it than rules can."""
    return is_by_rules(report, case) and is_thin(case)


def was_searched(state: BugTriageState) -> bool:
    """Return whether a code search ran without an error."""
    return any(entry.node == "codebase_search" and not entry.error for entry in state.trace)


def check_draft(case: Case, report: TriageReport, claim_from: float, table: Table | None = None) -> Gate:
    """Return the quality gate's decision on a draft.

    A report that needs no code and that no critic judged is accepted.
    """
    state = case.state
    thin = is_too_thin(report, case)
    needs_no_code = report.kind in _NEEDS_NO_CODE or thin or (state.tier == "simple" and not was_searched(state))
    if needs_no_code and state.critic_feedback is None:
        return Gate("accept")
    searches = [entry for entry in state.trace if entry.node == "codebase_search"]
    counts = searches[-1].counts if searches else {}
    empty = bool(searches) and not counts.get("candidates", 0) + counts.get("chosen", 0)
    feedback = state.critic_feedback
    by_model = not is_by_rules(report, case)
    # A gap of a model's critic is named in the report. Rules reject nothing.
    rejected = feedback is not None and feedback.verdict == "REJECTED" and not by_model
    signals = Signals(
        confidence=report.claim_strength,
        citation_issue=bool(report.citation_audit.fabricated or report.citation_audit.failed),
        unreadable=is_unreadable(state),
        critic_retry=rejected,
        conflict=feedback is not None and bool(feedback.contradictions),
        nothing_found=empty and not counts.get("filtered_out"),
        all_filtered=empty and bool(counts.get("filtered_out")),
        reported=better_draft(report, state).confidence,
        threshold=min(claim_from, LOW_CONFIDENCE),
    )
    rounds_left = state.iterations < state.max_iterations and (
        not by_model or _may_improve(signals, report, state, table)
    )
    return gate(signals, retry_count=state.retry_count, max_retries=state.max_retries if rounds_left else 0)


def _may_improve(signals: Signals, report: TriageReport, state: BugTriageState, table: Table | None) -> bool:
    """Return whether another draft by a model can have another outcome.

    Without an answer or a redirect the model would read the same code, so its confidence cannot rise. Two faults can be
    corrected: a citation of evidence that does not exist, if the draft's place is probable enough, and an unanswered
    contradiction.
    """
    audit = report.citation_audit
    searched, given = after_verdict(state, table)
    support = searched if given is None else given
    faulty = bool(audit.fabricated or audit.failed) and support >= signals.threshold
    first = not was_searched(state)
    return faulty or first or (signals.conflict and is_objection_open(state)) or signals.all_filtered


def after_verdict(state: BugTriageState, table: Table | None) -> tuple[float, float | None]:
    """Return the search's confidence and support, which an approval of the model's cause by a critic may raise."""
    searched, support = state.search_confidence, state.search_support
    steps = [step for step in state.trace if step.node in ("critic", "codebase_search")]
    approved = bool(steps) and (steps[-1].node, steps[-1].decision) == ("critic", "APPROVED")
    if support is None or not approved or steps[-1].judged_by == "rules":
        return searched, support
    numbers = next((step.scores for step in reversed(steps) if "model" in step.scores), {})
    opinions = opinions_from(numbers, approved=True)
    if opinions is None:
        return searched, support
    return max(searched, confidence_of(opinions, table)), max(support, support_of(opinions, table))


def better_draft(report: TriageReport, state: BugTriageState) -> TriageReport:
    """Return the better of a retry and the draft before it; the narrower search wins a tie.

    A draft from before the first search never wins, because it was written without the code.
    """
    kept = state.best_draft
    if kept is None or (was_searched(state) and _is_blind(state)):
        return report
    return kept if kept.claim_strength >= report.claim_strength else report


def _is_blind(state: BugTriageState) -> bool:
    """Return whether every earlier draft was written before the first search."""
    nodes = [entry.node for entry in state.trace if not (entry.node == "codebase_search" and entry.error)]
    return "writer" not in nodes[nodes.index("codebase_search") :]
