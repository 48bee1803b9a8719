"""Propose a report: every sentence rests on evidence, and what is not known is not said."""

from __future__ import annotations

from nodes.brains.rules.suspects import latest_suspects, place, why
from nodes.context import Case
from nodes.evidence import NumberedEvidence
from nodes.judgements import Draft, DraftSuspect, Investigation
from nodes.report import Kind
from nodes.trust.quality_gate import LOW_CONFIDENCE

SUSPECTS = 3
_LABELS: dict[Kind, str] = {
    "bug": "bug",
    "feature": "enhancement",
    "question": "question",
    "docs": "documentation",
    "security": "security",
}
_NO_CODE: dict[Kind, str] = {
    "feature": "This asks for something new; nothing in it says that existing code is wrong.",
    "question": "This asks how to use the program; nothing in it says that the code is wrong.",
    "spam": "This does not look like a report about this repository.",
    "security": "This may describe a security problem; please report it privately.",
}


def write(case: Case) -> Draft:
    """Write what the evidence carries."""
    reading = case.state.reading or Investigation(problem="", hypothesis="")
    suspects = latest_suspects(case)
    confidence = _confidence(case)
    if reading.kind in _NO_CODE and not suspects:
        return _draft(reading, _NO_CODE[reading.kind], confidence=reading.confidence)
    if not suspects:
        return _draft(reading, "I could not locate this in the code.", confidence=0.0)
    first = suspects[0]
    return _draft(
        reading,
        f"Likely in {place(first)}: {why(first, 1)}." if why(first) else f"Likely in {place(first)}.",
        root_cause=_cause(case, first) if confidence >= LOW_CONFIDENCE else "",
        suspects=tuple(DraftSuspect(evidence=s.id, why=why(s)[:300]) for s in suspects[:SUSPECTS]),
        ruled_out=tuple(_less_likely(s, first) for s in suspects[SUSPECTS : SUSPECTS + 2]),
        how_to_confirm=_confirm(case, first),
        confidence=confidence,
    )


def _draft(
    reading: Investigation,
    verdict: str,
    *,
    root_cause: str = "",
    suspects: tuple[DraftSuspect, ...] = (),
    ruled_out: tuple[str, ...] = (),
    how_to_confirm: str = "",
    confidence: float,
) -> Draft:
    label = _LABELS.get(reading.kind)
    return Draft(
        verdict=verdict[:300],
        root_cause=root_cause,
        suspects=suspects,
        missing=reading.missing,
        ruled_out=ruled_out,
        how_to_confirm=how_to_confirm,
        labels=(label,) if label else (),
        kind=reading.kind,
        severity=reading.severity,
        severity_reason=reading.severity_reason,
        confidence=round(confidence, 4),
    )


def _confidence(case: Case) -> float:
    """The engine's calibrated number, as far as the critic let it stand."""
    verdict = case.state.critic_feedback
    return min(case.state.search_confidence, verdict.confidence) if verdict else case.state.search_confidence


def _cause(case: Case, first: NumberedEvidence) -> str:
    sentences = [f"The fault is most likely in {place(first)} [{first.id}]."]
    sentences += [f"It stands out by this: {reason} [{first.id}]." for reason in first.evidence.reasons[:2]]
    trace = next((item for item in case.evidence if item.evidence.kind == "trace"), None)
    if trace is not None and case.facts.traces and case.facts.traces[0].error:
        sentences.append(f"The issue's stack trace ends in `{case.facts.traces[0].error}` [{trace.id}].")
    return " ".join(sentences)[:1_200]


def _less_likely(item: NumberedEvidence, first: NumberedEvidence) -> str:
    share = item.evidence.score / first.evidence.score if first.evidence.score else 0.0
    return f"{place(item)} matches less well: {share:.0%} of the first place's score [{item.id}]."[:300]


def _confirm(case: Case, first: NumberedEvidence) -> str:
    where = first.evidence.locator
    start = "Run the issue's snippet" if case.facts.code_blocks else "Follow the issue's steps"
    return f"{start} with a breakpoint at `{where.path}:{where.start_line}` and see whether wrong values reach it."
