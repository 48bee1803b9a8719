"""Read the issue: certain facts, a hypothesis, missing information, and the effort that the issue justifies."""

import time

from langgraph.runtime import Runtime

from nodes.agents.case import load_case, metrics_of, trace_entry
from nodes.brains.fallback import judge
from nodes.context.ports import Context
from nodes.evidence import MAX_QUOTE, Evidence
from nodes.issue.facts import IssueFacts
from nodes.issue.kinds.model import parts_of
from nodes.issue.kinds.rare import may_be_security
from nodes.judgements import Investigation
from nodes.report import Kind
from nodes.search.git.errors import SearchError
from nodes.state import AgentFinding, BugTriageState, Tier, Update
from nodes.trust.prose import ProseCheck

_NEEDS_NO_CODE = frozenset({"question", "spam"})
MANY_COMPONENTS = 4
"""The number of different files or modules from which an issue is treated as spanning components."""


def tier_of(kind: Kind, facts: IssueFacts, judged_by: str = "rules") -> tuple[Tier, str]:
    """Choose a tier, with the signal for it: simple issues end here, and complex ones get the strongest model.

    A model searches for the place of a feature's change as well; the writer by rules does so itself.
    """
    if kind in _NEEDS_NO_CODE or (kind == "feature" and judged_by == "rules"):
        return "simple", kind
    if not (facts.words or facts.traces or facts.errors or facts.code_blocks):
        return "simple", "empty"
    if len({*facts.paths, *facts.modules}) >= MANY_COMPONENTS:
        return "complex", "several components"
    if len({trace.language for trace in facts.traces}) > 1:
        return "complex", "traces of different programs"
    if not (facts.traces or facts.errors or facts.symbols):
        return "complex", "no trace, error or name"
    return "medium", "a trace, an error or a name to search for"


async def investigator(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """State the problem, a hypothesis and what the issue lacks."""
    started = time.perf_counter()
    context = runtime.context
    evidence = _from_the_issue(context)
    await context.evidence.put(evidence)
    case = await load_case(state, context)
    judged = await judge(context, case, lambda brain: brain.investigate(case))
    reading = judged.value if judged.judged_by == "rules" else await _confirmed(judged.value, context)
    # If unsure, the rules overrule the brain: the publication of a vulnerable place cannot be undone.
    if may_be_security(parts_of(context.title, context.body)):
        reading = reading.model_copy(update={"kind": "security"})
    missing = f" Missing: {'; '.join(reading.missing)}." if reading.missing else ""
    finding = AgentFinding(
        agent_name="investigator",
        summary=reading.problem,
        details=f"{reading.hypothesis or 'The text names no part of the code.'}{missing}"[:600],
        confidence=reading.confidence,
        relevant_files=context.facts.paths[:10],
        evidence=tuple(item.key for item in evidence),
        judged_by=judged.judged_by,
    )
    facts = context.facts
    tier, signal = tier_of(reading.kind, facts, judged.judged_by)
    entry = trace_entry(
        "investigator",
        state,
        started,
        judged,
        decision=reading.kind,
        confidence=reading.confidence,
        reason=f"{tier} ({signal}). {reading.hypothesis}"[:300],
        counts={"traces": len(facts.traces), "errors": len(facts.errors), "missing": len(reading.missing)},
    )
    found: Update = {"findings": (finding,), "reading": reading, "tier": tier}
    return {**found, "trace": (entry,), "metrics": metrics_of(judged)}


async def _confirmed(reading: Investigation, context: Context) -> Investigation:
    """Return a model's reading without statements about code that does not exist; rules may repeat it in a report."""
    prose = ProseCheck(context.code, (context.title, context.body))
    try:
        missing, reason = await prose.lines(reading.missing), await prose.text(reading.severity_reason)
    # Without the code no name can be confirmed, so nothing that the model wrote is used.
    except SearchError:
        missing, reason = (), ""
    return reading.model_copy(update={"missing": missing, "severity_reason": reason})


def _from_the_issue(context: Context) -> list[Evidence]:
    """Return traces and error messages verbatim, so that a program can find them in the issue again."""
    full_text = f"{context.title}\n{context.body}"
    found = [
        Evidence(kind="trace", quote=context.body[trace.start : trace.end][:MAX_QUOTE], score=1.0)
        for trace in context.facts.traces[:4]
    ]
    errors = [Evidence(kind="issue", quote=error[:MAX_QUOTE], score=0.8) for error in context.facts.errors[:4]]
    return [item for item in (*found, *errors) if item.quote.strip() and item.quote in full_text]
