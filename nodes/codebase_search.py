"""Find the code an issue is about."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from langgraph.runtime import Runtime

from nodes.brains import is_model_asked, judge
from nodes.brains.opening import CANDIDATES as SHOWN_TO_A_MODEL
from nodes.candidates import (
    CANDIDATES,
    CANDIDATES_ON_RETRY,
    MIN_SCORE,
    MIN_SCORE_ON_RETRY,
    Candidates,
    capped_confidence,
    find_candidates,
    in_order,
    lines_of_facts,
    pointed_at,
    rescored,
)
from nodes.case import load_case, spent, traced
from nodes.code_lookups import CodeLookups
from nodes.context import Case, Context, Judged
from nodes.evidence import Evidence, NumberedEvidence
from nodes.guards import NOT_READABLE, progress
from nodes.judgements import CodeReading
from nodes.search.errors import SearchError
from nodes.search.types import Query, Ranking
from nodes.state import CORRECTION, AgentFinding, BugTriageState, TraceEntry, Update
from nodes.statement import reporter_query


@dataclass(frozen=True, slots=True)
class Gathered:
    """The search results before any judgement."""

    query: Query
    ranking: Ranking
    candidates: Candidates
    looks: CodeLookups
    case: Case


@dataclass(frozen=True, slots=True)
class Read:
    """The judgement of a brain on the search results."""

    judged: Judged[CodeReading]
    seen: tuple[NumberedEvidence, ...]
    """All evidence that the brain saw, in search order."""
    ranked: tuple[NumberedEvidence, ...]
    """The same evidence in the brain's order, best first."""
    confidence: float


