"""The path of a run through the graph: its steps as text and as a drawing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bot.report import account
from bot.report.drawing import picture, text
from bot.report.words import span
from bot.server.web.views.words import label, line, prose
from bot.store.runs.run_events import Visit
from nodes.state import TraceEntry

_NODES = ("investigator", "codebase_search", "web_search", "critic", "human_input", "writer")
_BETWEEN = ("supervisor", "join")
"""The nodes that every visit comes from and returns to; drawn as the column on the left."""
_WIDTH, _ROW, _TOP = 440, 48, 64
_HUB, _HUB_WIDTH, _BOX, _BOX_WIDTH, _BOX_HEIGHT = 12, 116, 284, 144, 34
_FEW = 4
"""Visits of one node up to which each one is numbered."""


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a run's trace."""

    round: int
    node: str
    name: str
    """The node's display name."""
    decision: str
    confidence: str
    reason: Markup
    guard: str
    guard_means: str
    judged_by: str
    error: str
    took: str
    counts: tuple[str, ...] = ()
    looks: tuple[str, ...] = ()


def steps(trace: Iterable[TraceEntry], *, reasons: bool) -> tuple[Step, ...]:
    """Return what each node decided.

    Args:
        trace: the run's trace.
        reasons: whether to show reasons, errors and lookups, which concern the issue's content, besides the route.
    """
    return tuple(_step(entry, reasons=reasons) for entry in trace)


def _step(entry: TraceEntry, *, reasons: bool) -> Step:
    plain = account.step(entry, reasons=reasons)
    return Step(
        round=plain.round,
        node=plain.node,
        name=label(plain.node),
        decision=label(plain.decision) if plain.node == "supervisor" else line(plain.decision),
        confidence=plain.confidence,
        reason=prose(plain.reason),
        guard=line(plain.guard),
        guard_means=plain.guard_means,
        judged_by=line(plain.judged_by),
        error=line(plain.error),
        took=span(entry.duration_ms / 1000),
        counts=tuple(f"{line(name).replace('_', ' ')} {number}" for name, number in entry.counts.items()),
        looks=tuple(map(line, plain.looks)),
    )


def latest(visits: Iterable[Visit]) -> tuple[Visit, ...]:
    """Return each visit once, in its last stored state, in the order in which visits ended or began."""
    known: dict[str, Visit] = {}
    for visit in visits:
        # Removed first, so that the dict's order is that of the last state.
        known.pop(visit.id, None)
        known[visit.id] = visit
    return tuple(known.values())


def draw(trace: Sequence[TraceEntry], *, now: Iterable[str] = (), ended: bool = False) -> str:
    """Draw the graph as an SVG: the visited nodes, their order, and where the run is now.

    Args:
        trace: the run's trace.
        now: nodes that are running.
        ended: whether the run is over.
    """
    going = tuple(name for name in now if name not in _BETWEEN)
    order = _order(trace)
    names = (*_NODES, *(name for name in dict.fromkeys((*order, *going)) if name not in _NODES))
    height = _TOP + _ROW * len(names) + 44
    parts = [_hub(height, visited=bool(trace), ended=ended)]
    parts += [_spoke(_TOP + _ROW * row, name, order.get(name, ()), now=name in going) for row, name in enumerate(names)]
    return picture(
        (_WIDTH, height), "The path through the graph", _alternative(trace, going, ended=ended), parts, name="path"
    )


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


def _alternative(trace: Sequence[TraceEntry], going: Sequence[str], *, ended: bool) -> str:
    visited = [label(entry.node) for entry in trace if entry.node not in _BETWEEN]
    way = ", then ".join(["Start", *visited, *([f"{' and '.join(map(label, going))} running now"] if going else [])])
    return f"{way}{', then the end' if ended else ''}."


def _hub(height: int, *, visited: bool, ended: bool) -> str:
    middle, bottom = _HUB + _HUB_WIDTH / 2, height - 44
    on = ' class="on"' if visited else ""
    over = ' class="on"' if ended else ""
    return (
        f'<g{on}><circle class="stop" cx="{middle}" cy="16" r="7"/><path class="edge" d="M{middle} 23V{_TOP - 16}"/>'
        f'<text class="small" x="{middle + 14}" y="20">start</text>'
        f'<rect class="box" x="{_HUB}" y="{_TOP - 16}" width="{_HUB_WIDTH}" height="{bottom - _TOP + 6}" rx="8"/>'
        f'<text x="{middle}" y="{(_TOP + bottom) / 2 - 8}" text-anchor="middle">Supervisor</text></g>'
        f'<g{over}><path class="edge" d="M{middle} {bottom - 10}V{height - 24}"/>'
        f'<circle class="stop" cx="{middle}" cy="{height - 16}" r="7"/>'
        f'<circle class="ring" cx="{middle}" cy="{height - 16}" r="11"/>'
        f'<text class="small" x="{middle + 18}" y="{height - 12}">end</text></g>'
    )


def _spoke(y: int, name: str, places: Sequence[int], *, now: bool) -> str:
    state = "now" if now else "on" if places else "off"
    middle = y + _BOX_HEIGHT / 2
    edge = f'<path class="edge" d="M{_HUB + _HUB_WIDTH} {middle}H{_BOX}"/>'
    box = f'<rect class="box" x="{_BOX}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="8"/>' + text(
        _BOX + _BOX_WIDTH / 2, middle + 5, label(name)[:18], "name", "middle"
    )
    return f'<g class="{state}">{edge}{box}{"".join(_badges(places, middle))}</g>'


def _badges(places: Sequence[int], y: float) -> Iterable[str]:
    shown = places if len(places) <= _FEW else places[: _FEW - 1]
    signs = [*map(str, shown), *([f"+{len(places) - len(shown)}"] if len(shown) < len(places) else [])]
    for at, sign in enumerate(signs):
        x = _HUB + _HUB_WIDTH + 22 + 34 * at
        yield f'<circle class="badge-dot" cx="{x}" cy="{y}" r="12"/>'
        yield text(x, y + 4.5, sign, "badge-number", "middle")
