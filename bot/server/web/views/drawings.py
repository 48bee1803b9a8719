"""Drawings of a run: the confidence of its drafts, those that the quality gate rejected, and the times of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.report.account import retry_reasons
from bot.report.drawing import picture, text
from bot.report.words import percent, span
from bot.server.web.views.words import label
from bot.store.runs.run_events import Visit
from nodes.state import Metrics, RetryReason
from nodes.trust.quality_gate import LOW_CONFIDENCE

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 440, 210, 48, 28, 172
_GAP = 5.0
"""Idle seconds above which a gap is drawn as a break: the run waited for a person, or the server was down."""
_BREAK = 0.04
"""Width of each break, as a fraction of the active time."""
_TIMING_WIDTH, _TIMING_LEFT, _RIGHT, _ROW, _TIMING_TOP = 720, 120, 84, 24, 28
_ROWS = 60


@dataclass(frozen=True, slots=True)
class Retry:
    """A rejected draft, with the reason."""

    round: int
    confidence: str
    why: str


def retries(metrics: Metrics) -> tuple[Retry, ...]:
    """Return each rejected draft."""
    return tuple(
        Retry(one.iteration, percent(one.confidence), ", ".join(retry_reasons(one))) for one in metrics.retry_reasons
    )


def draw(metrics: Metrics) -> str | None:
    """Draw the drafts' confidences as an SVG, with the gate as a line; None if there was no draft."""
    history = metrics.confidence_history
    if not history:
        return None
    step = (_WIDTH - _LEFT - 56) / max(len(history) - 1, 1)
    points = [(_LEFT + 28 + step * at, _y(value)) for at, value in enumerate(history)]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    parts = [*_axes(), f'<path class="one" d="M{path}"/>']
    for number, ((x, y), value) in enumerate(zip(points, history, strict=True)):
        back = number < len(metrics.retry_reasons)
        parts.append(f'<circle class="{"dot back" if back else "dot"}" cx="{x:.1f}" cy="{y:.1f}" r="6"/>')
        if len(history) <= 8:
            above = y - 14 if y > _TOP + 24 else y + 24
            parts.append(text(x, above, f"{value:.0%}", anchor="middle"))
            parts.append(text(x, _BOTTOM + 20, f"draft {number + 1}", "small soft", "middle"))
    alternative = _alternative(history, metrics.retry_reasons)
    return picture((_WIDTH, _HEIGHT), "Confidence of each draft", alternative, parts, name="confidence")


def _y(share: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * share


def _axes() -> list[str]:
    gate = _y(LOW_CONFIDENCE)
    lines = [
        f'<path class="axis" d="M{_LEFT} {_y(share)}H{_WIDTH - 12}"/>'
        + text(_LEFT - 8, _y(share) + 4, f"{share:.0%}", "small soft", "end")
        for share in (0.0, 0.5, 1.0)
    ]
    return [
        *lines,
        f'<path class="ideal" d="M{_LEFT} {gate:.1f}H{_WIDTH - 12}"/>',
        text(_WIDTH - 12, gate + 16, f"gate {LOW_CONFIDENCE:.0%}", "small soft", "end"),
    ]


def _alternative(history: Sequence[float], reasons: Sequence[RetryReason]) -> str:
    drafts = [f"draft {number}: {value:.0%}" for number, value in enumerate(history, 1)]
    for at, reason in enumerate(reasons[: len(drafts)]):
        drafts[at] += f", rejected because {', '.join(retry_reasons(reason))}"
    return "; ".join(drafts)


@dataclass(frozen=True, slots=True)
class _Bar:
    visit: Visit
    start: float
    end: float


def draw_timing(visits: Sequence[Visit]) -> str | None:
    """Draw an SVG with one bar per visit of a node; None if no times are known."""
    ended = sorted((one for one in visits if one.ended is not None), key=lambda one: (one.began, one.ended))[:_ROWS]
    if not ended:
        return None
    bars, breaks, whole = _laid_out(ended)
    scale = (_TIMING_WIDTH - _TIMING_LEFT - _RIGHT) / (whole or 1)
    height = _TIMING_TOP + _ROW * len(bars) + 4
    parts = [_row(number, bar, scale) for number, bar in enumerate(bars)]
    parts += [_cut(at, lasted, scale, height) for at, lasted in breaks]
    return picture((_TIMING_WIDTH, height), "Timeline of the nodes", _timing_alternative(ended), parts, name="timing")


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
    y, x = _TIMING_TOP + _ROW * number, _TIMING_LEFT + bar.start * scale
    width = max((bar.end - bar.start) * scale, 2)
    lasted = span((bar.visit.ended or bar.visit.began) - bar.visit.began)
    kind = "bar hub" if bar.visit.node == "supervisor" else "bar"
    return (
        text(_TIMING_LEFT - 10, y + 15, label(bar.visit.node)[:16], anchor="end")
        + f'<rect class="{kind}" x="{x:.1f}" y="{y + 4}" width="{width:.1f}" height="14" rx="3"/>'
        + text(x + width + 6, y + 15, lasted, "small soft")
    )


def _cut(at: float, lasted: float, scale: float, height: int) -> str:
    x = _TIMING_LEFT + at * scale + 3
    mark = f'<path class="ideal" d="M{x:.1f} {_TOP - 8}V{height}"/>'
    return mark + text(x, _TIMING_TOP - 14, f"{span(lasted)} idle", "small soft", "middle")


def _timing_alternative(visits: Sequence[Visit]) -> str:
    return "; ".join(f"{label(one.node)} {span((one.ended or one.began) - one.began)}" for one in visits)
