"""Cases as the rules receive them: an issue, its facts, and the results of a code search."""

from __future__ import annotations

from typing import Any

from nodes.agents.investigator import tier_of
from nodes.context.brain import Case
from nodes.evidence import Evidence, Locator, NumberedEvidence
from nodes.issue.facts import read_facts
from nodes.judgements import Investigation
from nodes.state import AgentFinding, BugTriageState, Marks, Progress, TraceEntry

SHA = "a" * 40


def place(path: str, symbol: str | None = None, *, score: float = 1.0, reasons: Any = (), quote: str = "") -> Evidence:
    """Return evidence of a place in the code, on lines 10 to 12."""
    return Evidence(
        kind="code",
        locator=Locator(path=path, start_line=10, end_line=12, sha=SHA),
        symbol=symbol,
        quote=quote or f"def {(symbol or 'body').rpartition('.')[2]}():\n    ...\n    return 1",
        score=score,
        reasons=tuple(reasons),
    )


def case(
    title: str = "", body: str = "", *places: Evidence, ran: str = "", confidence: float = 0.0, **state: Any
) -> Case:
    """Return a case; ``ran`` names the nodes that ran, in order, and ``facts`` may be known already."""
    facts = state.pop("facts", None) or read_facts(title, body)
    kind = state.pop("kind", "bug")
    reading = Investigation(problem="p", hypothesis="h", kind=kind) if "investigator" in ran else None
    finding = AgentFinding(agent_name="codebase_search", confidence=confidence, evidence=tuple(p.key for p in places))
    searched = "codebase_search" in ran
    given: dict[str, Any] = {
        "issue_title": title[:300],
        "iterations": len(ran.split()),
        "reading": reading,
        "tier": tier_of(kind, facts)[0],
        "evidence": tuple(item.key for item in places),
        "findings": (finding,) if searched else (),
        "search_confidence": confidence,
        "trace": tuple(TraceEntry(node=name, iteration=number) for number, name in enumerate(ran.split())),
        "marks": Marks(searches=int(searched), after_search=Progress(evidence=len(places)) if searched else None),
    }
    numbered = tuple(NumberedEvidence(id=f"E{number}", evidence=item) for number, item in enumerate(places, 1))
    return Case(
        state=BugTriageState(**{**given, **state}),
        title=title,
        body=body,
        facts=facts,
        evidence=numbered,
        search_confidence=confidence,
    )
