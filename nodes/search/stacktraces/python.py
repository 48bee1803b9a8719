"""Traces of Python: the interpreter's, IPython's and pytest's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from nodes.search.stacktraces.lines import Line
from nodes.search.stacktraces.runs import MAX_FRAMES, MAX_TRACES, Heading, error_line, forward, is_fence
from nodes.search.types import Frame, StackTrace

_FILE = re.compile(r'File "([^"]{1,500})", line (\d{1,9})(?:, in (.{1,200}))?')
_CALLED = re.compile(r"\s{0,3}\(")
_CELL = re.compile(r"(?:Cell|Input) In ?\[\d{1,6}\](?:, (?:line (\d{1,7})|in (.{1,200})))?")
_IPYTHON = re.compile(r"File (\S{1,500}):(\d{1,7})(?:, in (.{1,200}))?$")
_ARROW = re.compile(r"-{1,12}> {0,8}(\d{1,7})\b")
_NUMBERED = re.compile(r"\d{1,7}\b|\(\.\.\.\)")
_HEADED = re.compile(r"(\w{1,120}) {2,200}Traceback \(most recent call last\)")
_LINKED = re.compile(r"\[([^\]]{1,400})\]\([^)\s]{1,600}\)")
_DEBUG_PAGE = re.compile(r"Exception Type: ([\w.]{1,200})(?: at \S{0,400})?$")
_DEBUG_VALUE = "Exception Value:"
_PYTEST = re.compile(r"([^\s:\"'`(][^:\"'`]{0,300}\.pyx?):(\d{1,7}): (in )?([\w.<>]{1,200})")
_MOST_RECENT = "Traceback (most recent call last)"
_MAX_CODE = 12
"""Lines of source and carets under one frame; a multi-line expression has several."""
_MAX_PYTEST_GAP = 60
_UNFINISHED = ("^", "~", "[Previous line repeated", "...")


def find(lines: Sequence[Line]) -> list[StackTrace]:
    """The traces of Python; each link of a chain is one of its own."""
    traces = _interpreter(lines) + _notebook(lines) + _pytest(lines)
    return sorted(traces, key=lambda trace: trace.start)


def _text(line: Line) -> str:
    """The line without the margin that an exception group draws."""
    return line.bare.lstrip("|+- ") if line.bare[0] in "|+" else line.bare


def _indent(line: Line) -> int:
    return line.indent + len(line.bare) - len(_text(line)) if line.bare[0] in "|+" else line.indent


def _file_frame(line: Line) -> Frame | None:
    if 'File "' not in line.text:
        return None
    match = _FILE.match(_text(line))
    return Frame(forward(match[1]), int(match[2]), _function(match[3])) if match else None


def _function(written: str | None) -> str | None:
    return _CALLED.split(written, maxsplit=1)[0].strip() or None if written else None


def _interpreter(lines: Sequence[Line]) -> list[StackTrace]:
    traces: list[StackTrace] = []
    index = 0
    while index < len(lines) and len(traces) < MAX_TRACES:
        if _file_frame(lines[index]) is None:
            index += 1
            continue
        first = index
        index, frames = _interpreter_frames(lines, first)
        stop, heading = _conclusion(lines, index)
        top = first - 1 if first and _MOST_RECENT in lines[first - 1].bare else first
        traces.append(_trace(lines, frames, heading, top=top, stop=stop))
        index = stop
    return traces


def _interpreter_frames(lines: Sequence[Line], first: int) -> tuple[int, list[Frame]]:
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
        index += 1
    return index, frames


def _is_source(line: Line, *, under: Line, distance: int) -> bool:
    if is_fence(line.bare) or _MOST_RECENT in line.bare or distance > _MAX_CODE:
        return False
    if _indent(line) > _indent(under) or _text(line).startswith(_UNFINISHED):
        return True
    # Pasted without its indentation, a trace still has one line of source under each frame.
    return _indent(line) == _indent(under) and distance == 1 and not error_line(_text(line))


def _conclusion(lines: Sequence[Line], index: int) -> tuple[int, Heading]:
    """Where the trace ends and what the line under its frames says."""
    if index >= len(lines):
        return index, Heading(None)
    heading = _error(_text(lines[index]))
    if heading is None:
        return index, Heading(None)
    below = lines[index + 1].bare if index + 1 < len(lines) else ""
    if heading.message is None and below.startswith(_DEBUG_VALUE):
        return index + 2, replace(heading, message=below.removeprefix(_DEBUG_VALUE).strip() or None)
    return index + 1, heading


def _error(text: str) -> Heading | None:
    if heading := error_line(text):
        return heading
    if page := _DEBUG_PAGE.match(text):
        return Heading(page[1])
    name, colon, message = text.partition(": ")
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    # Older libraries have errors in lower case: socket.error.
    if (colon and (len(parts) > 1 or name[0].isupper())) or (len(parts) > 1 and parts[-1][0].isupper()):
        return Heading(name, message.strip() or None)
    return None


def _notebook(lines: Sequence[Line]) -> list[StackTrace]:
    traces: list[StackTrace] = []
    index = 0
    while index < len(lines) and len(traces) < MAX_TRACES:
        if _notebook_frame(lines[index].bare) is None:
            index += 1
            continue
        first = index
        index, frames = _notebook_frames(lines, first)
        stop, heading = _conclusion(lines, index)
        top, named = first, None
        if first and _MOST_RECENT in lines[first - 1].bare:
            top, named = first - 1, _HEADED.match(lines[first - 1].bare)
        if named or heading.error or len(frames) > 1:
            heading = heading if heading.error else Heading(named[1] if named else None)
            traces.append(_trace(lines, frames, heading, top=top, stop=stop))
        index = max(stop, first + 1)
    return traces


def _notebook_frames(lines: Sequence[Line], first: int) -> tuple[int, list[Frame]]:
    frames: list[Frame] = []
    index = first
    while index < len(lines):
        bare = lines[index].bare
        if frame := _notebook_frame(bare):
            frames.append(frame)
        elif arrow := _ARROW.match(bare):
            frames[-1] = replace(frames[-1], line=frames[-1].line or int(arrow[1]))
        elif not _NUMBERED.match(bare):
            break
        index += 1
    return index, frames


def _notebook_frame(bare: str) -> Frame | None:
    if match := _IPYTHON.match(bare):
        return Frame(forward(match[1]), int(match[2]), _function(match[3]))
    if match := _CELL.match(bare):
        return Frame("", int(match[1]) if match[1] else None, _function(match[2]))
    if link := _LINKED.match(bare):  # Colab links every file
        bare = link[1] + bare[link.end() :]
    path, told, function = bare.partition(" in ")
    if told and path.startswith("<ipython-input-"):
        return Frame("", None, _function(function))
    if told and path.endswith((".py", ".pyx", ".pyc")) and " " not in path and ("(" in function or "<" in function):
        return Frame(forward(path), None, _function(function))
    return None


def _pytest(lines: Sequence[Line]) -> list[StackTrace]:
    traces: list[StackTrace] = []
    frames: list[Frame] = []
    first = last = 0
    said: Heading | None = None
    for index, line in enumerate(lines):
        if frames and (index - last > _MAX_PYTEST_GAP or line.bare.startswith("____")):
            traces.append(_trace(lines, frames, said or Heading(None), top=first, stop=last + 1))
            frames, said = [], None
        if line.bare.startswith("E  "):
            said = said or _error(line.bare[1:].strip())
        match = _PYTEST.match(line.bare) if ".py" in line.bare else None
        if not match or not (match[3] or match[4][0].isupper()):
            continue
        first = first if frames else index
        last = index
        frames.append(Frame(forward(match[1]), int(match[2]), match[4] if match[3] else None))
        if not match[3]:
            heading = said or _error(line.bare[match.start(4) :]) or Heading(match[4])
            traces.append(_trace(lines, frames, heading, top=first, stop=index + 1))
            frames, said = [], None
    if frames:
        traces.append(_trace(lines, frames, said or Heading(None), top=first, stop=last + 1))
    return traces[:MAX_TRACES]


def _trace(lines: Sequence[Line], frames: list[Frame], heading: Heading, *, top: int, stop: int) -> StackTrace:
    return StackTrace(
        language="python",
        error=heading.error,
        message=heading.message,
        # The most recent call is printed last, and it is the one to keep where there are too many.
        frames=tuple(frames[::-1][:MAX_FRAMES]),
        start=lines[top].start,
        end=lines[stop - 1].end,
    )
