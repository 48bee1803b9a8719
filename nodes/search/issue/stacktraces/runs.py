"""Find traces in the structure of most languages, in normalised lines: a heading, then consecutive frames."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from nodes.search.issue.normal.evidence import is_fence
from nodes.search.issue.normal.mapped import rows
from nodes.search.types import Frame, StackTrace

MAX_LINE = 2000
"""Characters of a line that are read; a frame does not extend beyond them."""
MAX_LINES = 20_000
"""Non-blank lines that are read; GitHub's longest body has 65,536 characters."""

MAX_TRACES = 20
"""The maximum number of traces per text."""
MAX_FRAMES = 200
"""The maximum number of frames per trace."""

# Repetitions in the patterns are bounded, so that hostile text costs linear time only.
_ERROR_LINE = re.compile(r"([A-Za-z_$][\w.$\\]{0,199})(?: \[(\w{1,80})\])?(?: ?\([^()]{1,80}\)(?=:))?(?::\s+(.*)|:?$)")
_ERROR_INSIDE = re.compile(
    r"(?<=[\s(\[:])((?:\w{1,60}(?:\.|::|\\)){0,10}\w{0,80}(?:Error|Exception|Failure|Throwable)): (.*)$"
)
"""An error after other words; only directly above its first frame."""
_MAX_HEADING = 500
_FAR = 40
"""Lines above a trace that may name its error or its place."""
_CALAMITY = ("Error", "Exception", "Warning", "Exit", "Interrupt", "Fault", "Failure", "Throwable", "Iteration")

Found = tuple[StackTrace | None, int]
"""A trace, or None, and the index of the line to read next."""


@dataclass(frozen=True, slots=True)
class Line:
    """A non-blank line of a normalised text."""

    text: str
    """Includes the indentation."""
    bare: str
    """Stripped at both ends."""
    start: int
    """Offset in the normalised text."""
    end: int

    @property
    def indent(self) -> int:
        """The number of columns of indentation."""
        return len(self.text) - len(self.text.lstrip())


def split_lines(text: str) -> list[Line]:
    """Return the non-blank lines of a normalised text, in order."""
    # Tabs would count as one column of indentation; a line of many tabs grows, so it is cut again.
    cut = ((row.text[:MAX_LINE].expandtabs(4)[:MAX_LINE], row) for row in rows(text))
    lines = (Line(line, bare, row.start, row.end) for line, row in cut if (bare := line.strip()))
    return list(islice(lines, MAX_LINES))


@dataclass(frozen=True, slots=True)
class Heading:
    """The error that a trace reports."""

    error: str | None
    message: str | None = None
    frame: Frame | None = None
    """The location of the error, if the heading states it."""


