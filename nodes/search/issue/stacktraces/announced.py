"""Parse traces whose frames only the line above them announces: Guile, Racket, SWI-Prolog, Tcl, Erlang, C++."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from nodes.search.issue.located import forward
from nodes.search.issue.normal.fences import is_fence
from nodes.search.issue.stacktraces.runs import MAX_TRACES, Heading, Line, build_trace
from nodes.search.types import Frame, StackTrace

_LOOKBACK = 8
"""Lines above the announcement that may have the message."""
_LONGEST = 500
_OPEN = 12
"""Lines of source between two frames."""
_PATH = r"(?P<path>(?:[A-Za-z]:)?[^\s:()\"',]{1,300})"


@dataclass(frozen=True, slots=True)
class _Kind:
    """The form in which a runtime prints a trace."""

    language: str
    start: re.Pattern[str]
    """The line above the frames; its ``message`` and the ``path`` and ``line`` of the error if it has them."""
    frame: re.Pattern[str]
    """The ``path``, ``line`` and ``name`` of a frame, as far as it gives them."""
    filler: re.Pattern[str]
    """A line between two frames; its ``path`` is that of the next ones."""
    message: re.Pattern[str]
    """The line of the message, above the announcement or else below the frames."""
    is_recent_last: bool = False


_KINDS = (
    _Kind(
        "scheme",
        re.compile(r"Backtrace:$"),
        re.compile(r"(?P<line>\d{1,7}):\d{1,5} {1,3}\d{1,4} \((?P<name>[^\s()]{1,200})"),
        re.compile(rf"In (?:unknown file|{_PATH}):$|\d{{1,4}} \("),
        re.compile(
            r"(?:[^\s:]{1,300}:\d{1,7}:\d{1,5}: |ERROR: (?=In ))(?:In procedure \S{1,100}: ?)?(?P<message>.{0,400})"
        ),
        is_recent_last=True,
    ),
    _Kind(
        "racket",
        re.compile(r"(?:context|errortrace)\.\.\.:$"),
        re.compile(rf"{_PATH}:(?P<line>\d{{1,7}}):\d{{1,5}}(?:: (?:(?P<name>[^\s()]{{1,200}})|\().{{0,400}})?$"),
        re.compile(r"body of |\.\.\.|<\w|[^\s:]{1,300}: \[running body\]"),
        re.compile(r"(?P<message>[^\s:]{1,100}: .{1,400})"),
    ),
    _Kind(
        "prolog",
        re.compile(r"(?:ERROR: )?In:$"),
        re.compile(
            rf"(?:ERROR: {{1,5}})?\[\d{{1,5}}\] (?P<name>[\w:$']{{1,200}}).{{0,400}} at {_PATH}:(?P<line>\d{{1,7}})$"
        ),
        re.compile(r"(?:ERROR: {1,5})?\[\d{1,5}\] "),
        re.compile(rf"(?:(?:ERROR|Warning): )?(?:{_PATH}:\d{{1,7}}: )?(?P<message>.{{1,400}})"),
    ),
    _Kind(
        "tcl",
        re.compile(r"while executing$"),
        re.compile(
            rf"\((?:file \"{_PATH}\" line (?P<line>\d{{1,7}})"
            r"|(?:(?:class|object) \"[^\s\"]{1,200}\" )?(?:procedure|method|class|constructor|destructor)"
            r"(?: \"(?P<name>[^\s\"]{1,200})\")?.{0,80} line \d{1,7})\)$"
        ),
        re.compile(r"\"|.{0,400}\"$|invoked from within$|\(.{1,200}\)$"),
        re.compile(r"(?P<message>.{1,400})"),
    ),
    _Kind(  # of the library "backward"
        "cpp",
        re.compile(r"Stack trace \(most recent call last\)"),
        re.compile(rf"#\d{{1,4}} {{1,8}}Source \"{_PATH}\", line (?P<line>\d{{1,7}}), in (?P<name>[^\[(]{{1,200}})"),
        re.compile(r"#\d{1,4} {1,8}Object |>? {0,9}\d{1,7}: "),
        re.compile(r"(?!)"),
        is_recent_last=True,
    ),
    _Kind(
        "erlang",
        re.compile(
            r"(?:\d{1,4}> )?(?:\*\* |\S{1,80}: )?exception (?:error|exit|throw): "
            rf"(?P<message>.{{1,400}}?)(?: \({_PATH}, line (?P<line>\d{{1,7}})\))?$"
        ),
        re.compile(
            rf"in (?:function|call from) {{1,3}}(?P<name>[^\s(]{{1,200}}) \({_PATH}, line (?P<line>\d{{1,7}})\)$"
        ),
        re.compile(r"in (?:function|call from) |called as |\*\*\* |\S{0,40}\("),
        re.compile(r"(?!)"),
    ),
)
_ARITY = re.compile(r"/\d{1,3}$")


def find(lines: Sequence[Line]) -> list[StackTrace]:
    """Return the traces below the line that announces them."""
    traces: list[StackTrace] = []
    floor = 0
    for index, line in enumerate(lines):
        # A cheap test first: this runs for every line of every issue.
        if index < floor or not (line.bare.endswith((":", "while executing")) or "exception " in line.bare[:100]):
            continue
        for kind in _KINDS:
            start = kind.start.match(line.bare[:_LONGEST])
            stop, frames = _frames(lines, index + 1, kind) if start else (index, [])
            if start and start.groupdict().get("path"):
                frames = [Frame(forward(start["path"]), int(start["line"])), *frames]
            if start and frames:
                top, stop, message = _message(lines, (floor, index, stop), kind, start)
                heading, inside = Heading(None, message), lines[top:stop]
                traces.append(build_trace(kind.language, heading, frames, inside, is_recent_last=kind.is_recent_last))
                floor = stop
                break
    return traces[:MAX_TRACES]


def _frames(lines: Sequence[Line], first: int, kind: _Kind) -> tuple[int, list[Frame]]:
    """Return the index after the last frame, and the frames as printed."""
    frames: list[Frame] = []
    stop, path = first, ""
    for index in range(first, len(lines)):
        bare = lines[index].bare[:_LONGEST]
        if found := kind.frame.match(bare):
            named = found.groupdict()
            path, stop = named.get("path", path) or "", index + 1
            # The number counts from the beginning of a procedure if there is no path.
            line = int(named["line"]) if path and named["line"] else None
            frames.append(Frame(forward(path), line, _plain(named.get("name"))))
        elif filler := kind.filler.match(bare):
            path = filler.groupdict().get("path") or ""
        elif index - stop >= _OPEN or lines[index].indent <= lines[first - 1].indent:
            break
    return stop, frames


def _plain(name: str | None) -> str | None:
    """Return a function's name without its arity, quotes and module; None for Guile's ``_``."""
    plain = (name or "").rstrip().rpartition(":")[2].strip("'")
    plain = plain[1:].partition("/")[0] if plain.startswith("-") else _ARITY.sub("", plain)
    return plain if plain.strip("_") else None


def _message(
    lines: Sequence[Line], around: tuple[int, int, int], kind: _Kind, start: re.Match[str]
) -> tuple[int, int, str | None]:
    """Return the first line of a trace, the index after its last one, and its message.

    Args:
        lines: the lines of the text.
        around: the first line that may belong to the trace, that of the announcement, and the one after the frames.
        kind: what the runtime prints.
        start: the match of the announcement.
    """
    floor, index, stop = around
    if printed := start.groupdict().get("message"):
        return index, stop, printed
    if kind.is_recent_last:
        below = kind.message.match(lines[stop].bare[:_LONGEST]) if stop < len(lines) else None
        if below and not below["message"] and stop + 1 < len(lines):
            stop, printed = stop + 1, lines[stop + 1].bare[:_LONGEST]
            again = kind.message.match(printed)
            return index, stop + 1, again["message"] if again else printed
        return index, stop + bool(below), below["message"] if below else None
    above = list(takewhile(lambda line: not is_fence(line.bare), lines[max(floor, index - _LOOKBACK) : index][::-1]))
    indent = min((line.indent for line in above), default=0)
    for back, line in enumerate(above, 1):
        found = kind.message.match(line.bare[:_LONGEST]) if line.indent == indent else None
        if found:
            return index - back, stop, found["message"]
    return index, stop, None
