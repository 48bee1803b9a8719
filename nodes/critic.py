"""Try to refute the findings before the report is written."""

from __future__ import annotations

import time

from langgraph.runtime import Runtime

from nodes.brains import judge
from nodes.case import load_case, spent, traced
from nodes.context import Case, Context, Judged
from nodes.guards import progress
from nodes.judgements import Audit
from nodes.sources import OUTSIDE
from nodes.state import AgentFinding, BugTriageState, CriticVerdict, Update
from nodes.trust.statements import cited_in


async def critic(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Re-read the evidence, then ask for a second opinion; the writer runs only after an approval."""
    started = time.perf_counter()
    context = runtime.context
    case = await load_case(state, context)
    # Before the brain judges: a check by code needs no opinion.
    changed = await _unreadable(case, context)
    judged = await judge(context, case, lambda brain: brain.audit(case))
    audit = judged.value
    contradictions = _grounded(judged, case)
    # Evidence that changed leads to a rejection in code, independent of the brain's judgement.
    gaps = (*(f"{name} no longer matches its quote" for name in changed), *audit.gaps)[:4]
    verdict = CriticVerdict(
        verdict="APPROVED" if audit.approved and not changed else "REJECTED",
        gaps=gaps,
        required_evidence=audit.required_evidence,
        contradictions=contradictions,
        confidence=audit.confidence,
        on_evidence=progress(state),
    )
    finding = AgentFinding(
        agent_name="critic",
        summary=f"Verdict: {verdict.verdict}",
        details=_details(verdict),
        confidence=verdict.confidence,
        judged_by=judged.judged_by,
    )
    entry = traced(
        "critic",
        state,
        judged,
        started,
        decision=verdict.verdict,
        confidence=verdict.confidence,
        reason="; ".join(gaps)[:300],
        counts={"gaps": len(gaps), "contradictions": len(verdict.contradictions), "unreadable": len(changed)},
    )
    return {
        "findings": (finding,),
        "critic_feedback": verdict,
        "trace": (entry,),
        "metrics": spent(judged),
    }


async def _unreadable(case: Case, context: Context) -> list[str]:
    """Return the ids of code evidence whose quote does not match the file at the commit."""
    changed = []
    for item in case.evidence:
        where = item.evidence.locator
        if item.evidence.kind != "code" or where.path is None or where.start_line is None or where.end_line is None:
            continue
        if await context.code.read(where.path, where.start_line, where.end_line) != item.evidence.quote:
            changed.append(item.id)
    return changed


def _grounded(judged: Judged[Audit], case: Case) -> tuple[str, ...]:
    """Return the contradictions that cite gathered evidence; an opinion alone must not block a sound report.

    Evidence from outside the repository does not count either, because strangers write it.
    """
    if judged.judged_by == "rules":
        return judged.value.contradictions
    gathered = {item.id for item in case.evidence if item.evidence.kind not in OUTSIDE}
    return tuple(
        contradiction for contradiction in judged.value.contradictions if gathered & set(cited_in(contradiction))
    )


def _details(verdict: CriticVerdict) -> str:
    gaps = "; ".join(verdict.gaps) or "none"
    contradictions = "; ".join(verdict.contradictions) or "none"
    return f"Gaps: {gaps}. Contradictions: {contradictions}."[:600]
