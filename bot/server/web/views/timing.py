"""Draw when each node of a run was active, so that parallel nodes visibly overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.report.drawing import picture, text
from bot.report.words import span
from bot.server.web.views.words import label
from bot.store.runs.run_events import Visit

_GAP = 5.0
"""Idle seconds above which a gap is drawn as a break: the run waited for a person, or the server was down."""
_BREAK = 0.04
"""Width of each break, as a fraction of the active time."""
_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 720, 120, 84, 24, 28
_ROWS = 60


@dataclass(frozen=True, slots=True)
class _Bar:
    visit: Visit
    start: float
    end: float


def draw(visits: Sequence[Visit]) -> str | None:
    """Draw an SVG with one bar per visit of a node; None if no times are known."""
    ended = sorted((one for one in visits if one.ended is not None), key=lambda one: (one.began, one.ended))[:_ROWS]
    if not ended:
        return None
    bars, breaks, whole = _laid_out(ended)
    scale = (_WIDTH - _LEFT - _RIGHT) / (whole or 1)
    height = _TOP + _ROW * len(bars) + 4
    parts = [_row(number, bar, scale) for number, bar in enumerate(bars)]
    parts += [_cut(at, lasted, scale, height) for at, lasted in breaks]
    return picture((_WIDTH, height), "Timeline of the nodes", _alternative(ended), parts, name="timing")


def overlap(visits: Sequence[Visit]) -> float:
    """Return the seconds during which more than one node was active."""
    ends = sorted(
        (at, change) for one in visits if one.ended is not None for at, change in ((one.began, 1), (one.ended, -1))
    )
    total, active, last = 0.0, 0, 0.0
    for at, change in ends:
        total += at - last if active > 1 else 0.0
        active, last = active + change, at
    return total


def _laid_out(visits: Sequence[Visit]) -> tuple[list[_Bar], list[tuple[float, float]], float]:
    """Place bars and breaks on one time axis in seconds, with long idle gaps shortened to a mark."""
    silences = [(until, begins - until) for until, begins in _silences(visits)]
    active = max(one.ended or 0 for one in visits) - visits[0].began - sum(lasted for _, lasted in silences)
    # A break has a width even if the nodes took no measurable time.
    mark = max(active, 0.001) * _BREAK

    def place(at: float) -> float:
        before = [lasted for until, lasted in silences if until < at]
        return at - visits[0].began - sum(before) + mark * len(before)

    bars = [_Bar(one, place(one.began), place(one.ended or one.began)) for one in visits]
    return bars, [(place(until), lasted) for until, lasted in silences], active + mark * len(silences)


def _silences(visits: Sequence[Visit]) -> list[tuple[float, float]]:
    found, until = [], visits[0].began
    for one in visits:
        if one.began - until > _GAP:
            found.append((until, one.began))
        until = max(until, one.ended or one.began)
    return found


def _row(number: int, bar: _Bar, scale: float) -> str:
    y, x = _TOP + _ROW * number, _LEFT + bar.start * scale
    width = max((bar.end - bar.start) * scale, 2)
    lasted = span((bar.visit.ended or bar.visit.began) - bar.visit.began)
    kind = "bar hub" if bar.visit.node == "supervisor" else "bar"
    return (
        text(_LEFT - 10, y + 15, label(bar.visit.node)[:16], anchor="end")
        + f'<rect class="{kind}" x="{x:.1f}" y="{y + 4}" width="{width:.1f}" height="14" rx="3"/>'
        + text(x + width + 6, y + 15, lasted, "small soft")
    )


def _cut(at: float, lasted: float, scale: float, height: int) -> str:
    x = _LEFT + at * scale + 3
    mark = f'<path class="ideal" d="M{x:.1f} {_TOP - 8}V{height}"/>'
    return mark + text(x, _TOP - 14, f"{span(lasted)} idle", "small soft", "middle")


def _alternative(visits: Sequence[Visit]) -> str:
    return "; ".join(f"{label(one.node)} {span((one.ended or one.began) - one.began)}" for one in visits)
