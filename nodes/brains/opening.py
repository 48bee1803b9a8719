"""The messages to readers of code: the functions of a few files, and what people and critics wrote since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nodes.brains.briefing import CHECKED, _format_redirect_instructions, critique, exchanges, rejection
from nodes.brains.calls.tokens import estimate
from nodes.brains.fence import fence, squeeze
from nodes.brains.shared import join_sections
from nodes.context import Case, FileCard
from nodes.evidence import NumberedEvidence
from nodes.search.types import Signature
from nodes.trust.secrets import mask

LATER = 150
"""Token limit of each later message: redirects, answers from people, the critic's verdict, and a rejected draft."""
CANDIDATES = 20
"""Places of the search that are evidence for a model."""
BODIES = (360, 240, 220, 180)
"""Maximum tokens of the whole functions, best first."""
_OUTLINES = (180, 130, 100, 80, 80)
"""Maximum tokens of the signatures of each file."""
_PLACE = 50
_ANALYSIS = 160
_LINE = 160


class Opening(NamedTuple):
    """The part of the first message after the issue, and the candidates that it contains."""

    text: str
    shown: tuple[NumberedEvidence, ...]


class OpenedFile(NamedTuple):
    """A chosen file with its places by id; a place with a body is shown whole."""

    card: FileCard
    places: tuple[NumberedEvidence, ...]
    bodies: Mapping[str, str]


def build_function_opening(case: Case, files: Sequence[OpenedFile], analysis: str) -> Opening:
    """Combine the analysis of the file stage and the functions of the chosen files."""
    described = [_opened(one, _OUTLINES[min(number, 4)]) for number, one in enumerate(files)]
    sections = (
        ("Said since", later_messages(case)),
        ("Analysis of the file reader", fence("analysis", squeeze(mask(analysis), _ANALYSIS)) if analysis else ""),
        ("Files", fence("files", mask("\n\n".join(described)))),
    )
    return Opening(join_sections(sections), tuple(item for one in files for item in one.places))


def _opened(one: OpenedFile, outline: int) -> str:
    parts = [f"### {one.card.path}", *(_place(item, one.bodies.get(item.id, "")) for item in one.places)]
    shown = {item.evidence.symbol for item in one.places}
    return "\n".join((*parts, *_outline([s for s in one.card.sketch.signatures if s.symbol not in shown], outline)))


def _place(item: NumberedEvidence, body: str) -> str:
    checked = [f"why: {text[:160]}" for text in item.evidence.reasons[:1] if text.startswith(CHECKED)]
    return "\n".join((_heading(item), body or squeeze(item.evidence.quote, _PLACE), *checked))


def _outline(signatures: Sequence[Signature], tokens: int) -> list[str]:
    """Format signatures with their first lines, as many as fit."""
    lines: list[str] = []
    for number, one in enumerate(signatures):
        owner = f"{one.symbol.rpartition('.')[0]}: " if "." in one.symbol else ""
        line = f"{one.start_line} {owner}{one.text}"[:_LINE]
        tokens -= estimate(line) + 1
        if tokens < 0:
            return ["Also defined:", *lines, f"… and {len(signatures) - number} more"]
        lines.append(line)
    return ["Also defined:", *lines] if lines else []


def fitted_body(lines: Sequence[str], first: int, quoted: tuple[int, int], tokens: int) -> str:
    """Return a function with as many lines as fit: its beginning, and the lines that match the issue.

    Args:
        lines: the whole function.
        first: the number of its first line.
        quoted: the first and last line that match.
        tokens: how many fit.
    """
    text = "\n".join(lines)
    if estimate(text) <= tokens:
        return text
    head = _fitting(lines, tokens // 2)
    start = max(len(head), quoted[0] - first)
    tail = _fitting(lines[start:], tokens - estimate("\n".join(head)))
    gap = ["  …"] if start > len(head) else []
    rest = ["  …"] if start + len(tail) < len(lines) else []
    return "\n".join((*head, *gap, *tail, *rest))


def _fitting(lines: Sequence[str], tokens: int) -> list[str]:
    shown: list[str] = []
    for line in lines:
        tokens -= estimate(line[:_LINE]) + 1
        if tokens < 0:
            break
        shown.append(line[:_LINE])
    return shown


def _heading(item: NumberedEvidence) -> str:
    evidence = item.evidence
    return " ".join(filter(None, (item.id, str(evidence.locator), evidence.symbol)))


def later_messages(case: Case) -> str:
    """Format later messages. Redirects come from maintainers and may give instructions; the rest is fenced as data."""
    state = case.state
    redirects = _format_redirect_instructions(state.redirect_instructions)
    parts = [
        squeeze(redirects, LATER) if redirects else "",
        fence("exchanges", squeeze(exchanges(case), LATER)) if state.human_exchanges else "",
        fence("critic", squeeze(critique(case), LATER)) if state.critic_feedback else "",
        fence("rejected", squeeze(rejection(case), LATER)) if state.best_draft else "",
    ]
    return "\n".join(filter(None, parts))
