"""Parse traces of Node, browsers and bundlers: ``at fn (file:1:2)`` of V8, ``fn@file:1:2`` of Firefox and Safari."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nodes.search.issue.located import forward
from nodes.search.issue.stacktraces.runs import Dialect, Heading, Line, error_line
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections
from nodes.search.types import Frame, StackTrace

_FORMS = load_sections(Path(__file__).with_name("javascript.txt"))
_AT_END, _SHORT, _ORIGIN, _BUNDLER, _LAYER, _PRINTED, _CONSOLE, _FILLER, _SCRIPT = (
    lazy("".join(_FORMS[name])) for name in "at_end short origin bundler layer printed console filler script".split()
)
_BUNDLE, _ABOVE, _FOREIGN = (lazy("".join(_FORMS[name])) for name in ("bundle", "above", "foreign"))
_UNCAUGHT = lazy("".join(_FORMS["uncaught"]), re.I)
_TAIL = 24  # enough for ":line:column"; a search of the whole line would take more than linear time
_VERSION = lazy(r"v?\d{1,6}\.\d[\w.-]{0,40} ")
"""What makes ``name@1.2.0 file:1:2`` a package and the file that logs, not a function and its place."""
_NO_FUNCTION = frozenset({"eval", "<anonymous>", "anonymous"})
_ASSERTION = "AssertionError"
_TO_PLACE, _MAX_HEADING = 4, 500
"""Lines above the frames that may have the place; and characters of a line."""


def _frame(bare: str) -> Frame | None:
    if bare.startswith("at "):
        return _v8(bare[3:])
    function, at, place = bare.partition("@")
    # A function's name has no space, so any other one is prose with an e-mail address or a handle.
    if not at or _VERSION.match(place) or " " in function.replace("async ", "").replace("get ", "").replace("set ", ""):
        return None
    return _placed(place, function=function.removeprefix("async*").rstrip("/<") or None)


def _v8(body: str) -> Frame | None:
    # Node prints the properties of an error, its cause among them, after its last frame.
    body = body.removesuffix(" {")
    function, paren, place = body.removeprefix("async ").removeprefix("new ").partition(" (")
    if not paren:
        return _placed(body.removeprefix("async "), function=None)
    if not place.endswith(")") or place.startswith("eval at "):
        return None
    function, place = function.partition(" [as ")[0], place[:-1]
    if short := _SHORT.match(place):
        return Frame(path=clean_path(short[1]), line=int(short[2]), function=function)
    return _placed(place, function=function)


def _placed(place: str, *, function: str | None) -> Frame | None:
    match = _AT_END.search(place[-_TAIL:])
    if not match:
        return None
    path = place[: -len(match[0])]
    if _BUNDLE.match(path):
        owner, _, name = (function or "").replace("/", ".").rpartition(".")
        return Frame("", None, None if name in _NO_FUNCTION else name or None, owner or None)
    # ``:1:2`` also ends locations of other tools; only a script's ending or scheme makes it a frame.
    if not path or " in " in path or _FOREIGN.search(path[-8:]) or not _SCRIPT.search(path[-240:]):
        return None
    return Frame(path=clean_path(path), line=int(match[1]), function=function)


def clean_path(path: str) -> str:
    """Return the path without the parts that a browser, a bundler or a URL adds."""
    path = _ORIGIN.sub("", _BUNDLER.sub("", forward(path)))
    path = _LAYER.sub("", path.removeprefix("file://").partition("?")[0])
    # ``file:///C:/x`` leaves a slash before the drive.
    return re.sub(r"^/(?=[A-Za-z]:/)", "", path).removeprefix("./")


def _heading(bare: str) -> Heading | None:
    bare = bare.removeprefix("[cause]: ").removeprefix("Caused by: ")
    lead = _UNCAUGHT.match(bare)
    # "Error: x" is an error itself, and "Error: TypeError: x" only its label.
    heading = (error_line(bare[lead.end() :]) if lead else None) or error_line(bare)
    printed = None if heading else _PRINTED.match(bare)
    return Heading("Error", printed[1]) if printed else heading


def _alone(bare: str) -> Heading | None:
    match = _CONSOLE.match(bare)
    return Heading(match[1], (match[2] or "").strip() or None) if match else None


def _finished(trace: StackTrace, _: Sequence[Line], lines: Sequence[Line]) -> StackTrace | None:
    """Add the place that Node prints above an error, and the error above the difference of a failed assertion."""
    if trace.frames and not any(frame.path or frame.function for frame in trace.frames):
        return None
    if trace.error not in (None, "SyntaxError"):
        return trace
    above = [line.bare[:_MAX_HEADING] for line in reversed(lines)]
    if trace.error is None:
        error = next((heading for bare in above if bare.startswith(_ASSERTION) and (heading := error_line(bare))), None)
        trace = replace(trace, error=error.error, message=error.message) if error else trace
    place = next(filter(None, map(_ABOVE.match, above[:_TO_PLACE])), None) if trace.error == "SyntaxError" else None
    return replace(trace, frames=(Frame(clean_path(place[1]), int(place[2])), *trace.frames)) if place else trace


DIALECT = Dialect("javascript", _frame, _heading, filler=_FILLER, alone=_alone, finished=_finished)
