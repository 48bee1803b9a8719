"""Parse Python traces in the formats of IPython, Jupyter, Colab, rich and pytest."""

import re
from collections.abc import Sequence
from dataclasses import replace

from nodes.search.issue.located import forward
from nodes.search.issue.stacktraces.python import MAX_RECENT, conclusion, error_below, function_name, python_trace
from nodes.search.issue.stacktraces.runs import MAX_TRACES, Found, Heading, Line, error_line, scan
from nodes.search.types import Frame, StackTrace

_CELL = re.compile(
    r"(?:(?:Cell|Input) In ?\[\d{1,6}\],?|\S.{0,300}\.ipynb Cell \d{1,6})(?: line (\d{1,7}))?(?:,? in (.{1,200}))?$"
)
_IPYTHON = re.compile(r"File ([^\"“”:]{1,500}|[A-Za-z]:[^\"“”:]{1,500}):(\d{1,7})(?:, in (.{1,200}))?$")
_RICH = re.compile(r"((?:[A-Za-z]:)?[^\s:][^:]{0,400}\.\w{1,6}|<[\w -]{1,60}>):(\d{1,7}) in ([\w.<>]{1,200})$")
_ARROW = re.compile(r"-{1,12}> {0,8}(\d{1,7})\b")
_NUMBERED = re.compile(r"(?:❱ )?\d{1,7}\b|\(\.\.\.\)|\^{1,200}$|[│|]|\.{3} \d{1,6} frames hidden")
_CARET = re.compile(r"\^{1,200}")
_HEADED = re.compile(r"(\w{1,120}) {2,200}Traceback \(most recent call last\)")
_LINKED = re.compile(r"\[([^\]]{1,400})\]\([^)\s]{1,600}\)")
_PYTEST = re.compile(r"((?:[A-Za-z]:)?[^\s:\"'`(][^:\"'`]{0,300}\.pyx?):(\d{1,7}):(?: (in )?([\w.<>]{1,200})|$)")
# Lines of source that pytest may print between two frames of one failure.
_MAX_APART = 60
_MAX_BELOW = 8
"""Maximum number of lines of source and error below the last frame."""


def find_cells(lines: Sequence[Line]) -> list[StackTrace]:
    """Find traces of notebooks, and of IPython on a terminal."""

    def read(first: int, _: int) -> Found | None:
        if _frame(lines[first].bare) is None:
            return None
        index, frames = _frames(lines, first)
        stop, heading = conclusion(lines, index, under=lines[first])
        top, named = first, None
        if first and MAX_RECENT in lines[first - 1].bare:
            top, named = first - 1, _HEADED.match(lines[first - 1].bare)
        # One frame without a heading may be a line of prose such as "utils.py in load(x)".
        is_trace = named or heading.error or len(frames) > 1
        heading = heading if heading.error else Heading(named[1] if named else None)
        return python_trace(heading, frames, lines[top:stop]) if is_trace else None, max(stop, first + 1)

    return scan(lines, read)


def _frames(lines: Sequence[Line], first: int) -> tuple[int, list[Frame]]:
    frames: list[Frame] = []
    index = first
    while index < len(lines):
        bare = lines[index].bare
        if frame := _frame(bare):
            frames.append(frame)
        elif arrow := _ARROW.match(bare):
            # Older versions give the line only by the arrow next to the source.
            frames[-1] = replace(frames[-1], line=frames[-1].line or int(arrow[1]))
        elif bare == "locals":  # rich: a table of names and values, until the next frame or the error
            index = _after_locals(lines, index + 1)
            continue
        # The one line of a syntax error is not numbered; its caret is below.
        elif not (_NUMBERED.match(bare) or (index + 1 < len(lines) and _CARET.fullmatch(lines[index + 1].bare))):
            break
        index += 1
    return index, frames


def _after_locals(lines: Sequence[Line], index: int) -> int:
    while index < len(lines) and not (_frame(lines[index].bare) or error_line(lines[index].bare)):
        index += 1
    return index


def _frame(bare: str) -> Frame | None:
    if match := _IPYTHON.match(bare):
        return Frame(forward(match[1]), int(match[2]), function_name(match[3]))
    if match := _RICH.match(bare):
        return Frame(forward(match[1]), int(match[2]), match[3])
    if match := _CELL.match(bare):
        return Frame("", int(match[1]) if match[1] else None, function_name(match[2]))
    if link := _LINKED.match(bare):  # Colab links every file
        bare = link[1] + bare[link.end() :]
    path, separator, function = bare.partition(" in ")
    if separator and path.startswith("<ipython-input-"):
        return Frame("", None, function_name(function))
    if (
        separator
        and path.endswith((".py", ".pyx", ".pyc"))
        and " " not in path
        and ("(" in function or "<" in function)
    ):
        return Frame(forward(path), None, function_name(function))
    return None


def find_failures(lines: Sequence[Line]) -> list[StackTrace]:
    """Find test failures of pytest."""
    traces: list[StackTrace] = []
    frames: list[Frame] = []
    first = last = 0
    error_heading: Heading | None = None
    for index, line in enumerate(lines):
        # A line of underscores begins the next failure.
        if frames and (index - last > _MAX_APART or line.bare.startswith("____")):
            traces.append(python_trace(error_heading or Heading(None), frames, lines[first : last + 1]))
            frames, error_heading = [], None
        if line.bare.startswith("E  "):
            error_heading = error_heading or error_below(line.bare[1:].strip())
        match = _PYTEST.match(line.bare) if ".py" in line.bare else None
        # ``file.py:3: in name`` is a frame, ``file.py:3:`` as well; ``file.py:3: NameError`` ends the failure.
        is_outer = match is not None and not match[4] and index + 1 < len(lines) and lines[index + 1].bare[:3] == "_ _"
        if not match or not (is_outer or match[3] or (match[4] or "")[:1].isupper()):
            continue
        first = first if frames else index
        last = index
        frames.append(Frame(forward(match[1]), int(match[2]), match[4] if match[3] else None))
        if not (match[3] or is_outer):
            heading = error_heading or error_below(line.bare[match.start(4) :]) or Heading(match[4])
            traces.append(python_trace(heading, frames, lines[first : index + 1]))
            frames, error_heading = [], None
    if frames:
        traces.append(python_trace(error_heading or Heading(None), frames, lines[first : _end(lines, last)]))
    return traces[:MAX_TRACES]


def _end(lines: Sequence[Line], last: int) -> int:
    """Return the index after the source and the error that are printed below the last frame."""
    stop = last + 1
    while stop < min(len(lines), last + _MAX_BELOW):
        if lines[stop].indent <= lines[last].indent and not lines[stop].bare.startswith("E  "):
            break
        stop += 1
    return stop
