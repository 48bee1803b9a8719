"""Find traces with the structure of most languages: a heading with the error, then consecutive frame lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nodes.search.stacktraces.lines import Line
from nodes.search.types import Frame, StackTrace

MAX_TRACES = 20
"""The maximum number of traces per text."""
MAX_FRAMES = 200
"""The maximum number of frames per trace."""

# Repetitions in the patterns are bounded, so that hostile text costs linear time only.
_ERROR_LINE = re.compile(r"([A-Za-z_$][\w.$\\]{0,199})(?: \[\w{1,80}\])?(?: ?\(code: \d{1,9}\))?(?::\s+(.*)|:?$)")
_CALAMITY = ("Error", "Exception", "Warning", "Exit", "Interrupt", "Fault", "Failure", "Throwable", "Iteration")


@dataclass(frozen=True, slots=True)
class Heading:
    """The error that a trace reports."""

    error: str | None
    message: str | None = None
    frame: Frame | None = None
    """The location of the error, if the heading states it."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The trace format of one language."""

    language: str
    frame: Callable[[str], Frame | None]
    heading: Callable[[str], Heading | None]
    filler: Callable[[str], bool] = lambda _: False
    """Recognises lines between two frames that contain no frame."""
    lookback: int = 8
    """How many lines above the first frame may contain the heading; a message may have several lines."""


def error_line(text: str) -> Heading | None:
    """Parse ``Type: message``, or a type alone if its name ends like an error's."""
    match = _ERROR_LINE.match(text)
    if not match:
        return None
    name, message = match[1].rstrip("."), match[2]
    last = name.replace("\\", ".").rpartition(".")[2]
    if not (last.endswith(_CALAMITY) or (message and last[:1].isupper() and "." in name)):
        return None
    return Heading(error=name, message=message.strip() or None if message else None)


def find_runs(lines: Sequence[Line], dialect: Dialect) -> list[StackTrace]:
    """Return every run of frames, with the heading above it."""
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
    """An error that is recognised without frames below it, and the index after its last line."""

    heading: Heading
    stop: int


def find_alone(
    lines: Sequence[Line],
    language: str,
    traces: Sequence[StackTrace],
    read: Callable[[Sequence[Line], int], Alone | None],
) -> list[StackTrace]:
    """Return errors outside the traces that state their location, or whose format only this language has."""
    found: list[StackTrace] = []
    index = 0
    while index < len(lines) and len(found) < MAX_TRACES:
        alone = read(lines, index)
        stop = alone.stop if alone else index + 1
        start, end = lines[index].start, lines[stop - 1].end
        if alone and all(trace.end <= start or end <= trace.start for trace in traces):
            error_heading = alone.heading
            frames = (error_heading.frame,) if error_heading.frame else ()
            found.append(StackTrace(language, error_heading.error, error_heading.message, frames, start, end))
            index = stop
        else:
            index += 1
    return found


def on_one_line(read: Callable[[str], Heading | None]) -> Callable[[Sequence[Line], int], Alone | None]:
    """Adapt a parser of single lines to ``find_alone``."""

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
    """Return whether the line opens or closes a Markdown code block."""
    return bare.startswith(("```", "~~~"))


def same_place(one: Frame, other: Frame) -> bool:
    """Return whether two frames name the same line, even if one path lacks the outer folders."""
    left, right = f"/{one.path}", f"/{other.path}"
    return one.line == other.line and (left.endswith(right) or right.endswith(left))


def forward(path: str) -> str:
    """Replace backslashes with forward slashes, as in Windows paths."""
    return path.replace("\\", "/")


def innermost_first(trace: StackTrace) -> StackTrace:
    """Reverse the frames of a trace whose language prints the most recent call last."""
    return replace(trace, frames=trace.frames[::-1])