async def codebase_search(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Rank the places most likely to contain the fault, with reasons."""
    started = time.perf_counter()
    context = runtime.context
    context.listener("codebase_search", "searching the code")
    try:
        gathered = await _gather(state, context)
    except SearchError as error:
        return _unreadable(state, error, started)
    read = await _judge(gathered, context)
    await context.evidence.put([item.evidence for item in read.seen])
    return {
        "findings": (_finding(read),),
        "search_confidence": read.confidence,
        "trace": (_entry(state, gathered, read, started),),
        "metrics": spent(read.judged),
    }


def _unreadable(state: BugTriageState, error: SearchError, started: float) -> Update:
    """Record that nothing was searched, because a report must not claim otherwise."""
    texts = f"The code could not be read: {error}"
    entry = TraceEntry(
        node="codebase_search",
        decision=NOT_READABLE,
        confidence=0.0,
        reason=texts[:300],
        error=str(error)[:300],
        iteration=state.iterations,
        duration_ms=round((time.perf_counter() - started) * 1000),
    )
    finding = AgentFinding(agent_name="codebase_search", summary=f"{texts}; nothing was searched."[:300])
    return {"findings": (finding,), "search_confidence": 0.0, "trace": (entry,)}


def build_query(state: BugTriageState, context: Context, pictures: str = "") -> Query:
    """Combine the issue with its pictures' words, redirects, answers, gaps and the investigator's search terms."""
    answers = tuple(exchange.answer for exchange in state.human_exchanges if exchange.answer)
    verdict = state.critic_feedback
    gaps = (*verdict.gaps, *verdict.required_evidence) if verdict and state.retry_count else ()
    terms = state.reading.search_terms if state.reading else ()
    limit = CANDIDATES_ON_RETRY if state.retry_count else CANDIDATES
    # A model sees more candidates than rules do, independent of their score.
    return Query(
        title=context.title,
        body=context.body,
        extra=(*state.redirect_instructions, *answers, *gaps, *terms, *filter(None, (pictures,))),
        limit=max(limit, SHOWN_TO_A_MODEL) if is_model_asked(context, state) else limit,
    )


async def _gather(state: BugTriageState, context: Context) -> Gathered:
    case = await load_case(state, context)
    query = build_query(state, context, case.pictures)
    ranking = await context.code.find(query)
    pointed = await _pointed(state, context)
    facts = await _lines_of_facts(state, context)
    # Numbered here as the supervisor will number them, so that a finding can cite them before they are joined.
    candidates = find_candidates(ranking, state.evidence, retry=state.retry_count > 0, pointed=pointed, facts=facts)
    seen = candidates.all if is_model_asked(context, state) else candidates.strong
    keys = [item.evidence.key for item in seen]
    looks = CodeLookups(context.code, tuple(dict.fromkeys((*state.evidence, *keys))), keys, context.listener)
    new = [item for item in seen if item.evidence.key not in state.evidence]
    case = replace(
        case,
        evidence=(*case.evidence, *new),
        search_confidence=_cap_repeated_search(state, ranking.confidence),
        looks=looks if ranking.commit else None,
    )
    return Gathered(query, ranking, candidates, looks, case)


async def _lines_of_facts(state: BugTriageState, context: Context) -> tuple[Evidence, ...]:
    """Return what a model may cite besides the places of the search; rules read the facts when they write."""
    if not is_model_asked(context, state):
        return ()
    survey = await context.code.survey(reporter_query(await load_case(state, context), CANDIDATES))
    return lines_of_facts(survey.facts, context.code.sha)


async def _pointed(state: BugTriageState, context: Context) -> tuple[Evidence, ...]:
    """Search with the text of the last redirect alone, because the words of the issue can outweigh it."""
    # A correction says what is wrong, not where to search.
    texts = [text for text in state.redirect_instructions if not text.startswith(CORRECTION)]
    if not texts:
        return ()
    return pointed_at(await context.code.find(Query(title=texts[-1], limit=CANDIDATES)), texts[-1])


def _cap_repeated_search(state: BugTriageState, confidence: float) -> float:
    """Cap the confidence of a repeated search that no new answer or redirect supports.

    A search widened by nothing but the critic's gaps finds what those gaps name, which does not support the result.
    """
    before, now = state.marks.after_search, progress(state)
    if before is None or (before.answers, before.redirects) != (now.answers, now.redirects):
        return confidence
    return min(confidence, state.search_confidence)


async def _judge(gathered: Gathered, context: Context) -> Read:
    """Ask the brain. A model sees every candidate and may make lookups; rules see the strong candidates."""
    case, candidates = gathered.case, gathered.candidates
    judged = await judge(
        context,
        case,
        lambda brain: brain.read_code(case, candidates.strong if brain is context.rules else candidates.all),
    )
    suspects = judged.value.suspects
    # After a fallback the results of the model's lookups are dropped, so the run equals one by rules.
    if not is_model_asked(context, case.state) or judged.fallback:
        ranked = in_order(candidates.strong, suspects)
        return Read(judged, candidates.strong, ranked, min(judged.value.confidence, case.search_confidence))
    seen = (*candidates.all, *gathered.looks.gathered)
    ranked = rescored(in_order(seen, suspects))
    by_id = {item.id: item for item in ranked}
    confidence = capped_confidence(judged.value, ranked, gathered.ranking, case.search_confidence)
    return Read(judged, tuple(by_id[item.id] for item in seen), ranked, confidence)


def _finding(read: Read) -> AgentFinding:
    return AgentFinding(
        agent_name="codebase_search",
        summary=read.judged.value.summary,
        details=read.judged.value.details,
        confidence=read.confidence,
        relevant_files=tuple(dict.fromkeys(str(item.evidence.locator.path) for item in read.ranked))[:10],
        evidence=tuple(item.evidence.key for item in read.seen),
        judged_by=read.judged.judged_by,
    )


def _scores(gathered: Gathered, read: Read) -> dict[str, float]:
    """Return the score threshold and the mean score of the candidates (seed 002); for a model there is no threshold."""
    looked_up = {item.id for item in gathered.looks.gathered}
    scores = [item.evidence.score for item in read.seen if item.id not in looked_up]
    lowest = MIN_SCORE_ON_RETRY if gathered.case.state.retry_count else MIN_SCORE
    used = 0.0 if read.seen == gathered.candidates.all != gathered.candidates.strong else lowest
    return {"threshold_used": used, "avg_score": round(sum(scores) / len(scores), 4) if scores else 0.0}


def _entry(state: BugTriageState, gathered: Gathered, read: Read, started: float) -> TraceEntry:
    looks = gathered.looks
    looked_up = {item.id for item in looks.gathered}
    candidates = sum(item.id not in looked_up for item in read.seen)
    counts = {
        "candidates": candidates,
        "filtered_out": max(len(gathered.ranking.locations) - candidates, 0),
        "augmented": len(gathered.query.extra),
    }
    if looks.lines:
        counts |= {"looks": len(looks.lines), "refused": looks.refused}
    if read.judged.dropped:
        counts["dropped"] = read.judged.dropped
    return traced(
        "codebase_search",
        state,
        read.judged,
        started,
        decision="found" if read.ranked else "nothing found",
        confidence=read.confidence,
        reason=read.judged.value.summary,
        counts=counts,
        scores=_scores(gathered, read),
        looks=tuple(looks.lines),
    )
