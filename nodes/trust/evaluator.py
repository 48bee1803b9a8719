"""The scorecard of a draft: four scores, limited by hard clamps on the citation engine's findings."""

from __future__ import annotations

from nodes.judgements import Draft
from nodes.report import CitationAudit, Evaluation

WEIGHTS = {"faithfulness": 0.35, "relevance": 0.25, "completeness": 0.25, "reasoning_quality": 0.15}
"""Weights of the metrics in the overall score (SPEC section 6)."""
FABRICATED_CLAMP = 0.40
MANY_UNCITED, MANY_UNCITED_CLAMP = 10, 0.30
SOME_UNCITED, SOME_UNCITED_CLAMP = 5, 0.50
"""Upper bounds on scores of drafts with fabricated or missing citations (SPEC section 6)."""


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


def _share(*parts: object) -> float:
    return sum(bool(part) for part in parts) / len(parts)
