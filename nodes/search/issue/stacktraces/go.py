"""Parse Go traces: panics, fatal errors and goroutine dumps."""

import re
from collections.abc import Sequence

from nodes.search.issue.located import forward
from nodes.search.issue.normal.evidence import is_fence
from nodes.search.issue.stacktraces.runs import (
    Found,
    FramelessError,
    Heading,
    Line,
    add_frameless_errors,
    build_trace,
    scan,
)
from nodes.search.types import Frame, StackTrace

_PLACE = re.compile(r"((?:[A-Za-z]:)?[^:\s][^:]{0,400}\.(?:go|s|cgo)):(\d{1,9})(?: \+0x[0-9a-f]{1,16})?(?: fp=.*)?$")
_GOROUTINE = re.compile(r"goroutine \d{1,12}(?: gp=\S{1,40})?(?: m=\S{1,40})?(?: mp=\S{1,40})? \[([^\]]{1,120})\]:?")
_ERRORS = re.compile(r"(?:[\w.~-]{1,80}/){0,12}[\w.-]{1,80}\.(?:\(\*?\w{1,80}\)\.)?[\w.\[\]·-]{1,120}$")
"""A function without arguments, as packages that add traces to errors print it."""
_CREATED = re.compile(r"created by (.+?)(?: in goroutine \d{1,12})?$")
_WHY = re.compile(r".{0,80}?\b(panic|fatal error|runtime error)(?: serving [\w.:\[\]]{1,60})?: (.*)")
_RECOVERED = re.compile(r" \[recovered.{0,40}$")
_LOOKBACK = 10
_TO_GOROUTINE = 3
"""Lines below a panic within which its goroutine appears; a signal line may come between."""
_MACHINERY = frozenset({"panic", "runtime.gopanic", "runtime/debug.Stack", "runtime.sigpanic", "runtime.throw"})


def find(lines: Sequence[Line]) -> list[StackTrace]:
    """Find Go traces; every goroutine is a separate trace."""

    def read(index: int, floor: int) -> Found | None:
        if _frame(lines, index) is None:
            return None
        stop, frames = _frames(lines, index)
        top, heading = _heading_above(lines, floor=floor, first=index)
        return _trace(lines[top:stop], heading, frames), stop

    return add_frameless_errors(lines, "go", scan(lines, read), _frameless_error)


def _frameless_error(lines: Sequence[Line], index: int) -> FramelessError | None:
    """Parse a panic above a goroutine whose frames are missing."""
    bare = lines[index].bare
    why = _WHY.match(bare) if bare.startswith(("panic: ", "fatal error: ")) else None
    if not why:
        return None
    heading = Heading(why[1], _RECOVERED.sub("", why[2]).strip() or None)
    below = range(index + 1, min(index + 1 + _TO_GOROUTINE, len(lines)))
    return next((FramelessError(heading, at + 1) for at in below if _GOROUTINE.match(lines[at].bare)), None)


def _frame(lines: Sequence[Line], index: int) -> Frame | None:
    """Parse the frame that consists of a function's line and the location below it."""
    # Go prints a frame on two lines, so the shared structure of ``runs`` does not fit.
    if index + 1 >= len(lines) or (".go:" not in lines[index + 1].bare and ".s:" not in lines[index + 1].bare):
        return None
    place, written = _PLACE.match(lines[index + 1].bare), lines[index].bare
    has_arguments = written.endswith((")", "(...)")) or written.startswith("created by ")
    if not place or not (has_arguments or _ERRORS.match(written)):
        return None
    if created := _CREATED.match(written):
        module, function = _split_name(created[1])
    else:
        module, function = _split_name(written[: _arguments(written)] if has_arguments else written)
    return Frame(forward(place[1]), int(place[2]), function, module) if function else None


def _arguments(written: str) -> int:
    """Return where the arguments begin; the last pair of parentheses may contain others."""
    depth = 0
    for at in range(len(written) - 1, -1, -1):
        depth += (written[at] == ")") - (written[at] == "(")
        if depth == 0:
            return at
    return len(written)


def _split_name(written: str) -> tuple[str | None, str]:
    # The package's path may have dots (``github.com``), so the first dot after the last slash ends the package.
    folder, slash, name = written.rpartition("/")
    package, dot, function = name.partition(".")
    return (folder + slash + package, function) if dot else (None, written)


def _frames(lines: Sequence[Line], index: int) -> tuple[int, list[Frame]]:
    frames: list[Frame] = []
    while frame := _frame(lines, index):
        frames.append(frame)
        index += 2
        # The runtime prints the first and the last fifty frames of a deep stack.
        if index < len(lines) and lines[index].bare.startswith("...") and "frames elided" in lines[index].bare:
            index += 1
    return index, frames


def _heading_above(lines: Sequence[Line], *, floor: int, first: int) -> tuple[int, Heading]:
    top, state = first, None
    for index in range(first - 1, max(floor, first - _LOOKBACK) - 1, -1):
        bare = lines[index].bare
        if is_fence(bare):
            break
        if goroutine := _GOROUTINE.match(bare):
            top, state = index, goroutine[1]
        elif why := _WHY.match(bare):
            return index, Heading(why[1], _RECOVERED.sub("", why[2]).strip() or None)
    # Errors with a trace print their message directly above it.
    above = lines[first - 1]
    if top == first > floor and _ERRORS.match(lines[first].bare) and not is_fence(above.bare):
        return first - 1, Heading(None, above.bare)
    return top, Heading(None, state)


def _trace(lines: Sequence[Line], heading: Heading, frames: list[Frame]) -> StackTrace:
    # Frames above the panic machinery run after the panic and do not show its cause.
    names = [f"{frame.module}.{frame.function}" if frame.module else frame.function for frame in frames]
    raised = [at for at, name in enumerate(names) if name in _MACHINERY]
    # The last one, because a recovered panic that is raised again passes this machinery twice.
    relevant = frames[raised[-1] + 1 :] if raised and raised[-1] + 1 < len(frames) else frames
    return build_trace("go", heading, relevant, lines)
