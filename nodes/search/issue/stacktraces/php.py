"""Parse PHP traces: fatal errors, numbered frames, and the pages and logs of Symfony and Laravel."""

import re
from collections.abc import Sequence
from dataclasses import replace

from nodes.search.issue.located import forward
from nodes.search.issue.stacktraces.runs import Dialect, Heading, Line, error_line
from nodes.search.types import Frame, StackTrace

_NUMBERED = re.compile(
    r"#\d{1,5}:? {1,4}(?:([^(]{1,400}(?:\([A-Za-z0-9 ]{1,20}\)[^(]{1,300})?)\((\d{1,9})\)"
    r"|\[internal function\]): ?([^(]{1,300}(?=\())?"
)
"""The path, the line and the function called there, which a log that cut its line before the arguments lacks."""
_XDEBUG = re.compile(
    r"(?:PHP {1,4})?(?:\d{1,6}\.\d{1,6} {1,8}\d{1,12} {1,4})?\d{1,4}\. ([\w\\{}>:-]{1,300})\(.{0,600}?\) "
    r"((?:[A-Za-z]:)?[^:()\s]{1,300}\.\w{2,6}):(\d{1,9})$"
)
_CALLED_IN = re.compile(r" called in ((?:[A-Za-z]:)?[^:\s]{1,300}\.\w{2,6}) on line (\d{1,9})(?: and defined)?")
_MAIN = re.compile(r"#\d{1,5} {1,4}\{main\}")
_AT = re.compile(
    r"at (?:([\w\\]{1,200}(?:->|::))?([\w{}\\]{1,120})\(.{0,400}\) ?)?(?:in )?"
    r"\(?((?:[A-Za-z]:)?[^:()\s]{1,300}\.(?:php|phtml|inc|twig))(?::| line )(\d{1,9})\)?$"
)
_FATAL = re.compile(
    r"(?:PHP )?(Fatal error|Parse error|Warning|Notice|Deprecated|(?:Catchable|Recoverable) fatal error): {1,3}(.*)"
)
_UNCAUGHT = re.compile(r"(?:.{0,400}?[:'] {0,3})?(?:PHP )?(?:Fatal error: {1,3})?Uncaught ([\w\\]{1,200})(?:: (.*))?$")
_SYMFONY = re.compile(
    r'.{0,200}?Uncaught PHP Exception ([\w\\]{1,200}): "(.{0,1000})" at (\S{1,300}\.\w{2,6}) line (\d{1,9})'
)
_WHERE = re.compile(r" in ((?:[A-Za-z]:)?[^:\s]{1,300}\.\w{2,6})(?::(\d{1,9})$| on line (\d{1,9}))")
_LARAVEL = re.compile(r".{0,400}?\(([\w\\]{1,200})\(code: [\w-]{1,20}\): (.*)$")
_LARAVEL_PLACE = re.compile(r" at ((?:[A-Za-z]:)?[^:\s]{1,300}\.php):(\d{1,9})\)?$")
_NEXT = re.compile(r"Next ([\w\\]{1,200}): (.*)$")
_MAX_MESSAGE = 1_000
# Lines between an error and its frames.
_MARKER = ("Stack trace:", "[stacktrace]", "Stacktrace:", "Exception trace:")


def _frame(bare: str) -> Frame | None:
    if bare.startswith("#") and (match := _NUMBERED.match(bare)):
        path, line = (forward(match[1]), int(match[2])) if match[1] else ("", None)
        return Frame(path, line, *_called(match[3] or ""))
    if "." in bare[:60] and (step := _XDEBUG.match(bare)):
        return Frame(forward(step[2]), int(step[3]) or None, *_called(step[1]))
    at = _AT.match(bare) if bare.startswith("at ") else None
    if not at:
        return None
    module = at[1].removesuffix("->").removesuffix("::") if at[1] else None
    return Frame(forward(at[3]), int(at[4]), at[2], module)


