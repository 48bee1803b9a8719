"""Score a draft, and accept it, send it back for another search, or keep an earlier one."""

from dataclasses import dataclass
from typing import Literal

from nodes.agents.writing.statement import is_thin
from nodes.context.agreement import AgreementTable, confidence_of, opinions_from, support_of
from nodes.context.brain import Case
from nodes.guards import is_objection_open, is_rejected, is_unreadable
from nodes.judgements import Draft
from nodes.report import CitationAudit, Evaluation, TriageReport
from nodes.state import BugTriageState

WEIGHTS = {"faithfulness": 0.35, "relevance": 0.25, "completeness": 0.25, "reasoning_quality": 0.15}
"""Weights of the metrics in the overall score (SPEC section 6)."""
FABRICATED_CLAMP = 0.40
MANY_UNCITED, MANY_UNCITED_CLAMP = 10, 0.30
SOME_UNCITED, SOME_UNCITED_CLAMP = 5, 0.50
"""Upper bounds on scores of drafts with fabricated or missing citations (SPEC section 6)."""
LOW_CONFIDENCE = 0.65
"""The default confidence below which no cause is claimed (PRD section 7)."""
RetryCause = Literal["quality_issue_detected", "conflicting_evidence_attempting_resolution"]
_UNREADABLE = "The code could not be read, so nothing was searched. Once the App can read it, `/triage` searches it."
_NOTHING_FOUND = (
    "Nothing in the repository matched the words, names or traces of this issue. "
    "An error message, a stack trace or the name of the feature would give the search something to match."
)
_ALL_FILTERED = (
    "Some code shares words with this issue, but no place matches strongly enough to name. "
    "A name or a message from the program itself would narrow it down."
)
_CONFLICT = (
    "The evidence points in different directions and searching wider did not settle it. "
    "Please compare the suspects and decide which one to follow."
)
READ_THE_LIST = "use the list as a starting point."
"""The end of a review message that is about the places of the report."""
_NEEDS_NO_CODE = frozenset({"feature", "question", "spam"})


@dataclass(frozen=True, slots=True)
class Signals:
    """The signals against a draft that the quality gate judges."""

    confidence: float
    citation_issue: bool = False
    critic_retry: bool = False
    unreadable: bool = False
    """There was no code to search, so another search cannot help."""
    conflict: bool = False
    nothing_found: bool = False
    """The search had no candidate at all, so another search cannot help."""
    all_filtered: bool = False
    """Every candidate fell below the score threshold; this is worth one wider search, but no second."""
    reported: float | None = None
    """The confidence that the report shows, which may be an earlier draft's; None if it is this one's."""
    threshold: float = LOW_CONFIDENCE
    """The confidence below which a draft is not accepted."""

    @property
    def quality_issue(self) -> bool:
        """Whether any one of these signals is set."""
        return self.confidence < self.threshold or self.citation_issue or self.critic_retry


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict on a draft."""

    outcome: Literal["accept", "retry", "review"]
    cause: RetryCause | None = None
    message: str = ""
    """What a person should check; shown to maintainers."""


def evaluate(draft: Draft, audit: CitationAudit, relevance: float) -> Evaluation:
    """Score what remains of a draft after the checks; its relevance is the engine's calibrated confidence, 0..1."""
    confirmed = audit.citations - len(audit.fabricated) - len(audit.failed)
    # Clamped last, so that no weight can compensate for invented evidence.
    raw = Evaluation(
        faithfulness=confirmed / audit.citations if audit.citations else 1.0,
        relevance=min(max(relevance, 0.0), 1.0),
        completeness=_share(draft.verdict, draft.suspects, draft.how_to_confirm, draft.severity_reason),
        reasoning_quality=_share(draft.root_cause, draft.ruled_out, all(s.why for s in draft.suspects)),
    )
    return clamp(raw, audit)


def clamp(evaluation: Evaluation, audit: CitationAudit) -> Evaluation:
    """Apply the upper bounds to any scores, and recompute the weighted mean from the clamped scores."""
    faithfulness = evaluation.faithfulness
    if audit.fabricated or audit.failed:
        faithfulness = min(faithfulness, FABRICATED_CLAMP)
    if audit.uncited_claims >= MANY_UNCITED:
        faithfulness = min(faithfulness, MANY_UNCITED_CLAMP)
    elif audit.uncited_claims >= SOME_UNCITED:
        faithfulness = min(faithfulness, SOME_UNCITED_CLAMP)
    clamped = evaluation.model_copy(update={"faithfulness": faithfulness})
    overall = sum(getattr(clamped, name) * weight for name, weight in WEIGHTS.items())
    return clamped.model_copy(update={"overall_score": round(overall, 3)})


