"""Look up what a critic misses and what a rejected draft claimed, with the search engine alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nodes.agents.code.candidates import MIN_SCORE_ON_RETRY, find_candidates, mean_score
from nodes.agents.code.tools import CodeTools
from nodes.context import Context
from nodes.evidence import Evidence, as_evidence, is_citable
from nodes.guards import is_rejected
from nodes.search.types import Query
from nodes.state import BugTriageState

_OF_BETTER_PLACE, _OF_THE_REST = 2, 4
"""Places that are looked up for the critic's better place, and for everything else that it misses."""
_SCORE = 0.4
"""The score of these places: below the score of places that the model read and ranked first."""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The answer to objections."""

    asked_for: tuple[str, ...]
    """What was looked up, in the words of the critic and of the draft."""
    new: tuple[Evidence, ...]
    """Places that were not evidence before."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """The score threshold and the mean score of a wider search; empty if there was none."""
    filtered_out: int = 0
    """Places below the threshold of the wider search."""


async def look_up_objections(state: BugTriageState, context: Context, query: Query) -> LookedUp:
    """Find the critic's better place, the evidence that it requires, and what a rejected draft could not cite.

    After a rejected draft the search itself is wider too: twice the places, a lower threshold, and the words
    of the objections in its query. New places become evidence, which the critic judges and the writer may cite.

    Args:
        state: the run.
        context: what the run may call.
        query: the query of the search.
    """
    texts = _texts(state)
    wide, scores, filtered_out = list[Evidence](), dict[str, float](), 0
    if state.retry_count:
        ranking = await context.code.find(replace(query, extra=(*query.extra, *texts)))
        strong = [item.evidence for item in find_candidates(ranking, (), retry=True).strong]
        scores = {"threshold_used": MIN_SCORE_ON_RETRY, "avg_score": mean_score(strong)}
        filtered_out = max(len(ranking.locations) - len(strong), 0)
        wide = [item.model_copy(update={"score": round(_SCORE * item.score, 4)}) for item in strong]
    asked_for = await _asked_for(texts, context)
    found = {item.key: item for item in (*wide, *await _better_place(state, context), *asked_for)}
    new = tuple(item for key, item in found.items() if key not in state.evidence)
    return LookedUp(texts, new, scores, filtered_out)


async def _better_place(state: BugTriageState, context: Context) -> list[Evidence]:
    verdict = state.critic_feedback
    if verdict is None or not is_rejected(state) or not verdict.better_place:
        return []
    query = Query(context.title, context.body)
    tools = CodeTools(context.code, state.evidence, context.listener, query)
    sketches = await tools.sketched((verdict.better_place,))
    shown = [tools.show(place) for sketch in sketches for place in sketch.places[:_OF_BETTER_PLACE]]
    return [item.evidence.model_copy(update={"score": _SCORE}) for item in shown if item is not None]


async def _asked_for(texts: Sequence[str], context: Context) -> list[Evidence]:
    if not texts:
        return []
    # Only these words are searched, because the words of the issue lead to the places that were already found.
    ranking = await context.code.find(Query(body="\n".join(texts), limit=10))
    places = [place for place in ranking.locations if is_citable(place.path, place.quote)]
    return [as_evidence(place, ranking.commit, _SCORE) for place in places[:_OF_THE_REST]]


def _texts(state: BugTriageState) -> tuple[str, ...]:
    verdict, audit = state.critic_feedback, state.metrics.last_citation_audit
    texts = [*verdict.required_evidence, *verdict.gaps] if verdict is not None and is_rejected(state) else []
    # The dropped sentence follows the colon.
    texts += [line.rpartition(": ")[2] for line in audit.dropped] if audit is not None and state.retry_count else []
    return tuple(texts)