def _called(written: str) -> tuple[str | None, str | None]:
    name = written.partition("(")[0].strip()
    for arrow in ("->", "::"):
        module, found, function = name.rpartition(arrow)
        if found:
            return function or None, module or None
    return name or None, None


def _heading(bare: str) -> Heading | None:
    bare = bare.removeprefix("( ! ) ")
    for pattern in (_UNCAUGHT, _FATAL, _LARAVEL, _NEXT):
        if match := pattern.match(bare):
            return _located(match[1], match[2] or "")
    if bare in _MARKER:
        return None
    heading = error_line(bare.strip("[]")) if "rror" in bare or "xception" in bare else None
    return _located(heading.error, heading.message) if heading and heading.error and heading.message else heading


def _located(error: str, rest: str) -> Heading:
    # A wrong argument comes from the caller; the place of the definition only refuses it.
    where = _CALLED_IN.search(rest[:_MAX_MESSAGE]) or _last(_WHERE, rest) or _last(_LARAVEL_PLACE, rest)
    if not where:
        return Heading(error, rest.strip() or None)
    frame = Frame(forward(where[1]), int(next(group for group in where.groups()[1:] if group)))
    return Heading(error, rest[: where.start()].strip() or None, frame)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match; only the last 400 characters are searched."""
    return next(reversed([*pattern.finditer(text, max(0, len(text) - 400))]), None)


def _names_its_place(trace: StackTrace, lines: Sequence[Line]) -> bool:
    """Return whether the frames look like ``at Class->method() in file``, whose function contains the location."""
    inside = (line.bare for line in lines if trace.start <= line.start < trace.end)
    return not any(bare.startswith("#") or _XDEBUG.match(bare) for bare in inside)


def _innermost_first(trace: StackTrace, lines: Sequence[Line]) -> StackTrace:
    """Reverse the frames of Xdebug, which prints the outermost first.

    The error's place is inside the last function that is called, unless that is one of PHP's own.
    """
    inside = [line.bare for line in lines if trace.start <= line.start < trace.end]
    steps = sum(bool(_XDEBUG.match(bare)) for bare in inside)
    if not steps:
        return trace
    callers = trace.frames[-steps:][::-1]
    is_own = callers[0].module or callers[0].function == "{main}"
    inner = trace.frames[:-steps] if is_own else ()
    return replace(trace, frames=(*inner, *callers))


def _shifted(trace: StackTrace) -> StackTrace:
    frames = trace.frames
    # The heading's location, if there is one, is the innermost place; its function is the one that the next frame
    # calls.
    inner = () if frames and frames[0].function is not None else frames[:1]
    callers = frames[len(inner) :]
    holders = [(frame.function, frame.module) for frame in callers]
    places = (*inner, *callers) if inner else callers
    holders = [*holders, (None, None)] if inner else [*holders[1:], (None, None)]
    moved = tuple(
        replace(place, function=function, module=module)
        for place, (function, module) in zip(places, holders, strict=True)
    )
    return replace(trace, frames=moved)


def _alone(bare: str) -> Heading | None:
    bare = bare.removeprefix("( ! ) ")
    if "Uncaught PHP Exception " in bare and (logged := _SYMFONY.match(bare)):
        return _located(logged[1], f"{logged[2]} in {logged[3]}:{logged[4]}")
    match = _FATAL.match(bare) if " line " in bare or ".php" in bare or "Uncaught " in bare else None
    if not match:
        return None
    uncaught = _UNCAUGHT.match(bare)
    heading = _located(uncaught[1], uncaught[2] or "") if uncaught else _located(match[1], match[2])
    return heading if heading.frame or uncaught else None


def _finished(trace: StackTrace, lines: Sequence[Line]) -> StackTrace:
    """Name in each frame the function that contains its place; PHP prints the one that is called there."""
    trace = _innermost_first(trace, lines)
    return trace if _names_its_place(trace, lines) else _shifted(trace)


DIALECT = Dialect("php", _frame, _heading, filler=_MAIN, alone=_alone, finished=_finished)