FramelessError = tuple[Heading, int]
"""An error that is recognised without frames below it, and the index after its last line."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The trace format of one language."""

    language: str
    frame: Callable[[str], Frame | None]
    heading: Callable[[str], Heading | None]
    filler: re.Pattern[str] = re.compile(r"(?!)")
    """The beginning of lines between two frames that contain no frame."""
    alone: Callable[[str], Heading | None] = lambda _: None
    """Recognises an error without frames that states its location, or whose format only this language has."""
    finished: Callable[[StackTrace, Sequence[Line], Sequence[Line]], StackTrace | None] = lambda trace, *_: trace
    """Completes a trace by its lines and those above them; None if they are not a trace."""
    lookback: int = 8
    """Number of lines above the first frame that may contain the heading; a message may have several lines."""

    def find(self, lines: Sequence[Line]) -> list[StackTrace]:
        """Return every run of frames, with the heading above it, then the errors that are recognised alone."""

        def read(index: int, floor: int) -> Found | None:
            frames, stop = list[Frame](), index
            while stop < len(lines):
                if frame := self.frame(lines[stop].bare):
                    frames.append(frame)
                elif not (frames and self.filler.match(lines[stop].bare)):
                    break
                stop += 1
            if not frames:
                return None
            # The floor prevents a second use of the heading of the trace above.
            top, heading = self._heading_above(lines, floor=floor, first=index)
            # Only near the top: further down the same place is another call of a recursion.
            if heading.frame and not any(same_place(heading.frame, frame) for frame in frames[:3]):
                frames = [heading.frame, *frames]
            inside, above = lines[top:stop], lines[max(0, top - _FAR) : top]
            return self.finished(build_trace(self.language, heading, frames, inside), inside, above), stop

        def read_alone(lines: Sequence[Line], index: int) -> FramelessError | None:
            return (found, index + 1) if (found := self.alone(lines[index].bare)) else None

        return add_frameless_errors(lines, self.language, scan(lines, read), read_alone)

    def _heading_above(self, lines: Sequence[Line], *, floor: int, first: int) -> tuple[int, Heading]:
        for index in range(first - 1, max(floor, first - self.lookback) - 1, -1):
            if is_fence(lines[index].bare):
                break
            if heading := self.heading(lines[index].bare):
                # A type with a colon at the end has its message on the next line.
                if heading.message is None and index + 1 < first and lines[index].bare.endswith(":"):
                    heading = replace(heading, message=lines[index + 1].bare)
                return index, heading
        # GNOME's shell has a caption in between.
        at = first - 1 - (first - 1 > floor and lines[first - 1].bare == "Stack trace:")
        inside = _ERROR_INSIDE.search(lines[at].bare[:_MAX_HEADING] if first > floor else "")
        return (at, Heading(inside[1], inside[2] or None)) if inside else (first, Heading(None))


def error_line(text: str) -> Heading | None:
    """Parse ``Type: message``, or a type alone if its name ends like an error's."""
    match = _ERROR_LINE.match(text)
    if not match:
        return None
    # Node adds the class from which the error of another name is derived: ``Stale [Error]``.
    name, base, message = match[1].rstrip("."), match[2] or "", match[3]
    last = name.replace("\\", ".").rpartition(".")[2]
    named = last.endswith(_CALAMITY) or base.endswith(_CALAMITY)
    if not (named or (message and last[:1].isupper() and "." in name)):
        return None
    return Heading(error=name, message=message.strip() or None if message else None)


def build_trace(
    language: str, heading: Heading, frames: Sequence[Frame], lines: Sequence[Line], *, is_recent_last: bool = False
) -> StackTrace:
    """Build the trace that some lines print; the innermost frames are retained if there are too many."""
    ordered = frames[::-1] if is_recent_last else frames
    place = lines[0].start, lines[-1].end
    return StackTrace(language, heading.error, heading.message, tuple(ordered[:MAX_FRAMES]), *place)


def scan(lines: Sequence[Line], read: Callable[[int, int], Found | None]) -> list[StackTrace]:
    """Return the traces that ``read`` finds, given the index of a line and the end of the trace above it."""
    traces: list[StackTrace] = []
    floor = index = 0
    while index < len(lines) and len(traces) < MAX_TRACES:
        if found := read(index, floor):
            trace, floor = found
            index = floor
            traces += [trace] if trace else []
        else:
            index += 1
    return traces


def add_frameless_errors(
    lines: Sequence[Line],
    language: str,
    traces: list[StackTrace],
    read: Callable[[Sequence[Line], int], FramelessError | None],
) -> list[StackTrace]:
    """Add the errors outside the traces that state their location, or whose format only this language has."""

    def read_error(index: int, _: int) -> Found | None:
        error = read(lines, index)
        if error is None:
            return None
        heading, stop = error
        found = build_trace(language, heading, [heading.frame] if heading.frame else [], lines[index:stop])
        # An error inside a trace is its heading, which that trace already has.
        is_apart = all(trace.end <= found.start or found.end <= trace.start for trace in traces)
        return (found, stop) if is_apart else None

    return (traces + scan(lines, read_error))[:MAX_TRACES]


def same_place(one: Frame, other: Frame) -> bool:
    """Return whether two frames name the same line, even if one path lacks the outer folders."""
    left, right = f"/{one.path}", f"/{other.path}"
    return one.line == other.line and (left.endswith(right) or right.endswith(left))
