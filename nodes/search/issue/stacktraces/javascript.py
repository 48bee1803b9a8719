"""Parse traces of Node, browsers and bundlers: ``at fn (file:1:2)`` of V8, ``fn@file:1:2`` of Firefox and Safari."""

import re
from collections.abc import Sequence
from dataclasses import replace

from nodes.search.issue.located import forward
from nodes.search.issue.stacktraces.runs import Dialect, Heading, Line, error_line
from nodes.search.lazy import lazy
from nodes.search.types import Frame, StackTrace

_AT_END = lazy(r":(\d{1,9}):(\d{1,9})$")
_SHORT = lazy(r"(\S{1,300}\.(?:[cm]?[jt]sx?|vue|svelte)\??):(\d{1,9})$")
"""A location without a column, as browser consoles and bundlers print it."""
_TAIL = 24  # enough for ":line:column"; a search of the whole line would take more than linear time
_ORIGIN = lazy(r"^(?:https?|capacitor|ionic|app|chrome-extension|moz-extension|safari-extension)://[^/\s]{0,200}")
_BUNDLER = lazy(r"^(?:rsc://[^/]{0,80}/[^/]{0,80}/)?webpack(?:-internal)?://(?:/|[^/\s]{0,200}/)?")
# webpack puts the layer of Next.js in front: ``(app-pages-browser)/./src/page.tsx``.
_LAYER = lazy(r"^\([\w-]{1,40}\)/")
_UNCAUGHT = lazy(
    r"(?:\S{1,300}:\d{1,7} (?=Uncaught ))?"
    r"(?:\[?Unhandled\w{0,20}\]? |Uncaught |Unhandled Rejection |\(in promise\):? |error: |✖ |● ){1,3}",
    re.I,
)
_PRINTED = lazy(r"error: (.*)$")
"""A plain error of Bun."""
_CONSOLE = lazy(r"(?:\S{1,300}:\d{1,7} )?Uncaught (?:\(in promise\):? )?(\w{0,80}Error|DOMException)(?:: (.*))?$")
"""The format of a browser console, which may print the place in front."""
_FILLER = lazy(
    r"at (?:async |new )?[^()]{1,300} ?\((?:<anonymous>|native|index \d{1,4}|eval at .*)\)$|at <anonymous>$"
    r"|\.\.\. \d{1,6} lines matching cause stack trace \.\.\.$|From previous event:$"
)
_SCRIPT = lazy(
    r"\.(?:[cm]?[jt]sx?|vue|svelte|astro|html?)(?:\?[^:]{0,200})?$"
    r"|^(?:node|internal|https?|file|webpack[\w-]*|bun|deno|ext):|/"
)
_BUNDLE = lazy(
    r"(?:plugin:[\w.-]{1,100}|VM\d{1,9}|<anonymous>|(?:blob|data|eval):.{0,240})$"
    r"|.{0,200}[.-](?=[A-Za-z_]{0,20}\d[A-Za-z_]{0,20}\d)[A-Za-z0-9_]{8,20}(?:\.chunk)?\.m?js(?:\?.{0,200})?$"
)
"""A place in code that was put together from files, and which has no file of its own."""
_VERSION = lazy(r"v?\d{1,6}\.\d[\w.-]{0,40} ")
"""What makes ``name@1.2.0 file:1:2`` a package and the file that logs, not a function and its place."""
_NO_FUNCTION = frozenset({"eval", "<anonymous>", "anonymous"})
_ASSERTION = "AssertionError"
_ABOVE = lazy(r"((?:file://)?(?:/|[A-Za-z]:)[^\s:][^:]{0,300}):(\d{1,9})$")
"""The place of a syntax error, above the line of source and its caret."""
_TO_PLACE, _MAX_HEADING = 4, 500
"""Lines above the frames that may have the place; and characters of a line."""
_FOREIGN = lazy(r"\.(?:rs|go|py|rb|php|java|kt|cs|swift|exs?|cc?|cpp|h|S)$")
"""Files whose runtimes print the place below the function, with a column, as ``at path:1:2``."""


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
