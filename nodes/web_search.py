"""Look outside the repository for what an error or a dependency is known for."""

from __future__ import annotations

import time

from langgraph.runtime import Runtime

from nodes.brains import judge
from nodes.case import load_case, spent, traced
from nodes.context import Context
from nodes.evidence import NumberedEvidence
from nodes.state import AgentFinding, BugTriageState, Update

RESULTS = 5
MAX_QUERY = 200


async def web_search(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Search for the error or, without one, the title, and judge what comes back."""
    began = time.perf_counter()
    context = runtime.context
    query = (context.facts.errors[0] if context.facts.errors else context.title)[:MAX_QUERY]
    results = list(await context.web.search(query, RESULTS)) if context.web else []
    await context.evidence.put(results)
    known = tuple(dict.fromkeys((*state.evidence, *(item.key for item in results))))
    case = await load_case(state.model_copy(update={"evidence": known}), context)
    numbered = tuple(NumberedEvidence(id=f"E{known.index(item.key) + 1}", evidence=item) for item in results)
    judged = await judge(context, case, lambda brain: brain.read_web(case, numbered))
    reading = judged.value
    finding = AgentFinding(
        agent_name="web_search",
        summary=reading.summary,
        details=reading.details,
        confidence=reading.confidence,
        evidence=tuple(item.evidence.key for item in numbered if item.id in reading.relevant),
        judged_by=judged.judged_by,
    )
    entry = traced(
        "web_search",
        state,
        judged,
        began,
        decision="found" if results else "nothing found",
        confidence=reading.confidence,
        reason=reading.summary,
        counts={"results": len(results)},
    )
    return {"findings": (finding,), "trace": (entry,), "metrics": spent(judged)}
