"""Choose the files that a model is shown, and other files than before when it reads the code again."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from nodes.brains.files import SHOWN
from nodes.context import Context, FileCard
from nodes.evidence import Evidence
from nodes.judgements import FILES
from nodes.search.ranking.survey import Survey
from nodes.search.types import Query, Ranking
from nodes.state import BugTriageState

_FIRST = 4
"""Files at the top of the search that are shown each time, because an answer may have put them there."""
_REMEMBERED = 96


async def list_files(
    state: BugTriageState,
    context: Context,
    query: Query,
    *,
    ranking: Ranking,
    pointed: Sequence[Evidence],
    survey: Survey,
) -> tuple[FileCard, ...]:
    """Return the files that a model may choose: those that a maintainer pointed at, then in the order of the search.

    A model that read the code before sees the search's first files, those that it chose, and files that it did not see.
    """
    paths = [hit.path for hit in ranking.files]
    if state.files_listed:
        wider = await context.code.find(replace(query, limit=len(state.files_listed) + SHOWN))
        listed = set(state.files_listed)
        paths = [*paths[:_FIRST], *_chosen(state), *(hit.path for hit in wider.files if mark(hit.path) not in listed)]
    paths = [*(str(item.locator.path) for item in pointed), *paths]
    sketches = await context.code.sketches(query, tuple(dict.fromkeys(paths))[:SHOWN])
    facts: dict[str, list[str]] = {}
    for fact in sorted(survey.facts, key=lambda fact: not fact.strong):
        facts.setdefault(fact.path or "", []).append(fact.says)
    return tuple(FileCard(one, tuple(dict.fromkeys(facts.get(one.path, ())))) for one in sketches)


def remembered(state: BugTriageState, paths: Iterable[str]) -> tuple[str, ...]:
    """Return the marks of all files that a model was shown, including these."""
    return tuple(dict.fromkeys((*state.files_listed, *map(mark, paths))))[:_REMEMBERED]


def mark(path: str) -> str:
    """Return a short mark of a path, because the state has no room for a hundred paths."""
    return f"{zlib.crc32(path.encode('utf-8', 'surrogatepass')):08x}"


def _chosen(state: BugTriageState) -> tuple[str, ...]:
    """Return the files that a model preferred when it last read the code."""
    read = [one for one in state.findings if one.agent_name == "codebase_search" and one.judged_by != "rules"]
    return next((one.relevant_files[:FILES] for one in reversed(read) if one.relevant_files), ())
