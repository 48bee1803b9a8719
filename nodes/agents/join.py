"""Join the findings of specialists that ran in parallel, once per round."""

import time
from collections.abc import Sequence
from fractions import Fraction

from langgraph.runtime import Runtime

from nodes.agents.case import trace_entry
from nodes.context.ports import Context
from nodes.guards import NOTHING_JOINED
from nodes.state import JOIN, AgentFinding, BugTriageState, Update

_MAX_REASON = 160
"""Characters; a long run has about twenty of these summaries."""


async def join(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Combine the round's findings. Partial results count, and failures are named."""
    started = time.perf_counter()
    names = (str(state.next_node), *state.also)
    entries = [entry for entry in state.trace if entry.node in names and entry.iteration == state.iterations]
    failed = [entry.node for entry in entries if entry.decision == "failed"]
    findings = [finding for finding in state.findings[-len(names) :] if finding.agent_name in names]
    confidence = round(joint_confidence(findings), 4)
    answered = (f"{one.agent_name} {one.confidence:.0%}" for one in findings if one.agent_name not in failed)
    failures = f"; no answer from {', '.join(failed)}" if failed else ""
    message = f"Together: {', '.join(answered) or 'nothing'}{failures}."[:_MAX_REASON]
    runtime.context.listener(JOIN, message)
    entry = trace_entry(
        JOIN,
        state,
        started,
        decision=NOTHING_JOINED if len(failed) == len(entries) else "joined",
        confidence=confidence,
        reason=message,
        counts={
            "specialists": len(names),
            "failed": len(failed),
            "sources": len({key for finding in findings for key in finding.evidence}),
        },
    )
    finding = AgentFinding(agent_name=JOIN, summary=message, confidence=confidence)
    return {"findings": (finding,), "trace": (entry,)}


def joint_confidence(findings: Sequence[AgentFinding]) -> float:
    """Return the evidence-weighted mean of the findings' confidences.

    ``c_i`` is the confidence of finding i, and ``S_i`` is the set of its distinct evidence::

        w_i = sum over s in S_i of 1 / (number of findings that cite s)
        c   = sum(w_i * c_i) / sum(w_i),  and 0 if no finding cites evidence

    Evidence that several findings cite counts once in total, so repeating it adds no weight. A finding without
    evidence, such as a failed one, does not change the mean. The mean lies between the lowest and the highest
    confidence of the findings that count, and does not depend on their order.
    """
    # Fractions are exact, so the order of the findings cannot change the result.
    sources = [frozenset(finding.evidence) for finding in findings]
    shared = {key: sum(key in rests for rests in sources) for rests in sources for key in rests}
    weights = [sum((Fraction(1, shared[key]) for key in rests), Fraction()) for rests in sources]
    whole = sum(weights, Fraction())
    if not whole:
        return 0.0
    weighed = sum(weight * Fraction(finding.confidence) for weight, finding in zip(weights, findings, strict=True))
    return float(weighed / whole)
