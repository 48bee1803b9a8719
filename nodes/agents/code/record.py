"""Record what a code search did: its finding, and its entry in the trace."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.agents.case import trace_entry
from nodes.agents.code.candidates import Candidates, mean_score
from nodes.agents.code.tools import CodeTools
from nodes.context import Case, Judged
from nodes.context.agreement import Opinions
from nodes.evidence import NumberedEvidence
from nodes.guards import NOT_READABLE
from nodes.judgements import CodeReading, Submission, SubmittedPlace
from nodes.search.git.errors import SearchError
from nodes.search.types import Query, Ranking
from nodes.state import AgentFinding, BugTriageState, TraceEntry, Update


@dataclass(frozen=True, slots=True)
class Gathered:
    """The search results before any judgement."""

    query: Query
    ranking: Ranking
    candidates: Candidates
    tools: CodeTools
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
    """Shown in the report."""
    support: float | None = None
    """How far search and model together support the first place; None if rules judged."""
    search_prefers: str = ""
    """The first file of the search, if the brain prefers another one."""
    opinions: Opinions | None = None
    """The opinions from which the support is computed."""


def unreadable(state: BugTriageState, error: SearchError, started: float) -> Update:
    """Record that nothing was searched, because a report must not claim otherwise."""
    texts = f"The code could not be read: {error}"
    entry = trace_entry(
        "codebase_search",
        state,
        started,
        decision=NOT_READABLE,
        confidence=0.0,
        reason=texts,
        error=str(error)[:300],
    )
    finding = AgentFinding(agent_name="codebase_search", summary=f"{texts}; nothing was searched."[:300])
    return {"findings": (finding,), "search_confidence": 0.0, "search_support": None, "trace": (entry,)}


def finding_of(read: Read) -> AgentFinding:
    """Return the finding of a reading."""
    return AgentFinding(
        agent_name="codebase_search",
        summary=read.judged.value.summary,
        details=read.judged.value.details,
        confidence=read.confidence if read.support is None else read.support,
        relevant_files=tuple(dict.fromkeys(filter(None, (item.evidence.locator.path for item in read.ranked))))[:10],
        evidence=tuple(item.evidence.key for item in read.seen),
        judged_by=read.judged.judged_by,
        submitted=_by_keys(read),
    )


def _by_keys(read: Read) -> Submission | None:
    """Return what a model submitted with content keys, because the numbers of evidence may still change."""
    submitted, keys = read.judged.value.submitted, {item.id: item.evidence.key for item in read.seen}
    if submitted is None:
        return None

    def place(one: SubmittedPlace) -> SubmittedPlace:
        return one.model_copy(update={"evidence": keys[one.evidence]})

    cause = (
        entry.model_copy(update={"evidence": tuple(map(keys.__getitem__, entry.evidence))}) for entry in submitted.cause
    )
    rival, against = place(submitted.rival) if submitted.rival else None, keys.get(submitted.against, "")
    places = {"cause": tuple(cause), "places": tuple(map(place, submitted.places)), "rival": rival, "against": against}
    return submitted.model_copy(update=places)


def entry_of(state: BugTriageState, gathered: Gathered, read: Read, started: float) -> TraceEntry:
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
    # Those of the places of the search that passed the threshold.
    average = mean_score(item.evidence for item in gathered.candidates.strong)
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
