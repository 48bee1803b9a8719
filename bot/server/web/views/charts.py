"""Two small charts: accuracy by confidence, and the effect of a confidence threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.report.drawing import interval, link, picture
from bot.runs.promise import Fifth, Threshold, curve, fifths, wilson

_SIDE, _TOP, _LEFT = 260, 64, 56
_PANEL = (_LEFT + _SIDE + 24, _TOP + _SIDE + 64)


def draw_reliability(
    cases: Sequence[tuple[float, bool]], title: str, address: Callable[[Fifth], str] | None = None
) -> str:
    """Draw accuracy by confidence for a page that supplies the style; the SVG has no colours of its own.

    ``address`` returns the page that lists the cases of a dot.
    """
    worth = "; ".join(f"at {part.mean:.0%}, {part.right} of {part.cases} right" for part in fifths(cases))
    links = address is not None
    return picture(_PANEL, title, worth or "no data yet", _left(cases, address), name="reliability", links=links)


def draw_trade(cases: Sequence[tuple[float, bool]], chosen: Threshold | None, title: str) -> str:
    """Draw precision and coverage of each threshold, also without colours of its own."""
    return picture(_PANEL, title, _spoken(chosen), _right(cases, chosen, _LEFT), name="trade")


def _left(cases: Sequence[tuple[float, bool]], address: Callable[[Fifth], str] | None = None) -> list[str]:
    frame = _frame(_LEFT, "correct, by quintile of confidence", "confidence")
    return [frame, *_reliability(fifths(cases), address)]


def _right(cases: Sequence[tuple[float, bool]], chosen: Threshold | None, left: int) -> list[str]:
    return [_frame(left, "from there on:", "confidence"), *_trade(curve(cases), chosen, left)]


def _spoken(chosen: Threshold | None) -> str:
    if chosen is None:
        return "no threshold reaches the target"
    return f"from confidence {chosen.confidence:.2f}: {chosen.precision:.0%} right, {chosen.coverage:.0%} of issues"


def _frame(left: int, title: str, below: str) -> str:
    bottom = _TOP + _SIDE
    lines = [f'<text x="{left}" y="{_TOP - 12}">{title}</text>']
    for tenth in range(0, 11, 2):
        x, y = left + _SIDE * tenth / 10, bottom - _SIDE * tenth / 10
        lines.append(f'<path class="axis" d="M{left} {y:.1f}H{left + _SIDE}M{x:.1f} {_TOP}V{bottom}"/>')
        lines.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth * 10} %</text>')
        lines.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{tenth / 10:.1f}</text>')
    lines.append(f'<text x="{left + _SIDE / 2}" y="{bottom + 40}" text-anchor="middle">{below}</text>')
    return "\n".join(lines)


def _reliability(parts: Sequence[Fifth], address: Callable[[Fifth], str] | None) -> list[str]:
    bottom = _TOP + _SIDE
    points = [(_LEFT + _SIDE * part.mean, bottom - _SIDE * part.right / part.cases, part) for part in parts]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in points)
    ideal = f'<path class="ideal" d="M{_LEFT} {bottom}L{_LEFT + _SIDE} {_TOP}"/>'
    line = [f'<path class="one" d="M{path}"/>'] if points else []
    return [ideal, *line, *(_dot(x, y, part, address) for x, y, part in points)]


def _dot(x: float, y: float, part: Fifth, address: Callable[[Fifth], str] | None) -> str:
    low, high = wilson(part.right, part.cases)
    bottom = _TOP + _SIDE
    says = (
        f"{part.cases} issues, mean confidence {part.mean:.0%}, right {part.right / part.cases:.0%}, 95 % interval "
        f"{low:.0%} to {high:.0%}"
    )
    # Below the interval, or above it where the axis has its own numbers.
    at = bottom - _SIDE * low + 15 if low > 0.08 else bottom - _SIDE * high - 7
    count = f'<text x="{x:.1f}" y="{at:.1f}" text-anchor="middle">{part.right}/{part.cases}</text>'
    around = interval(x, bottom - _SIDE * low, bottom - _SIDE * high)
    dot = f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5"'
    if address is None:
        return f"{around}{dot}><title>{says}</title></circle>{count}"
    opens = f"open all with a confidence of {part.least:.2f} to {part.most:.2f}"
    return f"{around}{link(address(part), f'{says}; {opens}', f'{dot}/>')}{count}"


def _trade(points: Sequence[Threshold], chosen: Threshold | None, left: int) -> list[str]:
    bottom = _TOP + _SIDE
    lines: list[str] = [_band(points, left)] if points else []
    for style, shares in (("one", [p.precision for p in points]), ("two", [p.coverage for p in points])):
        along = (
            f"{left + _SIDE * point.confidence:.1f} {bottom - _SIDE * share:.1f}"
            for point, share in zip(points, shares, strict=True)
        )
        lines.append(f'<path class="{style}" d="M{"L".join(along)}"/>' if points else "")
    if chosen:
        x = left + _SIDE * chosen.confidence
        lines.append(f'<path class="ideal" d="M{x:.1f} {_TOP}V{bottom}"><title>{_spoken(chosen)}</title></path>')
    key = f'<text x="{left + _SIDE}" y="{_TOP - 12}" text-anchor="end">'
    return [
        *lines,
        f'{key}<tspan class="in-one">share right</tspan> · <tspan class="in-two">share of issues</tspan></text>',
    ]


def _band(points: Sequence[Threshold], left: int) -> str:
    """Draw the interval of the precision at each threshold."""
    bottom, between = _TOP + _SIDE, [wilson(round(point.precision * point.cases), point.cases) for point in points]
    upper = [(point.confidence, high) for point, (_, high) in zip(points, between, strict=True)]
    lower = [(point.confidence, low) for point, (low, _) in zip(points, between, strict=True)]
    along = "L".join(f"{left + _SIDE * x:.1f} {bottom - _SIDE * y:.1f}" for x, y in (*upper, *reversed(lower)))
    return f'<path class="band" d="M{along}Z"/>'
