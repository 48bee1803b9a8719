"""Find the code an issue is about."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from langgraph.runtime import Runtime

from nodes.agents.case import load_case, metrics_of, trace_entry
from nodes.agents.code.candidates import (
    CANDIDATES,
    CANDIDATES_ON_RETRY,
    POINTED,
    find_candidates,
    in_order,
    lines_of_facts,
    list_files,
    pointed_at,
    rescored,
)
from nodes.agents.code.record import Gathered, Read, entry_of, finding_of, unreadable
from nodes.agents.code.tools import CodeTools
from nodes.agents.writing.explanation import is_explained
from nodes.agents.writing.statement import reporter_query
from nodes.brains import is_model_asked, judge
from nodes.brains.conversation import LISTED
from nodes.context import Context
from nodes.context.agreement import Opinions, confidence_of, support_of
from nodes.evidence import Evidence, NumberedEvidence, as_evidence, is_citable, quoted
from nodes.guards import is_rejected, people_added
from nodes.judgements import CodeReading
from nodes.search.git.errors import SearchError
from nodes.search.issue.mentions import find_mentions
from nodes.search.types import Passage, Query, Ranking, Survey
from nodes.state import CORRECTION, BugTriageState, TraceEntry, Update

_NAMES, _FEW, _AROUND = 6, 2, 6
"""Names that are looked up, definitions of a name that are quoted, and lines around a named line."""
_PLACES = 6
_SCORE = 0.4
"""The score of these places: below the score of places that the model read and ranked first."""


async def codebase_search(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Rank the places most likely to contain the fault, with reasons."""
    started = time.perf_counter()
    context = runtime.context
    context.listener("codebase_search", "searching the code")
    if _is_read(state, context) and not _objected(state):
        return {"trace": (_unchanged(state, started),)}
    try:
        gathered = await _gather(state, context)
    except SearchError as error:
        return unreadable(state, error, started)
    read = await _judge(gathered, context)
    await context.evidence.put([item.evidence for item in read.seen])
    return {
        "findings": (finding_of(read),),
        "search_confidence": read.confidence,
        "search_support": read.support,
        "search_prefers": read.search_prefers,
        "trace": (entry_of(state, gathered, read, started),),
        "metrics": metrics_of(read.judged),
    }


def build_query(state: BugTriageState, context: Context) -> Query:
    """Combine the issue with redirects, answers, gaps and the investigator's search terms."""
    verdict = state.critic_feedback
    # What a model's reading lacks is looked up by itself, because these words would move the search's own places.
    objects = verdict is not None and (state.retry_count or is_rejected(state)) and not _is_read(state, context)
    gaps = (*verdict.gaps, *verdict.required_evidence) if verdict is not None and objects else ()
    terms = state.reading.search_terms if state.reading else ()
    limit = CANDIDATES_ON_RETRY if state.retry_count else CANDIDATES
    # A model may choose among more files than rules do.
    return Query(
        title=context.title,
        body=context.body,
        extra=(*state.redirect_instructions, *state.answers, *gaps, *terms),
        limit=max(limit, LISTED) if is_model_asked(context, state) else limit,
    )


async def _gather(state: BugTriageState, context: Context) -> Gathered:
    case, asked = await load_case(state, context), is_model_asked(context, state)
    query = build_query(state, context)
    ranking = await context.code.find(query)
    pointed = await _pointed(state, context)
    # Rules read the facts when they write; a model may cite their lines besides the places of the search.
    survey = await context.code.survey(reporter_query(case, CANDIDATES)) if asked else Survey()
    facts = lines_of_facts(survey.facts, context.code.sha)
    files = await list_files(context, query, ranking=ranking, pointed=pointed, survey=survey) if asked else ()
    # Numbered here as the supervisor will number them, so that a finding can cite them before they are joined.
    candidates = find_candidates(ranking, state.evidence, retry=state.retry_count > 0, pointed=pointed, facts=facts)
    seen = candidates.all if asked else candidates.strong
    keys = [item.evidence.key for item in seen]
    tools = CodeTools(context.code, tuple(dict.fromkeys((*state.evidence, *keys))), context.listener, query)
    objected = _is_read(state, context)
    looked_up = tools.take(await look_up_objections(state, context, tools)) if objected else None
    new = [item for item in (*seen, *(looked_up or ())) if item.evidence.key not in state.evidence]
    case = replace(
        case,
        evidence=(*case.evidence, *new),
        looked_up=looked_up,
        search_confidence=_cap_repeated_search(state, _search_confidence(ranking, survey)),
        files=files,
        tools=tools if ranking.commit else None,
    )
    return Gathered(query, ranking, candidates, tools, case)


def _search_confidence(ranking: Ranking, survey: Survey) -> float:
    """Return the probability of the first file, with facts if these were found for the same file."""
    same = bool(survey.paths and ranking.files) and survey.paths[0] == ranking.files[0].path
    return survey.confidence if same else ranking.confidence


async def _pointed(state: BugTriageState, context: Context) -> tuple[Evidence, ...]:
    """Search with the text of the last redirect alone, because the words of the issue can outweigh it."""
    # A correction says what is wrong, not where to search.
    texts = [text for text in state.redirect_instructions if not text.startswith(CORRECTION)]
    if not texts:
        return ()
    return pointed_at(await context.code.find(Query(title=texts[-1], limit=CANDIDATES)), texts[-1])


