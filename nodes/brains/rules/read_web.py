"""Judge what was found outside the repository."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.context import Case
from nodes.evidence import NumberedEvidence
from nodes.judgements import WebReading
from nodes.search.tokens import query_terms

_ENOUGH = 2
"""Rare terms that a result must share with the error message."""


def read_web(case: Case, results: Sequence[NumberedEvidence]) -> WebReading:
    """Keep the results that speak of the same error."""
    messages = [trace.message or trace.error or "" for trace in case.facts.traces]
    wanted = set(query_terms(" ".join((case.title, *messages, *case.facts.errors))))
    shared = {item.id: len(wanted & set(query_terms(item.evidence.quote))) for item in results}
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
