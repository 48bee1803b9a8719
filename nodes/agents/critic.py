"""Try to refute the findings before the report is written."""

import time
from dataclasses import replace

from langgraph.runtime import Runtime

from nodes.agents.case import load_case, metrics_of, trace_entry
from nodes.brains.fallback import is_model_asked, judge
from nodes.brains.fence import estimate
from nodes.context.brain import Case
from nodes.context.ports import Context
from nodes.evidence import Evidence, Locator
from nodes.guards import progress
from nodes.judgements import Audit
from nodes.search.types import Passage
from nodes.sources.protocol import OUTSIDE
from nodes.state import AgentFinding, BugTriageState, CriticVerdict, Update
from nodes.trust.citations import still_matches
from nodes.trust.prose import ProseCheck
from nodes.trust.secrets import mask
from nodes.trust.statements import cited_in

_FUNCTIONS, _BODY = 2, 400
"""Functions that a model receives, and maximum tokens of each."""
_BEFORE, _AFTER, _AROUND = 10, 18, 6
"""Lines of a function before and after a quote, and around one outside of functions."""


async def critic(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Re-read the evidence, then ask for a second opinion; the writer runs only after an approval."""
    started = time.perf_counter()
    context = runtime.context
    case = await load_case(state, context)
    # Before the brain judges: a check by code needs no opinion.
    changed = await _unreadable(case, context)
    if is_model_asked(context, state):
        case = replace(case, bodies=await _first_functions(case, context))
    judged = await judge(context, case, lambda brain: brain.audit(case))
    audit = judged.value if judged.judged_by == "rules" else await _confirmed(judged.value, case, context)
    # Evidence that changed leads to a rejection, independent of the brain's judgement.
    approved = audit.approved and not changed
    verdict = CriticVerdict(
        verdict="APPROVED" if approved else "REJECTED",
        gaps=(*(f"{name} no longer matches its quote" for name in changed), *audit.gaps)[:4],
        # An approval ends the reading, so nothing more is looked up.
        required_evidence=() if approved else audit.required_evidence,
        contradictions=audit.contradictions,
        better_place=audit.better_place,
        confidence=audit.confidence,
        on_evidence=progress(state),
    )
    gaps, contradictions = ("; ".join(texts) or "none" for texts in (verdict.gaps, verdict.contradictions))
    required = f" Required evidence: {'; '.join(verdict.required_evidence)}." if verdict.required_evidence else ""
    finding = AgentFinding(
        agent_name="critic",
        summary=f"Verdict: {verdict.verdict}",
        details=f"Gaps: {gaps}. Contradictions: {contradictions}.{required}"[:600],
        confidence=verdict.confidence,
        judged_by=judged.judged_by,
    )
    entry = trace_entry(
        "critic",
        state,
        started,
        judged,
        decision=verdict.verdict,
        confidence=verdict.confidence,
        reason="; ".join(verdict.gaps)[:300],
        counts={"gaps": len(verdict.gaps), "contradictions": len(verdict.contradictions), "unreadable": len(changed)},
    )
    return {"findings": (finding,), "critic_feedback": verdict, "trace": (entry,), "metrics": metrics_of(judged)}


async def _unreadable(case: Case, context: Context) -> list[str]:
    """Return the ids of code evidence whose quote does not match the file at the commit."""
    code = [item for item in case.evidence if item.evidence.kind == "code" and item.evidence.locator.path]
    return [item.id for item in code if not await still_matches(item.evidence, context.code, "")]


async def _first_functions(case: Case, context: Context) -> dict[str, Passage]:
    """Return the code around the first two places, at most their functions, by the ids of their evidence."""
    code = [item for item in case.evidence if item.evidence.kind == "code"]
    bodies, seen = dict[str, Passage](), set[tuple[str, int]]()
    for item in sorted(code, key=lambda item: -item.evidence.score):
        begins, around = await _around(item.evidence, context)
        if around is not None and (around.path, begins) not in seen:
            seen.add((around.path, begins))
            bodies[item.id] = _shortened(around, item.evidence.locator)
        if len(bodies) == _FUNCTIONS:
            break
    return bodies


async def _around(evidence: Evidence, context: Context) -> tuple[int, Passage | None]:
    """Return where the definition that is quoted begins, and the lines of it around the quote."""
    where = evidence.locator
    path, start, end = str(where.path), where.start_line or 1, where.end_line or 1
    span = (await context.code.definitions(evidence.symbol)).span(path, start) if evidence.symbol else None
    if span is not None:
        first, last = max(span[0], start - _BEFORE), min(span[1], end + _AFTER)
        text = await context.code.read(path, first, last)
        if text is not None:
            return span[0], Passage(path, first, last, text)
    lookup = await context.code.lines(path, max(1, start - _AROUND), end + _AROUND)
    passage = lookup.passages[0] if lookup is not None and lookup.passages else None
    return (passage.start_line if passage is not None else start), passage


def _shortened(around: Passage, quoted: Locator) -> Passage:
    """Return the passage within its tokens, without the lines that are furthest from the quoted ones."""
    first, last, lines = around.start_line, around.end_line, around.quote.split("\n")
    above, below = max(0, (quoted.start_line or first) - first), max(0, last - (quoted.end_line or last))
    while above + below > 0 and estimate("\n".join(lines)) > _BODY:
        lines, first, above, last, below = (
            (lines[1:], first + 1, above - 1, last, below)
            if above > below
            else (lines[:-1], first, above, last - 1, below - 1)
        )
    return Passage(around.path, first, last, mask("\n".join(lines)))


async def _confirmed(audit: Audit, case: Case, context: Context) -> Audit:
    """Return a model's audit without statements about code that does not exist, because its gaps may be published.

    A contradiction must cite gathered evidence of the repository: an opinion, or the words of strangers, must not block
    a sound report.
    """
    evidence = [f"{item.evidence.quote} {item.evidence.locator.path or ''}\n" for item in case.evidence]
    paths = [item.evidence.locator.path for item in case.evidence if item.evidence.locator.path]
    prose = ProseCheck(context.code, (case.title, case.body, *evidence), paths)
    lists = {name: await prose.lines(getattr(audit, name)) for name in ("gaps", "required_evidence", "contradictions")}
    gathered = {item.id for item in case.evidence if item.evidence.kind not in OUTSIDE}
    lists["contradictions"] = tuple(line for line in lists["contradictions"] if gathered & set(cited_in(line)))
    return audit.model_copy(update={**lists, "better_place": await _existing(audit.better_place, case, context)})


async def _existing(place: str, case: Case, context: Context) -> str:
    """Return the place as a path or name of this commit; empty if the commit has neither."""
    name = place.strip(" `'\"[]().")
    known = {item.id: item.evidence for item in case.evidence if item.evidence.kind == "code"}
    if found := known.get(name.upper()):
        return f"`{found.symbol or found.locator.path}`"[:300]
    exists = await context.code.text(name) is not None or (await context.code.definitions(name)).total
    return f"`{name}`"[:300] if exists else ""
