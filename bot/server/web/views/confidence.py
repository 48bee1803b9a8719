"""The confidence of each draft of a report, and the drafts that the quality gate rejected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.report.account import retry_reasons
from bot.report.drawing import picture, text
from bot.report.words import percent
from nodes.state import Metrics, RetryReason
from nodes.trust.quality_gate import LOW_CONFIDENCE

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 440, 210, 48, 28, 172


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
