"""Score a draft, limited by hard clamps on the findings of the citation engine, and accept it or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nodes.judgements import Draft
from nodes.report import CitationAudit, Evaluation

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
    """For maintainers: what a person should check."""


def evaluate(draft: Draft, audit: CitationAudit, relevance: float) -> Evaluation:
    """Score a checked draft.

    Args:
        draft: what remains of the proposal after the checks.
        audit: the result of the citation engine.
        relevance: how well the first suspect answers the issue, 0..1: the engine's calibrated confidence.
    """
    confirmed = audit.citations - len(audit.fabricated) - len(audit.failed)
    raw = Evaluation(
        faithfulness=confirmed / audit.citations if audit.citations else 1.0,
        relevance=min(max(relevance, 0.0), 1.0),
        completeness=_share(draft.verdict, draft.suspects, draft.how_to_confirm, draft.severity_reason),
        reasoning_quality=_share(draft.root_cause, draft.ruled_out, all(s.why for s in draft.suspects)),
    )
    # Clamped last, so that no weight can compensate for invented evidence.
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
    return Gate("review", message=_CONFLICT if signals.conflict else _low_confidence(reported, retry_count))


def _share(*parts: object) -> float:
    return sum(bool(part) for part in parts) / len(parts)


def _low_confidence(confidence: float, retries: int) -> str:
    times = {0: "Without a second attempt", 1: "After one wider search"}.get(retries, f"After {retries} wider searches")
    return f"{times}, confidence in the first place is {confidence:.0%}: {READ_THE_LIST}"
