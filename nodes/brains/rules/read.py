"""Judge the results from the code and from outside the repository."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.brains.rules.places import is_source, name, rank, rival, why
from nodes.context import Case
from nodes.evidence import NumberedEvidence
from nodes.judgements import CodeReading, WebReading
from nodes.search.tokens import query_terms

AMBIGUOUS = 0.85
"""Factor for the confidence if two files are nearly equal."""
NO_SOURCE = 0.5
"""Factor for the confidence if only tests, examples or documents were found."""


def read_code(case: Case, candidates: Sequence[NumberedEvidence]) -> CodeReading:
    """Name the top suspect with its reason and confidence."""
    ranked = rank(case, candidates)
    if not ranked:
        return CodeReading(
            summary="No place in the code matches the issue strongly enough to name.",
            details="The names, messages and rare words of the issue match no place clearly.",
        )
    first = ranked[0].evidence
    others = "; ".join(f"{item.id} {name(item.evidence)}" for item in ranked[1:4])
    return CodeReading(
        summary=f"Top suspect: {name(first)}."[:300],
        details=f"{ranked[0].id}: {why(case, first) or 'ranked first'}.{f' Then {others}.' if others else ''}"[:600],
        suspects=tuple(item.id for item in ranked[:10]),
        confidence=_confidence(case, ranked),
    )


def _confidence(case: Case, ranked: Sequence[NumberedEvidence]) -> float:
    """Return the engine's calibrated confidence; a rule may lower it but never raise it."""
    ambiguous = AMBIGUOUS if rival(ranked) is not None else 1.0
    no_source = 1.0 if is_source(ranked[0].evidence) else NO_SOURCE
    return round(min(max(case.search_confidence, 0.0), 1.0) * ambiguous * no_source, 4)


_ENOUGH = 2
"""Rare terms that a result must share with the error message."""


def read_web(case: Case, results: Sequence[NumberedEvidence]) -> WebReading:
    """Select the results about the same error."""
    messages = [trace.message or trace.error or "" for trace in case.facts.traces]
    terms = set(query_terms(" ".join((case.title, *messages, *case.facts.errors))))
    shared = {item.id: len(terms & set(query_terms(item.evidence.quote))) for item in results}
    relevant = [item for item in results if shared[item.id] >= _ENOUGH]
    relevant.sort(key=lambda item: -shared[item.id])
    if not relevant:
        return WebReading(summary="No outside result is about this error.", details="")
    where = ", ".join(str(item.evidence.locator) for item in relevant[:3])
    return WebReading(
        summary=f"{len(relevant)} results are about the same error.",
        details=f"Closest: {where}"[:600],
        relevant=tuple(item.id for item in relevant[:10]),
        confidence=0.5,
    )
