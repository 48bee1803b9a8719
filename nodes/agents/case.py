"""Build the input of a brain."""

import time
from typing import Any

from nodes.context.brain import Case, Judged
from nodes.context.ports import Context
from nodes.evidence import NumberedEvidence
from nodes.guards import may_be_asked
from nodes.issue.facts import read_facts
from nodes.state import BugTriageState, Metrics, TraceEntry


async def load_case(state: BugTriageState, context: Context) -> Case:
    """Return the state with the issue's whole text, its facts, and the evidence under its short numbers."""
    known = await context.evidence.get(state.evidence)
    keys = enumerate(state.evidence, 1)
    numbered = tuple(NumberedEvidence(id=f"E{at}", evidence=known[key]) for at, key in keys if key in known)
    added = (*state.answers, *state.redirect_instructions)
    return Case(
        state=state,
        title=context.title,
        body=context.body,
        # Later text from people is parsed like the body.
        facts=read_facts(context.title, "\n\n".join((context.body, *added))) if added else context.facts,
        compress_from=context.compress_from,
        evidence=numbered,
        search_confidence=state.search_confidence,
        language=context.language,
        forms=await context.code.forms(),
        sources=tuple(info for info in context.outside.infos if may_be_asked(state, info.name)),
    )


def metrics_of(judged: Judged[Any]) -> Metrics:
    """Return a judgement's contribution to the run's metrics."""
    fallbacks = (judged.fallback,) if judged.fallback else ()
    remarks = tuple(remark[:300] for remark in judged.remarks)
    return Metrics(usage=judged.usage, fallbacks=fallbacks, claims_dropped=judged.dropped, remarks=remarks)


def trace_entry(
    node: str,
    state: BugTriageState,
    began: float,
    judged: Judged[Any] | None = None,
    *,
    decision: str,
    confidence: float | None,
    reason: str = "",
    counts: dict[str, int] | None = None,
    scores: dict[str, float] | None = None,
    looks: tuple[str, ...] = (),
    error: str | None = None,
) -> TraceEntry:
    """Return the trace entry of a node: its decision, the brain and the time since ``began`` (``perf_counter``)."""
    compressed = {"context_compressed": 1} if judged is not None and judged.compressed else {}
    return TraceEntry(
        node=node,
        decision=decision,
        confidence=confidence,
        reason=reason[:300],
        counts={**(counts or {}), **compressed},
        scores=scores or {},
        looks=looks,
        judged_by=judged.judged_by if judged is not None else "rules",
        error=judged.fallback if judged is not None else error,
        iteration=state.iterations,
        duration_ms=round((time.perf_counter() - began) * 1000),
    )
