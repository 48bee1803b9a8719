"""Find the code an issue is about."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from langgraph.runtime import Runtime

from nodes.agents.case import load_case, metrics_of, trace_entry
from nodes.agents.code import candidates as places
from nodes.agents.code.candidates import POINTED, NumberedPlaces, in_order
from nodes.agents.code.tools import CodeTools
from nodes.agents.writing.explanation import is_explained
from nodes.agents.writing.statement import reporter_query
from nodes.brains.conversation import LISTED
from nodes.brains.fallback import is_model_asked, judge
from nodes.context.agreement import Opinions, confidence_of, support_of
from nodes.context.brain import Case, Judged
from nodes.context.ports import Context
from nodes.evidence import Evidence, NumberedEvidence
from nodes.guards import NOT_READABLE, is_rejected, people_added
from nodes.judgements import CodeReading, Submission, SubmittedPlace
from nodes.limits import CANDIDATES, CANDIDATES_ON_RETRY
from nodes.search.git.errors import SearchError
from nodes.search.types import Query, Ranking, Survey
from nodes.state import CORRECTION, AgentFinding, BugTriageState, TraceEntry, Update


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The search results before any judgement."""

    query: Query
    ranking: Ranking
    candidates: NumberedPlaces
    tools: CodeTools
    case: Case


@dataclass(frozen=True, slots=True)
class _JudgedSearch:
    """The judgement of a brain on the search results."""

    judged: Judged[CodeReading]
    seen: tuple[NumberedEvidence, ...]
    """All evidence that the brain saw, in search order."""
    ranked: tuple[NumberedEvidence, ...]
    """The same evidence in the brain's order, best first."""
    confidence: float
    """Shown in the report."""
    support: float | None = None
    """How far search and model together support the first place; None if rules judged."""
    search_prefers: str = ""
    """The first file of the search, if the brain prefers another one."""
    opinions: Opinions | None = None
    """The opinions from which the support is computed."""