def _cap_repeated_search(state: BugTriageState, confidence: float) -> float:
    """Cap the confidence of a repeated search that no new answer or redirect supports.

    A search that only the critic's gaps widened finds what those gaps name, which does not support the result.
    """
    before = state.marks.after_search
    repeated = before is not None and not people_added(state, before)
    return min(confidence, state.search_confidence) if repeated else confidence


async def _judge(gathered: Gathered, context: Context) -> Read:
    """Ask the brain. A model reads the code with tools; rules see the strong candidates."""
    case, candidates = gathered.case, gathered.candidates
    judged = await judge(
        context,
        case,
        lambda brain: brain.read_code(case, candidates.strong if brain is context.rules else candidates.all),
    )
    suspects = judged.value.suspects
    # After a fallback what the model cited is dropped, so the run equals one by rules.
    if not is_model_asked(context, case.state) or judged.fallback:
        ranked = in_order(candidates.strong, suspects)
        return Read(judged, candidates.strong, ranked, min(judged.value.confidence, case.search_confidence))
    cited = judged.value.submitted.cited if judged.value.submitted is not None else ()
    named = {*suspects, *cited} - {item.id for item in candidates.all}
    # A model may cite again what an earlier reading found.
    again = (item for item in case.evidence if item.id in named)
    seen = (*candidates.all, *again, *gathered.tools.gathered)
    # What the model cites comes before what only the search found, so that later readers see it.
    ranked = rescored(in_order(seen, (*suspects, *cited)))
    by_id = {item.id: item for item in ranked}
    prefers = _search_prefers(judged.value, ranked, gathered)
    shown = tuple(by_id[item.id] for item in seen)
    if not suspects:
        return Read(judged, shown, ranked, 0.0, 0.0, prefers)
    reading = judged.value
    opinions = Opinions(
        case.search_confidence,
        reading.confidence,
        agree=not prefers,
        read=reading.has_read_first is True,
        explained=is_explained(reading.submitted, by_id, f"{case.title}\n{case.body}"),
    )
    confidence, support = confidence_of(opinions, context.agreement), support_of(opinions, context.agreement)
    return Read(judged, shown, ranked, confidence, support, prefers, opinions)


def _search_prefers(reading: CodeReading, ranked: Sequence[NumberedEvidence], gathered: Gathered) -> str:
    """Return the search's first file; empty if the model ranks first that file or a place that a maintainer named."""
    files = gathered.ranking.files
    if not reading.suspects or not files:
        return ""
    # The same file, not the same place: the search's probability is about files.
    first = ranked[0].evidence
    return "" if first.locator.path == files[0].path or POINTED in first.reasons else files[0].path[:300]


def _is_read(state: BugTriageState, context: Context) -> bool:
    """Return whether a model read the code and no answer or redirect arrived since; it would see the same code."""
    before = state.marks.after_search
    if before is None or not is_model_asked(context, state):
        return False
    return bool(state.readings) and not people_added(state, before)


def _objected(state: BugTriageState) -> bool:
    """Return whether the critic or the check of a draft rejected something since the code was last searched."""
    nodes = [entry.node for entry in state.trace]
    since = state.trace[len(nodes) - nodes[::-1].index("codebase_search") :]
    return any((entry.node, entry.decision) in (("critic", "REJECTED"), ("writer", "retry")) for entry in since)


def _unchanged(state: BugTriageState, started: float) -> TraceEntry:
    """Return the step of a search after a model's reading without an objection: it would read the same again."""
    before = next(step for step in reversed(state.trace) if step.node == "codebase_search")
    confidence, counts = state.search_confidence, before.counts
    return trace_entry("codebase_search", state, started, decision="nothing new", confidence=confidence, counts=counts)


async def look_up_objections(state: BugTriageState, context: Context, tools: CodeTools) -> tuple[Evidence, ...]:
    """Return places that were not evidence before: the definitions, lines and files that the objections name.

    Args:
        state: the run.
        context: what the run may call.
        tools: the code of the commit.
    """
    named = find_mentions("\n".join(_texts(state)))
    exact = [item for name in named.symbols[:_NAMES] for item in await _defined(name, context)]
    for path, first, last in named.lines[:_NAMES]:
        lookup = await context.code.lines(path, max(1, first - _AROUND), last + _AROUND)
        exact += _quoted(lookup.passages if lookup is not None else (), context)
    sketches = await tools.sketched(named.paths)
    exact += [
        as_evidence(place.location, context.code.sha, _SCORE) for sketch in sketches for place in sketch.places[:1]
    ]
    citable = {item.key: item for item in exact if is_citable(str(item.locator.path), item.quote)}
    return tuple(one for key, one in citable.items() if key not in state.evidence)[:_PLACES]


async def _defined(name: str, context: Context) -> list[Evidence]:
    found = await context.code.definitions(name)
    return _quoted(found.passages if found.total <= _FEW else (), context)


def _quoted(passages: Iterable[Passage], context: Context) -> list[Evidence]:
    citable = (passage for passage in passages if is_citable(passage.path, passage.quote))
    return [quoted(passage, context.code.sha, _SCORE, "looked up for an objection") for passage in citable]


def _texts(state: BugTriageState) -> tuple[str, ...]:
    """Return the objections, what the critic would rather look at first."""
    verdict, audit = state.critic_feedback, state.metrics.last_citation_audit
    asked = verdict if is_rejected(state) else None
    texts = [asked.better_place, *asked.required_evidence, *asked.gaps] if asked is not None else []
    # The dropped sentence follows the colon.
    texts += [line.rpartition(": ")[2] for line in audit.dropped] if audit is not None and state.retry_count else []
    return tuple(filter(None, texts))
