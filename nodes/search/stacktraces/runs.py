"""What most languages share: a heading that names the error, then a run of lines that each name a frame."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nodes.search.stacktraces.lines import Line
from nodes.search.types import Frame, StackTrace

MAX_TRACES = 20
"""Traces of one text that are kept."""
MAX_FRAMES = 200
"""Frames of one trace that are kept."""

_ERROR_LINE = re.compile(r"([A-Za-z_$][\w.$\\]{0,199})(?: \[\w{1,80}\])?(?: ?\(code: \d{1,9}\))?(?::\s+(.*)|:?$)")
_CALAMITY = ("Error", "Exception", "Warning", "Exit", "Interrupt", "Fault", "Failure", "Throwable", "Iteration")


@dataclass(frozen=True, slots=True)
class Heading:
    """What a trace says went wrong."""

    error: str | None
    message: str | None = None
    frame: Frame | None = None
    """Where it was raised, if the heading itself says so."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one language prints its traces."""

    language: str
    frame: Callable[[str], Frame | None]
    heading: Callable[[str], Heading | None]
    filler: Callable[[str], bool] = lambda _: False
    """Lines between two frames that name none."""
    lookback: int = 8
    """How many lines above the first frame may hold the heading; messages have several lines."""


def error_line(text: str) -> Heading | None:
    """Read ``Type: message``, or a lone type whose name says that it is an error."""
    match = _ERROR_LINE.match(text)
    if not match:
        return None
    name, message = match[1].rstrip("."), match[2]
    last = name.replace("\\", ".").rpartition(".")[2]
    if not (last.endswith(_CALAMITY) or (message and last[:1].isupper() and "." in name)):
        return None
    return Heading(error=name, message=message.strip() or None if message else None)


def find_runs(lines: Sequence[Line], dialect: Dialect) -> list[StackTrace]:
    """Every run of frames, with the heading above it."""
    traces: list[StackTrace] = []
    floor = index = 0
    while index < len(lines) and len(traces) < MAX_TRACES:
        if dialect.frame(lines[index].bare) is None:
            index += 1
            continue
        stop, frames = _frames(lines, index, dialect)
        traces.append(_trace(lines, dialect, floor=floor, first=index, stop=stop, frames=frames))
        floor = index = stop
    return traces


class Alone(NamedTuple):
    """An error that needs no frames under it to be one, and the index one past its last line."""

    heading: Heading
    stop: int


def find_alone(
    lines: Sequence[Line],
    language: str,
    traces: Sequence[StackTrace],
    read: Callable[[Sequence[Line], int], Alone | None],
) -> list[StackTrace]:
    """The errors outside the traces that name their place, or that only this language prints so."""
    found: list[StackTrace] = []
    index = 0
    while index < len(lines) and len(found) < MAX_TRACES:
        alone = read(lines, index)
        stop = alone.stop if alone else index + 1
        start, end = lines[index].start, lines[stop - 1].end
        if alone and all(trace.end <= start or end <= trace.start for trace in traces):
            said = alone.heading
            frames = (said.frame,) if said.frame else ()
            found.append(StackTrace(language, said.error, said.message, frames, start, end))
            index = stop
        else:
            index += 1
    return found


def on_one_line(read: Callable[[str], Heading | None]) -> Callable[[Sequence[Line], int], Alone | None]:
    """Read an error of which one line says everything."""

    def alone(lines: Sequence[Line], index: int) -> Alone | None:
        heading = read(lines[index].bare)
        return Alone(heading, index + 1) if heading else None

    return alone


def _frames(lines: Sequence[Line], first: int, dialect: Dialect) -> tuple[int, list[Frame]]:
    frames: list[Frame] = []
    index = first
    while index < len(lines):
        frame = dialect.frame(lines[index].bare)
        if frame is not None:
            frames.append(frame)
        elif not dialect.filler(lines[index].bare):
            break
        index += 1
    return index, frames[:MAX_FRAMES]


def _trace(
    lines: Sequence[Line], dialect: Dialect, *, floor: int, first: int, stop: int, frames: list[Frame]
) -> StackTrace:
    top, heading = _heading_above(lines, dialect, floor=floor, first=first)
    if heading.frame and not any(same_place(heading.frame, frame) for frame in frames[:3]):
        frames = [heading.frame, *frames]
    return StackTrace(
        language=dialect.language,
        error=heading.error,
        message=heading.message,
        frames=tuple(frames[:MAX_FRAMES]),
        start=lines[top].start,
        end=lines[stop - 1].end,
    )


def _heading_above(lines: Sequence[Line], dialect: Dialect, *, floor: int, first: int) -> tuple[int, Heading]:
    for index in range(first - 1, max(floor, first - dialect.lookback) - 1, -1):
        if is_fence(lines[index].bare):
            break
        if heading := dialect.heading(lines[index].bare):
            if heading.message is None and index + 1 < first and lines[index].bare.endswith(":"):
                heading = replace(heading, message=lines[index + 1].bare)
            return index, heading
    return first, Heading(None)


def is_fence(bare: str) -> bool:
    """Whether the line opens or closes a Markdown code block."""
    return bare.startswith(("```", "~~~"))


def same_place(one: Frame, other: Frame) -> bool:
    """Whether two frames name the same line, be it that one leaves the outer folders out."""
    left, right = f"/{one.path}", f"/{other.path}"
    return one.line == other.line and (left.endswith(right) or right.endswith(left))


def forward(path: str) -> str:
    """A Windows path with forward slashes; any other as it is."""
    return path.replace("\\", "/")


def innermost_first(trace: StackTrace) -> StackTrace:
    """The trace of a language that prints the most recent call last, turned round."""
    return replace(trace, frames=trace.frames[::-1])
