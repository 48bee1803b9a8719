"""The description of a run in words: what each step decided, what was dropped, the scores and the cost.

Comments, the terminal and the page of a run show the same words; each escapes them for its own format.
"""

from dataclasses import dataclass

from bot.report.document import Result
from bot.report.words import count, percent, span
from nodes.guards import meaning
from nodes.report import CitationAudit, Evaluation
from nodes.state import RetryReason, TraceEntry

_RETRY_REASONS = {
    "quality_issue_detected": "quality too low",
    "conflicting_evidence_attempting_resolution": "conflicting evidence",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a run's trace, as plain text from untrusted sources."""

    round: int
    node: str
    decision: str
    confidence: str
    """A percentage; empty if no brain judged the step."""
    reason: str
    error: str
    guard: str
    """The rule that overruled the decision; empty if none did."""
    guard_means: str
    judged_by: str
    looks: tuple[str, ...]
    """Lookups of a model."""
    took: str
    counts: tuple[str, ...]


def step(entry: TraceEntry, *, reasons: bool) -> Step:
    """Describe what a node decided.

    Args:
        entry: its entry in the run's trace.
        reasons: whether to give reasons, errors and lookups, which concern the issue's content, besides the route.
    """
    return Step(
        round=entry.iteration,
        node=entry.node,
        decision=entry.decision,
        # If only one node was legal, no brain judged, so the supervisor has no confidence.
        confidence=percent(entry.confidence if entry.confidence or entry.node != "supervisor" else None),
        reason=entry.reason if reasons else "",
        error=(entry.error or "") if reasons else ("It failed." if entry.error else ""),
        guard=entry.guard or "",
        guard_means=meaning(entry.guard) if entry.guard else "",
        judged_by=entry.judged_by,
        looks=entry.looks if reasons else (),
        took=span(entry.duration_ms / 1000),
        counts=tuple(f"{name.replace('_', ' ')} {number}" for name, number in entry.counts.items()),
    )


def dropped_claims(audit: CitationAudit) -> tuple[str, ...]:
    """Describe what the citation check removed from the last draft."""
    return (
        *audit.dropped,
        *(f"cites evidence that was not gathered: `{name}`" for name in audit.fabricated),
        *(f"no longer matches its quote: `{name}`" for name in audit.failed),
    )


def citation_check(result: Result) -> str:
    """Return one sentence with the numbers of checked and dropped citations over all drafts."""
    audit = result.report.citation_audit
    return (
        f"{count(audit.citations, 'citation')} checked, {count(audit.uncited_claims, 'sentence')} cited nothing, "
        f"{count(result.metrics.claims_dropped, 'claim')} dropped over all drafts."
    )


def scores(score: Evaluation) -> tuple[tuple[str, str, str], ...]:
    """Return the rows of the scorecard: name, weight and score from 0 to 1; the total has no weight."""
    return (
        ("Faithfulness", "35 %", f"{score.faithfulness:.2f}"),
        ("Relevance", "25 %", f"{score.relevance:.2f}"),
        ("Completeness", "25 %", f"{score.completeness:.2f}"),
        ("Reasoning", "15 %", f"{score.reasoning_quality:.2f}"),
        ("Overall, after clamping", "", f"{score.overall_score:.2f}"),
    )


def retry_reasons(retry: RetryReason) -> tuple[str, ...]:
    """Return why a draft was rejected."""
    failed = ("a citation failed",) if retry.citation_issue else ()
    fabricated = ("fabricated evidence",) if retry.hallucination else ()
    return (_RETRY_REASONS[retry.reason], *failed, *fabricated)


def spending(result: Result, *, brain: str, config_hash: str, dollars: float = 0) -> tuple[tuple[str, str], ...]:
    """Return the brain, the model's usage and the configuration as pairs of a label and a value."""
    usage, trace = result.metrics.usage, result.trace
    judges = ", ".join(dict.fromkeys(entry.judged_by for entry in trace)) or brain
    used = (
        (
            ("Model calls", count(usage.calls, "call")),
            ("Tokens in", count(usage.input_tokens, "token")),
            ("Tokens out", count(usage.output_tokens, "token")),
        )
        if usage.calls
        else (("Model calls", "none: rules judged"),)
    )
    cost = (("Cost", f"${dollars:.4f}"),) if dollars else ()
    fell_back = tuple(("Rules judged instead", why) for why in result.metrics.fallbacks)
    config = (("Configuration", config_hash),) if config_hash else ()
    return (("Judged by", judges), *used, *cost, *fell_back, *config)
