"""Parse Python traces in the formats of the interpreter, IPython, Jupyter, Colab, rich and pytest."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path

from nodes.search.issue.located import forward
from nodes.search.issue.normal.evidence import is_fence
from nodes.search.issue.stacktraces.runs import (
    MAX_TRACES,
    Found,
    FramelessError,
    Heading,
    Line,
    add_frameless_errors,
    build_trace,
    error_line,
    scan,
)
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections
from nodes.search.types import Frame, StackTrace

_RECENT_LAST = "Traceback (most recent call last)"
_FORMS = load_sections(Path(__file__).with_name("python.txt"))
_FILE, _MODULE, _CALLED, _DEBUG_PAGE, _DEBUG_VALUE, _ELIDED, _CELL, _IPYTHON, _RICH = (
    lazy("".join(_FORMS[name])) for name in "file module called debug_page debug_value elided cell ipython rich".split()
)
_ARROW, _TOOLS_NUMBERED, _CARET, _HEADED, _LINKED, _PYTEST = (
    lazy("".join(_FORMS[name])) for name in "arrow tools_numbered caret headed linked pytest".split()
)
_NUMBERED = lazy(r"(\d{1,7})\. ")
"""The line below a frame in older versions of Django's debug page."""
_RECENT_FIRST = "(most recent call first)"
_FATAL = "Fatal Python error: "
_CURRENT = "Current thread "
_TO_FATAL, _TO_CURRENT = 3, 400
"""Lines between a fatal error and the frames of a single thread, or of the current one below others."""
_TO_FIELDS = 6
_MAX_CODE = 12
"""Lines of source and carets below one frame; a multi-line expression has several."""
_UNFINISHED = ("^", "~", "[Previous line repeated", "...")

python_trace = partial(build_trace, "python", is_recent_last=True)
"""Build the trace of some lines from its heading and its frames as printed."""

# Lines of source that pytest may print between two frames of one failure.
_MAX_APART = 60
_MAX_BELOW = 8
"""Maximum number of lines of source and error below the last frame."""


def find(lines: Sequence[Line]) -> list[StackTrace]:
    """Find the interpreter's traces; each link of a chain is a separate trace."""

    def read(first: int, _: int) -> Found | None:
        if _file_frame(lines[first]) is None:
            return None
        index, frames = _frames(lines, first)
        above = lines[first - 1].bare if first else ""
        if _RECENT_FIRST in above:
            # A crashed interpreter prints its error above all threads; the current one had it.
            is_other = above.startswith("Thread ") and any(line.bare.startswith(_CURRENT) for line in lines[index:])
            far = _TO_CURRENT if above.startswith(_CURRENT) else 0 if is_other else _TO_FATAL
            heads = range(first - 2, max(-1, first - 2 - far), -1)
            top = next((at for at in heads if lines[at].bare.startswith(_FATAL)), first - 1)
            fatal = Heading("Fatal Python error", lines[top].bare.removeprefix(_FATAL) or None)
            heading = fatal if top < first - 1 else Heading(None)
            begin = top if first - 2 - top < _TO_FATAL else first - 1
            return replace(build_trace("python", heading, frames, lines[begin:index]), is_aside=is_other), index
        stop, heading = conclusion(lines, index, under=lines[first])
        # AWS Lambda prints the error above the trace.
        if heading.error is None and _RECENT_LAST in above and first > 1:
            heading = error_line(lines[first - 2].bare.removeprefix("[ERROR] ")) or heading
        if heading.error is None:
            nearest = range(first - 1, max(-1, first - 1 - _TO_FIELDS), -1)
            fields = (
                conclusion(lines, at, under=lines[first])[1] for at in nearest if _DEBUG_PAGE.match(lines[at].bare)
            )
            heading = next(fields, heading)
        # Reporters often paste a trace without its first line.
        top = first - 1 if _RECENT_LAST in above else first
        return python_trace(heading, frames, lines[top:stop]), stop

    return add_frameless_errors(lines, "python", scan(lines, read), _frameless_error)


def conclusion(lines: Sequence[Line], index: int, *, under: Line) -> tuple[int, Heading]:
    """Return the end of the trace and the error in the line below its frames, the first of which is ``under``."""
    heading: Heading | None = None
    if name := _text(lines[index]) if index < len(lines) else "":
        is_next = index > 0 and lines[index].start - lines[index - 1].end == 1
        # An error without a message may be any word, directly below the frames and less indented.
        is_alone = is_next and _indent(lines[index]) < _indent(under) and name.isidentifier()
        heading = error_below(name) or (Heading(name) if is_alone else None)
    if heading is None:
        return index, Heading(None)
    below = lines[index + 1].bare if index + 1 < len(lines) else ""
    if heading.message is None and (value := _DEBUG_VALUE.match(below)):
        return index + 2, replace(heading, message=value[1] or None)
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
    if _RECENT_LAST in line.bare or distance > _MAX_CODE or is_fence(line.bare):
        return False
    if _indent(line) > _indent(under) or _text(line).startswith(_UNFINISHED):
        return True
    # A trace pasted without indentation still has one line of source below each frame.
    return _indent(line) == _indent(under) and distance == 1 and not error_line(_text(line))