async def codebase_search(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Rank the places most likely to contain the fault, with reasons."""
    started = time.perf_counter()
    context = runtime.context
    context.listener("codebase_search", "searching the code")
    if _is_read(state, context) and not _objected(state):
        # The model would read the same again.
        counts = next(step.counts for step in reversed(state.trace) if step.node == "codebase_search")
        sure, decision = state.search_confidence, "nothing new"
        entry = trace_entry("codebase_search", state, started, decision=decision, confidence=sure, counts=counts)
        return {"trace": (entry,)}
    try:
        gathered = await _gather(state, context)
    except SearchError as error:
        return _unreadable(state, error, started)
    read = await _judge(gathered, context)
    await context.evidence.put([item.evidence for item in read.seen])
    finding = AgentFinding(
        agent_name="codebase_search",
        summary=read.judged.value.summary,
        details=read.judged.value.details,
        confidence=read.confidence if read.support is None else read.support,
        relevant_files=tuple(dict.fromkeys(filter(None, (item.evidence.locator.path for item in read.ranked))))[:10],
        evidence=tuple(item.evidence.key for item in read.seen),
        judged_by=read.judged.judged_by,
        submitted=_by_keys(read),
    )
    return {
        "findings": (finding,),
        "search_confidence": read.confidence,
        "search_support": read.support,
        "search_prefers": read.search_prefers,
        "trace": (_entry(state, gathered, read, started),),
        "metrics": metrics_of(read.judged),
    }


def build_query(state: BugTriageState, context: Context) -> Query:
    """Combine the issue with redirects, answers, gaps and the investigator's search terms."""
    verdict = state.critic_feedback
    # What a model's reading lacks is looked up separately, because these words would move the search's own places.
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


async def _gather(state: BugTriageState, context: Context) -> _Gathered:
    case, asked = await load_case(state, context), is_model_asked(context, state)
    query = build_query(state, context)
    ranking = await context.code.find(query)
    pointed = await _pointed(state, context)
    # Rules read the facts when they write; a model may cite their lines besides the places of the search.
    survey = await context.code.survey(reporter_query(case, CANDIDATES)) if asked else Survey()
    facts = places.lines_of_facts(survey.facts, context.code.sha)
    files = await places.list_files(context, query, ranking=ranking, pointed=pointed, survey=survey) if asked else ()
    # Numbered here as the supervisor will number them, so that a finding can cite them before they are joined.
    retry = state.retry_count > 0
    candidates = places.find_candidates(ranking, state.evidence, retry=retry, pointed=pointed, facts=facts)
    seen = candidates.all if asked else candidates.strong
    keys = [item.evidence.key for item in seen]
    tools = CodeTools(context.code, tuple(dict.fromkeys((*state.evidence, *keys))), context.listener, query)
    objected = _is_read(state, context)
    looked_up = tools.take(await places.look_up_objections(state, context, tools)) if objected else None
    new = [item for item in (*seen, *(looked_up or ())) if item.evidence.key not in state.evidence]
    # The probability with facts, if these were found for the same file.
    same = bool(survey.paths and ranking.files) and survey.paths[0] == ranking.files[0].path
    confidence, before = survey.confidence if same else ranking.confidence, state.marks.after_search
    # A search that only the critic's gaps widened finds what those gaps name, which does not support the result.
    if before is not None and not people_added(state, before):
        confidence = min(confidence, state.search_confidence)
    case = replace(
        case,
        evidence=(*case.evidence, *new),
        looked_up=looked_up,
        search_confidence=confidence,
        files=files,
        tools=tools if ranking.commit else None,
    )
    return _Gathered(query, ranking, candidates, tools, case)


async def _pointed(state: BugTriageState, context: Context) -> tuple[Evidence, ...]:
    """Search with the text of the last redirect alone, because the words of the issue can outweigh it."""
    # A correction says what is wrong, not where to search.
    texts = [text for text in state.redirect_instructions if not text.startswith(CORRECTION)]
    if not texts:
        return ()
    return places.pointed_at(await context.code.find(Query(title=texts[-1], limit=CANDIDATES)), texts[-1])


async def _judge(gathered: _Gathered, context: Context) -> _JudgedSearch:
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
        return _JudgedSearch(judged, candidates.strong, ranked, min(judged.value.confidence, case.search_confidence))
    cited = judged.value.submitted.cited if judged.value.submitted is not None else ()
    named = {*suspects, *cited} - {item.id for item in candidates.all}
    # A model may cite again what an earlier reading found.
    again = (item for item in case.evidence if item.id in named)
    seen = (*candidates.all, *again, *gathered.tools.gathered)
    # What the model cites comes before what only the search found, so that later readers see it.
    ranked = places.rescored(in_order(seen, (*suspects, *cited)))
    by_id = {item.id: item for item in ranked}
    prefers = _search_prefers(judged.value, ranked, gathered)
    shown = tuple(by_id[item.id] for item in seen)
    if not suspects:
        return _JudgedSearch(judged, shown, ranked, 0.0, 0.0, prefers)
    reading = judged.value
    opinions = Opinions(
        case.search_confidence,
        reading.confidence,
        agree=not prefers,
        read=reading.has_read_first is True,
        explained=is_explained(reading.submitted, by_id, f"{case.title}\n{case.body}"),
    )
    confidence, support = confidence_of(opinions, context.agreement), support_of(opinions, context.agreement)
    return _JudgedSearch(judged, shown, ranked, confidence, support, prefers, opinions)


def _search_prefers(reading: CodeReading, ranked: Sequence[NumberedEvidence], gathered: _Gathered) -> str:
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


def _unreadable(state: BugTriageState, error: SearchError, started: float) -> Update:
    """Record that nothing was searched, because a report must not claim otherwise."""
    texts = f"The code could not be read: {error}"
    entry = trace_entry(
        "codebase_search", state, started, decision=NOT_READABLE, confidence=0.0, reason=texts, error=str(error)[:300]
    )
    finding = AgentFinding(agent_name="codebase_search", summary=f"{texts}; nothing was searched."[:300])
    return {"findings": (finding,), "search_confidence": 0.0, "search_support": None, "trace": (entry,)}


def _by_keys(read: _JudgedSearch) -> Submission | None:
    """Return what a model submitted with content keys, because the numbers of evidence may still change."""
    submitted, keys = read.judged.value.submitted, {item.id: item.evidence.key for item in read.seen}
    if submitted is None:
        return None

    def place(one: SubmittedPlace) -> SubmittedPlace:
        return one.model_copy(update={"evidence": keys[one.evidence]})

    cited = ((entry, tuple(map(keys.__getitem__, entry.evidence))) for entry in submitted.cause)
    cause = (entry.model_copy(update={"evidence": evidence}) for entry, evidence in cited)
    rival, against = place(submitted.rival) if submitted.rival else None, keys.get(submitted.against, "")
    places = {"cause": tuple(cause), "places": tuple(map(place, submitted.places)), "rival": rival, "against": against}
    return submitted.model_copy(update=places)


def _entry(state: BugTriageState, gathered: _Gathered, read: _JudgedSearch, started: float) -> TraceEntry:
    """Return the entry of a search and its reading; ``started`` is the time by ``time.perf_counter``."""
    tools = gathered.tools
    cited = {item.id for item in tools.gathered}
    candidates = sum(item.id not in cited for item in read.seen)
    counts = {
        "candidates": candidates,
        "filtered_out": gathered.candidates.filtered_out,
        "augmented": len(gathered.query.extra),
    }
    by_model = {"chosen": len(read.seen) - candidates, "calls": len(tools.lines), "dropped": read.judged.dropped}
    counts |= {name: count for name, count in by_model.items() if count}
    # The scores of the search's places that reached the threshold.
    strong = [item.evidence.score for item in gathered.candidates.strong]
    average = round(sum(strong) / len(strong), 4) if strong else 0.0
    scores = {"threshold_used": gathered.candidates.threshold, "avg_score": average}
    if read.opinions is not None and read.support is not None:
        # A table of agreement is fitted to these.
        scores |= {**read.opinions.numbers(), "support": read.support}
    return trace_entry(
        "codebase_search",
        state,
        started,
        read.judged,
        decision="found" if read.ranked else "nothing found",
        confidence=read.confidence,
        reason=read.judged.value.summary,
        counts=counts,
        scores=scores,
        looks=tuple(tools.lines),
    )
