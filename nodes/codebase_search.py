"""Find the code an issue is about."""

from __future__ import annotations

import time
from dataclasses import replace

from langgraph.runtime import Runtime

from nodes.brains import judge
from nodes.case import load_case, spent, traced
from nodes.context import Case, Context
from nodes.evidence import MAX_QUOTE, Evidence, Locator, NumberedEvidence
from nodes.guards import progress
from nodes.search.types import Location, Query, Ranking
from nodes.state import AgentFinding, BugTriageState, Update

MIN_SCORE, MIN_SCORE_ON_RETRY = 0.60, 0.55
"""Seed 002, MIN_SCORE_THRESHOLD: candidates below this share of the best one's score are dropped."""
CANDIDATES, CANDIDATES_ON_RETRY = 10, 20
"""Seed 002: how many are fetched at first, and when the draft came back."""


async def codebase_search(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Rank the places most likely to hold the fault, and say why."""
    began = time.perf_counter()
    context = runtime.context
    context.listener("codebase_search", "searching the code")
    query = build_query(state, context)
    ranking = await context.code.find(query)
    candidates = _candidates(ranking, retry=state.retry_count > 0)
    await context.evidence.put(candidates)
    case, numbered = await _with_candidates(state, context, candidates, _no_surer_by_itself(state, ranking.confidence))
    judged = await judge(context, case, lambda brain: brain.read_code(case, numbered))
    reading = judged.value
    sure = case.search_confidence
    order = {name: place for place, name in enumerate(reading.suspects)}
    ranked = sorted(numbered, key=lambda item: order.get(item.id, len(order)))
    confidence = min(reading.confidence, sure)
    finding = AgentFinding(
        agent_name="codebase_search",
        summary=reading.summary,
        details=reading.details,
        confidence=confidence,
        relevant_files=tuple(dict.fromkeys(str(item.evidence.locator.path) for item in ranked))[:10],
        evidence=tuple(item.evidence.key for item in numbered),
        judged_by=judged.judged_by,
    )
    entry = traced(
        "codebase_search",
        state,
        judged,
        began,
        decision="found" if ranked else "nothing found",
        confidence=confidence,
        reason=reading.summary,
        counts={
            "candidates": len(ranked),
            "filtered_out": max(len(ranking.locations) - len(ranked), 0),
            "augmented": len(query.extra),
        },
    )
    return {
        "findings": (finding,),
        "search_confidence": confidence,
        "trace": (entry,),
        "metrics": spent(judged),
    }


def build_query(state: BugTriageState, context: Context) -> Query:
    """The issue, and what came later: redirects, answers, the critic's gaps, the investigator's terms."""
    answers = tuple(exchange.answer for exchange in state.human_exchanges if exchange.answer)
    verdict = state.critic_feedback
    gaps = (*verdict.gaps, *verdict.required_evidence) if verdict and state.retry_count else ()
    terms = state.reading.search_terms if state.reading else ()
    return Query(
        title=context.title,
        body=context.body,
        extra=(*state.redirect_instructions, *answers, *gaps, *terms),
        limit=CANDIDATES_ON_RETRY if state.retry_count else CANDIDATES,
    )


def _no_surer_by_itself(state: BugTriageState, confidence: float) -> float:
    """A search widened by the critic's gaps alone finds what it was told to find; that is no support for it."""
    before, now = state.marks.after_search, progress(state)
    if before is None or (before.answers, before.redirects) != (now.answers, now.redirects):
        return confidence
    return min(confidence, state.search_confidence)


def _candidates(ranking: Ranking, *, retry: bool) -> list[Evidence]:
    best = max((location.score for location in ranking.locations), default=0.0)
    if best <= 0:
        return []
    lowest = MIN_SCORE_ON_RETRY if retry else MIN_SCORE
    kept = [place for place in ranking.locations if place.score / best >= lowest and _is_quotable(place)]
    return [_evidence(place, ranking.commit, place.score / best) for place in kept]


def _is_quotable(place: Location) -> bool:
    """A blank quote proves nothing, and a long one outgrows the state."""
    return bool(place.quote.strip()) and len(place.quote) <= MAX_QUOTE


def _evidence(place: Location, sha: str, score: float) -> Evidence:
    return Evidence(
        kind="code",
        locator=Locator(path=place.path, start_line=place.quote_start, end_line=place.quote_end, sha=sha),
        symbol=place.symbol,
        quote=place.quote,
        score=round(score, 4),
        reasons=tuple(reason.text[:200] for reason in place.reasons if reason.kind != "prior")[:4],
    )


async def _with_candidates(
    state: BugTriageState, context: Context, candidates: list[Evidence], confidence: float
) -> tuple[Case, tuple[NumberedEvidence, ...]]:
    """The case as it will stand once the supervisor has numbered the candidates.

    New evidence is numbered after what is known, in the order of finding, which is what the supervisor does too
    when no other specialist ran beside; the brain's numbers are translated to content keys before they are kept.
    """
    known = dict.fromkeys((*state.evidence, *(item.key for item in candidates)))
    numbers = {key: f"E{number}" for number, key in enumerate(known, 1)}
    case = await load_case(state.model_copy(update={"evidence": tuple(known)}), context)
    numbered = tuple(NumberedEvidence(id=numbers[item.key], evidence=item) for item in candidates)
    return replace(case, search_confidence=confidence), numbered
