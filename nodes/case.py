"""Gather what a brain sees before it is asked."""

from __future__ import annotations

from typing import Any

from nodes.context import Case, Context, Judged
from nodes.evidence import NumberedEvidence
from nodes.state import BugTriageState, Metrics


async def load_case(state: BugTriageState, context: Context) -> Case:
    """The state with the issue's whole text, its facts, and the evidence under its short numbers."""
    known = await context.evidence.get(state.evidence)
    numbered = tuple(
        NumberedEvidence(id=f"E{number}", evidence=known[key])
        for number, key in enumerate(state.evidence, 1)
        if key in known
    )
    return Case(
        state=state,
        title=context.title,
        body=context.body,
        facts=context.facts,
        evidence=numbered,
        search_confidence=state.search_confidence,
    )


def spent(judged: Judged[Any]) -> Metrics:
    """What a judgement adds to the run's metrics."""
    return Metrics(usage=judged.usage, fallbacks=(judged.fallback,) if judged.fallback else ())
