"""Parse Python traces in the interpreter's format, and the parts that all Python tools have in common."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from nodes.search.issue.located import forward
from nodes.search.issue.normal.evidence import is_fence
from nodes.search.issue.stacktraces.runs import (
    Found,
    FramelessError,
    Heading,
    Line,
    add_frameless_errors,
    build_trace,
    error_line,
    scan,
)
from nodes.search.types import Frame, StackTrace

MAX_RECENT = "Traceback (most recent call last)"
_FILE = re.compile(
    r'(?:> )?File ["“”]([^"“”]{1,500})["“”](?:, line (\d{1,9})(?!\d|, characters? \d))?(?:,? in (.{1,200}))?'
)
"""Forums replace straight quotation marks with typographic ones; loguru marks a frame with ``>``."""
_NUMBERED = re.compile(r"(\d{1,7})\. ")
"""The line below a frame in older versions of Django's debug page."""
MOST_RECENT_FIRST = "(most recent call first)"
_FATAL = "Fatal Python error: "
_TO_FATAL = 3
"""Lines between a fatal error and the frames of the thread that had it."""
_CALLED = re.compile(r"\s{0,3}\(")
_DEBUG_PAGE = re.compile(r"Exception Type: ([\w.]{1,200})(?: at \S{0,400})?$")
_DEBUG_VALUE = "Exception Value:"
_MAX_CODE = 12
"""Lines of source and carets below one frame; a multi-line expression has several."""
_ELIDED = re.compile(r"\W{1,3}$|[\[(<.…]")
_UNFINISHED = ("^", "~", "[Previous line repeated", "...")

python_trace = partial(build_trace, "python", is_recent_last=True)
"""Build the trace of some lines from its heading and its frames as printed."""


def find(lines: Sequence[Line]) -> list[StackTrace]:
    """Find the interpreter's traces; each link of a chain is a separate trace."""

    def read(first: int, _: int) -> Found | None:
        if _file_frame(lines[first]) is None:
            return None
        index, frames = _frames(lines, first)
        above = lines[first - 1].bare if first else ""
        if MOST_RECENT_FIRST in above:
            top, heading = _fatal_error(lines, first)
            return build_trace("python", heading, frames, lines[top:index]), index
        stop, heading = conclusion(lines, index, under=lines[first])
        # AWS Lambda prints the error above the trace.
        if heading.error is None and MAX_RECENT in above and first > 1:
            heading = error_line(lines[first - 2].bare.removeprefix("[ERROR] ")) or heading
        # Reporters often paste a trace without its first line.
        top = first - 1 if MAX_RECENT in above else first
        return python_trace(heading, frames, lines[top:stop]), stop

    return add_frameless_errors(lines, "python", scan(lines, read), _frameless_error)


def _fatal_error(lines: Sequence[Line], first: int) -> tuple[int, Heading]:
    """Return where the trace of a crashed interpreter begins, and its error."""
    for at in range(first - 2, max(-1, first - 2 - _TO_FATAL), -1):
        if lines[at].bare.startswith(_FATAL):
            return at, Heading("Fatal Python error", lines[at].bare.removeprefix(_FATAL) or None)
    return first - 1, Heading(None)


def conclusion(lines: Sequence[Line], index: int, *, under: Line) -> tuple[int, Heading]:
    """Return the end of the trace and the error in the line below its frames, the first of which is ``under``."""
    if index >= len(lines):
        return index, Heading(None)
    heading = error_below(_text(lines[index])) or _error_alone(lines, index, under)
    if heading is None:
        return index, Heading(None)
    below = lines[index + 1].bare if index + 1 < len(lines) else ""
    if heading.message is None and below.startswith(_DEBUG_VALUE):
        return index + 2, replace(heading, message=below.removeprefix(_DEBUG_VALUE).strip() or None)
    return index + 1, heading


def error_below(text: str) -> Heading | None:
    """Parse the error in a line below the frames, even if its name does not end like an error's."""
    if heading := error_line(text):
        return heading
    if page := _DEBUG_PAGE.match(text):
        return Heading(page[1])
    name, colon, message = text.partition(": ")
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    # Older libraries name errors in lower case: socket.error.
    if (colon and (len(parts) > 1 or name[0].isupper())) or (len(parts) > 1 and parts[-1][0].isupper()):
        return Heading(name, message.strip() or None)
    return None


def _error_alone(lines: Sequence[Line], index: int, under: Line) -> Heading | None:
    """Parse an error without a message whose name may be any word, directly below the frames and less indented."""
    name = _text(lines[index])
    is_next = index > 0 and lines[index].start - lines[index - 1].end == 1
    return Heading(name) if is_next and _indent(lines[index]) < _indent(under) and name.isidentifier() else None


def function_name(written: str | None) -> str | None:
    """Return the function named in a frame, without the arguments that some tools add."""
    return _CALLED.split(written, maxsplit=1)[0].strip() or None if written else None


def _frames(lines: Sequence[Line], first: int) -> tuple[int, list[Frame]]:
    frames: list[Frame] = []
    index = seen = first
    while index < len(lines):
        line = lines[index]
        frame = _file_frame(line)
        if frame:
            frames.append(frame)
            seen = index
        elif not _is_source(line, under=lines[seen], distance=index - seen):
            break
        elif frames[-1].line is None and (number := _NUMBERED.match(line.bare)):
            frames[-1] = replace(frames[-1], line=int(number[1]))
        index += 1
    return index, frames


def _is_source(line: Line, *, under: Line, distance: int) -> bool:
    if MAX_RECENT in line.bare or distance > _MAX_CODE or is_fence(line.bare):
        return False
    if _indent(line) > _indent(under) or _text(line).startswith(_UNFINISHED):
        return True
    # A trace pasted without indentation still has one line of source below each frame.
    return _indent(line) == _indent(under) and distance == 1 and not error_line(_text(line))


def _frameless_error(lines: Sequence[Line], index: int) -> FramelessError | None:
    """Parse a heading whose frames are missing, and the error below it."""
    if MAX_RECENT not in lines[index].bare:
        return None
    for at in range(index + 1, min(index + 1 + _MAX_CODE, len(lines))):
        line = lines[at]
        heading = error_line(_text(line)) if _indent(line) <= _indent(lines[index]) else None
        if heading:
            return FramelessError(heading, at + 1)
        if is_fence(line.bare) or not (_indent(line) > _indent(lines[index]) or _ELIDED.match(_text(line))):
            break
    return None


def _file_frame(line: Line) -> Frame | None:
    if "File " not in line.text:
        return None
    match = _FILE.match(_text(line))
    if match is None or not (match[2] or match[3]):
        return None
    return Frame(forward(match[1]), int(match[2]) if match[2] else None, function_name(match[3]))


def _text(line: Line) -> str:
    """Return the line without the margin that an exception group or a table draws."""
    return line.bare.lstrip("|+- ").rstrip("| ") if line.bare[0] in "|+" else line.bare


def _indent(line: Line) -> int:
    return line.indent + len(line.bare) - len(line.bare.lstrip("|+- ")) if line.bare[0] in "|+" else line.indent
