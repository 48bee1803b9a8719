"""Look up what a critic misses and what a rejected draft claimed, with the search engine alone."""

from __future__ import annotations

from collections.abc import Iterable

from nodes.agents.code.tools import CodeTools
from nodes.context import Context
from nodes.evidence import Evidence, Locator, as_evidence, is_citable
from nodes.guards import is_rejected
from nodes.search.issue.mentions import find_mentions
from nodes.search.types import Passage
from nodes.state import BugTriageState

_NAMES, _FEW, _AROUND = 6, 2, 6
"""Names that are looked up, definitions of a name that are quoted, and lines around a named line."""
_PLACES = 6
_SCORE = 0.4
"""The score of these places: below the score of places that the model read and ranked first."""


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
    return [
        Evidence(
            kind="code",
            locator=Locator(
                path=passage.path, start_line=passage.start_line, end_line=passage.end_line, sha=context.code.sha
            ),
            symbol=passage.symbol,
            quote=passage.quote,
            score=_SCORE,
            reasons=("looked up for an objection",),
        )
        for passage in passages
        if is_citable(passage.path, passage.quote)
    ]


def _texts(state: BugTriageState) -> tuple[str, ...]:
    """Return the objections, what the critic would rather look at first."""
    verdict, audit = state.critic_feedback, state.metrics.last_citation_audit
    asked = verdict if is_rejected(state) else None
    texts = [asked.better_place, *asked.required_evidence, *asked.gaps] if asked is not None else []
    # The dropped sentence follows the colon.
    texts += [line.rpartition(": ")[2] for line in audit.dropped] if audit is not None and state.retry_count else []
    return tuple(filter(None, texts))