def gate(signals: Signals, *, retry_count: int, max_retries: int) -> Gate:
    """Choose the outcome for a draft; retries come before a human review."""
    # The causes that another search cannot change come first.
    if signals.unreadable:
        return Gate("review", message=_UNREADABLE)
    if signals.nothing_found:
        return Gate("review", message=_NOTHING_FOUND)
    if signals.all_filtered:
        spent = retry_count >= min(1, max_retries)
        return Gate("review", message=_ALL_FILTERED) if spent else Gate("retry", "quality_issue_detected")
    if not (signals.quality_issue or signals.conflict):
        return Gate("accept")
    if retry_count < max_retries:
        only_conflict = signals.conflict and not signals.quality_issue
        cause: RetryCause = "conflicting_evidence_attempting_resolution" if only_conflict else "quality_issue_detected"
        return Gate("retry", cause)
    reported = signals.confidence if signals.reported is None else signals.reported
    wider = "After one wider search" if retry_count == 1 else f"After {retry_count} wider searches"
    times = wider if retry_count else "Without a second attempt"
    low = f"{times}, confidence in the first place is {reported:.0%}: {READ_THE_LIST}"
    return Gate("review", message=_CONFLICT if signals.conflict else low)


def _share(*parts: object) -> float:
    return sum(bool(part) for part in parts) / len(parts)


def is_by_rules(report: TriageReport, case: Case) -> bool:
    """Return whether rules also ranked the places: rules that replace a model retain its order."""
    return report.written_by == "rules" and not case.state.readings


def is_too_thin(report: TriageReport, case: Case) -> bool:
    """Return whether an issue is too short to search by; never if a model inferred more from it than rules can."""
    return is_by_rules(report, case) and is_thin(case)


def was_searched(state: BugTriageState) -> bool:
    """Return whether a code search ran without an error."""
    return any(entry.node == "codebase_search" and not entry.error for entry in state.trace)


def check_draft(case: Case, report: TriageReport, claim_from: float, table: AgreementTable | None = None) -> Gate:
    """Return the quality gate's decision on a draft; what needs no code and no critic judged is accepted."""
    state, feedback = case.state, case.state.critic_feedback
    unsearched = state.tier == "simple" and not was_searched(state)
    if feedback is None and (report.kind in _NEEDS_NO_CODE or unsearched or is_too_thin(report, case)):
        return Gate("accept")
    searches = [entry.counts for entry in state.trace if entry.node == "codebase_search"]
    counts = searches[-1] if searches else {}
    empty = bool(searches) and not counts.get("candidates", 0) + counts.get("chosen", 0)
    by_model = not is_by_rules(report, case)
    signals = Signals(
        confidence=report.claim_strength,
        citation_issue=bool(report.citation_audit.fabricated or report.citation_audit.failed),
        unreadable=is_unreadable(state),
        # A gap of a model's critic is named in the report. Rules reject nothing.
        critic_retry=is_rejected(state) and not by_model,
        conflict=feedback is not None and bool(feedback.contradictions),
        nothing_found=empty and not counts.get("filtered_out"),
        all_filtered=empty and bool(counts.get("filtered_out")),
        reported=better_draft(report, state).confidence,
        threshold=min(claim_from, LOW_CONFIDENCE),
    )
    rounds_left = state.iterations < state.max_iterations and (not by_model or _may_improve(signals, state, table))
    return gate(signals, retry_count=state.retry_count, max_retries=state.max_retries if rounds_left else 0)


def _may_improve(signals: Signals, state: BugTriageState, table: AgreementTable | None) -> bool:
    """Return whether another draft by a model can have another outcome.

    Without an answer or a redirect the model would read the same code, so its confidence cannot rise. Two faults can be
    corrected: a citation of evidence that does not exist, if the draft's place is probable enough, and an unanswered
    contradiction.
    """
    searched, given = after_verdict(state, table)
    faulty = signals.citation_issue and (searched if given is None else given) >= signals.threshold
    conflict = signals.conflict and is_objection_open(state)
    return faulty or conflict or signals.all_filtered or not was_searched(state)


def after_verdict(state: BugTriageState, table: AgreementTable | None) -> tuple[float, float | None]:
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
    if kept is None or kept.claim_strength < report.claim_strength:
        return report
    nodes = [entry.node for entry in state.trace if not (entry.node == "codebase_search" and entry.error)]
    is_blind = "codebase_search" in nodes and "writer" not in nodes[nodes.index("codebase_search") :]
    return report if is_blind else kept
