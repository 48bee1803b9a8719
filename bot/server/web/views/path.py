"""The path of a run through the graph: its steps, the nodes that it visited, and its progress."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.report import account
from bot.report.words import count
from bot.server.web.views.rows import Row
from bot.server.web.views.words import label
from bot.store.pages.runs import FullRun
from bot.store.runs.run_events import Visit
from nodes.state import TraceEntry

_NODES = ("investigator", "codebase_search", "web_search", "critic", "human_input", "writer")
_BETWEEN = ("supervisor", "join")
"""The nodes that every visit comes from and returns to."""
_FEW = 4
"""Visits of one node up to which each one is numbered."""


def latest(visits: Iterable[Visit]) -> tuple[Visit, ...]:
    """Return each visit once, in its last stored state, in the order in which visits ended or began."""
    known: dict[str, Visit] = {}
    for visit in visits:
        # Removed first, so that the dict's order is that of the last state.
        known.pop(visit.id, None)
        known[visit.id] = visit
    return tuple(known.values())


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of the graph on the path of a run."""

    name: str
    state: Literal["on", "off", "now"]
    """Visited, not visited, or running."""
    places: tuple[str, ...]
    """The places of its visits on the path, from 1; of many, the first ones and the number of the others."""


def graph(trace: Sequence[TraceEntry], *, now: Iterable[str] = ()) -> tuple[GraphNode, ...]:
    """Return the nodes below the supervisor."""
    going = tuple(name for name in now if name not in _BETWEEN)
    order = _order(trace)
    names = dict.fromkeys((*_NODES, *order, *going))
    return tuple(
        GraphNode(
            label(name), "now" if name in going else "on" if name in order else "off", _numbered(order.get(name, ()))
        )
        for name in names
    )


def overlap(visits: Sequence[Visit]) -> float:
    """Return the seconds during which more than one node was active."""
    ends = sorted(
        (at, change)
        for visit in visits
        if visit.ended is not None
        for at, change in ((visit.began, 1), (visit.ended, -1))
    )
    total, active, last = 0.0, 0, 0.0
    for at, change in ends:
        total += at - last if active > 1 else 0.0
        active, last = active + change, at
    return total


def _numbered(places: Sequence[int]) -> tuple[str, ...]:
    shown = places if len(places) <= _FEW else places[: _FEW - 1]
    return (*map(str, shown), *([f"+{len(places) - len(shown)}"] if len(shown) < len(places) else []))


def _order(trace: Sequence[TraceEntry]) -> dict[str, tuple[int, ...]]:
    """Map each node to the places of its visits on the path, from 1. Visits of one round share a place."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    place, last = 0, None
    for entry in trace:
        if entry.node in _BETWEEN:
            continue
        place += entry.iteration != last
        last = entry.iteration
        places[entry.node].append(place)
    return {name: tuple(found) for name, found in places.items()}


def progress(full: FullRun, visits: Sequence[Visit], *, open_to_all: bool) -> dict[str, Any]:
    """Build the part of a page that changes while a run is in progress.

    ``open_to_all``: the viewer may read the reasons of a run that may concern a security issue, which is unknown until
    the run is over.
    """
    known, row = latest(visits), full.row
    trace = trace_of(full, known)
    now = [step.node for step in known if step.ended is None] if row.status == "running" else []
    reasons = open_to_all or is_harmless(full)
    running = " and ".join(map(label, now))
    return {
        "row": Row.of(row),
        "reasons": reasons,
        "now": list(map(label, now)),
        "graph": graph(trace, now=now),
        "steps": [account.step(entry, reasons=reasons) for entry in trace],
        "rounds": max((entry.iteration for entry in trace), default=-1) + 1,
        "say": f"{f'{running} running' if now else f'The run is {row.status}'}, after {count(len(trace), 'step')}",
    }


def trace_of(full: FullRun, visits: Sequence[Visit]) -> tuple[TraceEntry, ...]:
    """Return a run's trace: from its result, or from its steps before there is a result."""
    if full.result is not None:
        return full.result.trace
    return tuple(entry for visit in visits if visit.ended is not None for entry in visit.trace)


def is_harmless(full: FullRun) -> bool:
    """Return whether the run is known not to concern a security issue."""
    return full.result is not None and full.result.report.kind != "security"
