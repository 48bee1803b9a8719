"""Look up what a critic misses and what a rejected draft claimed, with the search engine alone."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.agents.code.lookups import CodeLookups
from nodes.context import Context
from nodes.evidence import Evidence, as_evidence, is_citable
from nodes.guards import is_rejected
from nodes.search.types import Query
from nodes.state import BugTriageState

_OF_BETTER_PLACE, _OF_THE_REST = 2, 4
"""Places that are looked up for the critic's better place, and for everything else that it misses."""
_SCORE = 0.4
"""Their score: below the places that the model read and ranked first."""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The answer to objections."""

    asked_for: tuple[str, ...]
    """What was looked up, in the words of the critic and of the draft."""
    new: tuple[Evidence, ...]
    """Places that were not evidence before."""


async def look_up_objections(state: BugTriageState, context: Context) -> LookedUp:
    """Find the critic's better place, the evidence that it requires, and what a rejected draft could not cite.

    What is new becomes evidence, which the critic judges and the writer may cite.
    """
    found = {item.key: item for item in (*await _better_place(state, context), *await _asked_for(state, context))}
    new = tuple(item for key, item in found.items() if key not in state.evidence)
    return LookedUp(_texts(state), new)


async def _better_place(state: BugTriageState, context: Context) -> list[Evidence]:
    verdict = state.critic_feedback
    if verdict is None or not is_rejected(state) or not verdict.better_place:
        return []
    query = Query(context.title, context.body)
    looks = CodeLookups(context.code, state.evidence, state.evidence, context.listener, query)
    sketches = await looks.sketched((verdict.better_place,))
    shown = [looks.show(place) for sketch in sketches for place in sketch.places[:_OF_BETTER_PLACE]]
    return [item.evidence.model_copy(update={"score": _SCORE}) for item in shown if item is not None]


async def _asked_for(state: BugTriageState, context: Context) -> list[Evidence]:
    texts = _texts(state)
    if not texts:
        return []
    # A search of these words alone: the words of the issue led to what was found already.
    ranking = await context.code.find(Query(body="\n".join(texts), limit=10))
    places = [place for place in ranking.locations if is_citable(place.path, place.quote)]
    return [as_evidence(place, ranking.commit, _SCORE) for place in places[:_OF_THE_REST]]


def _texts(state: BugTriageState) -> tuple[str, ...]:
    verdict, audit = state.critic_feedback, state.metrics.last_citation_audit
    texts = [*verdict.required_evidence, *verdict.gaps] if verdict is not None and is_rejected(state) else []
    # After the colon stands the sentence that was dropped.
    texts += [line.rpartition(": ")[2] for line in audit.dropped] if audit is not None and state.retry_count else []
    return tuple(texts)
