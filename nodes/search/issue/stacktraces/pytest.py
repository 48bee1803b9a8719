"""Parse Python traces in pytest's format."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nodes.search.issue.located import forward
from nodes.search.issue.stacktraces.python import error_below, python_trace
from nodes.search.issue.stacktraces.runs import MAX_TRACES, Heading, Line
from nodes.search.types import Frame, StackTrace

_PYTEST = re.compile(r"((?:[A-Za-z]:)?[^\s:\"'`(][^:\"'`]{0,300}\.pyx?):(\d{1,7}):(?: (in )?([\w.<>]{1,200})|$)")
# Lines of source that pytest may print between two frames of one failure.
_MAX_GAP = 60
_MAX_BELOW = 8
"""Maximum number of lines of source and error below the last frame."""


def find(lines: Sequence[Line]) -> list[StackTrace]:
    """Find test failures."""
    traces: list[StackTrace] = []
    frames: list[Frame] = []
    first = last = 0
    error_heading: Heading | None = None
    for index, line in enumerate(lines):
        # A line of underscores begins the next failure.
        if frames and (index - last > _MAX_GAP or line.bare.startswith("____")):
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