def _frameless_error(lines: Sequence[Line], index: int) -> FramelessError | None:
    """Parse a heading whose frames are missing, and the error below it."""
    if _RECENT_LAST not in lines[index].bare:
        return None
    for at in range(index + 1, min(index + 1 + _MAX_CODE, len(lines))):
        line = lines[at]
        heading = error_line(_text(line)) if _indent(line) <= _indent(lines[index]) else None
        if heading:
            return (heading, at + 1)
        if is_fence(line.bare) or not (_indent(line) > _indent(lines[index]) or _ELIDED.match(_text(line))):
            break
    return None


def _file_frame(line: Line) -> Frame | None:
    if "File " not in line.text:
        return None
    match = _FILE.match(_text(line))
    if match is None or not (match[2] or match[3]):
        return None
    path = f"{match[1].replace('.', '/')}.py" if _MODULE.fullmatch(match[1]) else forward(match[1])
    # An editor that links the name of a file may put spaces around it.
    path = path.replace("/ ", "/").rstrip()
    return Frame(path, int(match[2]) if match[2] else None, function_name(match[3]))


def _text(line: Line) -> str:
    """Return the line without the margin that an exception group or a table draws."""
    return line.bare.lstrip("|+- ").rstrip("| ") if line.bare[0] in "|+" else line.bare


def _indent(line: Line) -> int:
    return line.indent + len(line.bare) - len(line.bare.lstrip("|+- ")) if line.bare[0] in "|+" else line.indent


def find_cells(lines: Sequence[Line]) -> list[StackTrace]:
    """Find traces of notebooks, and of IPython on a terminal."""

    def read(first: int, _: int) -> Found | None:
        if _frame(lines[first].bare) is None:
            return None
        index, frames = _tools_frames(lines, first)
        stop, heading = conclusion(lines, index, under=lines[first])
        top, named = first, None
        if first and _RECENT_LAST in lines[first - 1].bare:
            top, named = first - 1, _HEADED.match(lines[first - 1].bare)
        # One frame without a heading may be a line of prose such as "utils.py in load(x)".
        is_trace = named or heading.error or len(frames) > 1
        heading = heading if heading.error else Heading(named[1] if named else None)
        return python_trace(heading, frames, lines[top:stop]) if is_trace else None, max(stop, first + 1)

    return scan(lines, read)


def _tools_frames(lines: Sequence[Line], first: int) -> tuple[int, list[Frame]]:
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
            while index + 1 < len(lines) and not (_frame(lines[index + 1].bare) or error_line(lines[index + 1].bare)):
                index += 1
        # The one line of a syntax error is not numbered; its caret is below.
        elif not (_TOOLS_NUMBERED.match(bare) or (index + 1 < len(lines) and _CARET.fullmatch(lines[index + 1].bare))):
            break
        index += 1
    return index, frames


def _frame(bare: str) -> Frame | None:
    if match := _IPYTHON.match(bare):
        return Frame(forward(match[1]), int(match[2]), function_name(match[3]))
    if match := _RICH.match(bare):
        return Frame(forward(match[1]), int(match[2]), match[3])
    if match := _CELL.match(bare):
        return Frame("", int(match[1]) if match[1] else None, function_name(match[2]))
    if link := _LINKED.match(bare):  # Colab links every file
        bare = link[1] + bare[link.end() :]
    path, _, function = bare.partition(" in ")
    if function and path.startswith("<ipython-input-"):
        return Frame("", None, function_name(function))
    is_file = path.endswith((".py", ".pyx", ".pyc")) and " " not in path
    return Frame(forward(path), None, function_name(function)) if is_file and re.search(r"[(<]", function) else None


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
            # A warning prints the line of source below it.
            has_source = (heading.error or "").endswith("Warning") and index + 1 < len(lines)
            stop = index + 1 + (has_source and lines[index + 1].indent > line.indent)
            traces.append(python_trace(heading, frames, lines[first:stop]))
            frames, error_heading = [], None
    if frames:
        # The source and the error are printed below the last frame.
        rest = lines[last + 1 : last + _MAX_BELOW]
        below = takewhile(lambda line: line.indent > lines[last].indent or line.bare.startswith("E  "), rest)
        printed = (*lines[first : last + 1], *below)
        traces.append(python_trace(error_heading or Heading(None), frames, printed))
    return traces[:MAX_TRACES]
