"""Parse Go traces (panics, fatal errors, goroutine dumps) and Rust traces (panics, with or without a backtrace)."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import dropwhile
from pathlib import Path

from nodes.search.issue.located import forward
from nodes.search.issue.normal.evidence import is_fence
from nodes.search.issue.stacktraces.runs import (
    Found,
    FramelessError,
    Heading,
    Line,
    add_frameless_errors,
    build_trace,
    same_place,
    scan,
)
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections
from nodes.search.types import Frame, StackTrace

_FORMS = load_sections(Path(__file__).with_name("panics.txt"))
_GO_PLACE, _GOROUTINE, _ERRORS, _CREATED, _WHY, _RECOVERED, _PANICKED = (
    lazy("".join(_FORMS[name])) for name in "go_place goroutine errors created why recovered panicked".split()
)
_RUST_PLACE, _NUMBERED, _AT, _INLINE, _HASH = (
    lazy("".join(_FORMS[name])) for name in "rust_place numbered at inline hash".split()
)
_LOOKBACK = 10
_TO_GOROUTINE = 3
"""Lines below a panic within which its goroutine appears; a signal line may come between."""
_GO_MACHINERY = frozenset({"panic", "runtime.gopanic", "runtime/debug.Stack", "runtime.sigpanic", "runtime.throw"})

_LOOKAHEAD = 12
"""Lines of message and notes between a panic and its backtrace."""
_RUST_MACHINERY = tuple(
    "core::panicking:: std::panicking:: rust_begin_unwind core::result::unwrap_failed "
    "core::option:: std::sys backtrace:: __rust <alloc::boxed::Box".split()
)
_HEADING = "stack backtrace:"
_QUOTES = str.maketrans("‘’", "''")  # noqa: RUF001


def find_go(lines: Sequence[Line]) -> list[StackTrace]:
    """Find Go traces; every goroutine is a separate trace."""

    def read(index: int, floor: int) -> Found | None:
        if _frame(lines, index) is None:
            return None
        stop, frames = _go_frames(lines, index)
        top, heading = _heading_above(lines, floor=floor, first=index)
        return _go_trace(lines[top:stop], heading, frames), stop

    return add_frameless_errors(lines, "go", scan(lines, read), _frameless_error)


def _frameless_error(lines: Sequence[Line], index: int) -> FramelessError | None:
    """Parse a panic above a goroutine whose frames are missing."""
    bare = lines[index].bare
    why = _WHY.match(bare) if bare.startswith(("panic: ", "fatal error: ")) else None
    if not why:
        return None
    heading = Heading(why[1], _RECOVERED.sub("", why[2]).strip() or None)
    below = range(index + 1, min(index + 1 + _TO_GOROUTINE, len(lines)))
    return next(((heading, at + 1) for at in below if _GOROUTINE.match(lines[at].bare)), None)


def _frame(lines: Sequence[Line], index: int) -> Frame | None:
    """Parse the frame that consists of a function's line and the location below it."""
    # Go prints a frame on two lines, so the shared structure of ``runs`` does not fit.
    if index + 1 >= len(lines) or (".go:" not in lines[index + 1].bare and ".s:" not in lines[index + 1].bare):
        return None
    place, written = _GO_PLACE.match(lines[index + 1].bare), lines[index].bare
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


def _go_frames(lines: Sequence[Line], index: int) -> tuple[int, list[Frame]]:
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


def _go_trace(lines: Sequence[Line], heading: Heading, frames: list[Frame]) -> StackTrace:
    # Frames above the panic machinery run after the panic and do not show its cause.
    names = [f"{frame.module}.{frame.function}" if frame.module else frame.function for frame in frames]
    raised = [at for at, name in enumerate(names) if name in _GO_MACHINERY]
    # The last one, because a recovered panic that is raised again passes this machinery twice.
    relevant = frames[raised[-1] + 1 :] if raised and raised[-1] + 1 < len(frames) else frames
    return build_trace("go", heading, relevant, lines)


def find_rust(lines: Sequence[Line]) -> list[StackTrace]:
    """Find Rust panics, and backtraces without a panic line."""

    def read(first: int, _: int) -> Found | None:
        panicked = _PANICKED.match(lines[first].bare) if "panicked at " in lines[first].bare else None
        if not panicked and _backtrace_frame(lines, first) is None:
            return None
        heading, index = _panic(lines, first, panicked[1]) if panicked else (Heading(None), first)
        stop, frames = _rust_frames(lines, _backtrace_below(lines, index) if panicked else index)
        stop = stop if frames else index
        # One numbered name alone may be a call of another language, such as R.
        is_named = len(frames) > 1 or any(frame.path for frame in frames) or (frames and panicked)
        is_trace = heading.frame or is_named or (panicked and lines[first].bare.startswith("thread '"))
        return _rust_trace(lines[first:stop], heading, frames) if is_trace else None, max(stop, first + 1)

    return scan(lines, read)


def _panic(lines: Sequence[Line], index: int, error: str) -> tuple[Heading, int]:
    """Parse the message and the location; return the index after these lines."""
    error = error.translate(_QUOTES)
    # Before 1.73 the message came first, in quotes: ``panicked at 'message', file:1:2``.
    before, quote, where = error.rpartition("': " if "': " in error and "', " not in error else "', ")
    message: str | None = before.removeprefix("'") or error.strip("'")
    place = _RUST_PLACE.match(where) if quote else None
    if not error.startswith("'") and (placed := _RUST_PLACE.match(error)):
        place, message = placed, placed[4]
        below = lines[index + 1].bare if index + 1 < len(lines) else ""
        if not message and below and not is_fence(below) and not below.startswith(("note: ", _HEADING)):
            message, index = below, index + 1
    frame = Frame(forward(place[1]), int(place[2])) if place else None
    return Heading("panic", message, frame), index + 1


def _backtrace_below(lines: Sequence[Line], index: int) -> int:
    for at in range(index, min(index + _LOOKAHEAD, len(lines))):
        if is_fence(lines[at].bare) or "panicked at " in lines[at].bare:
            break
        if lines[at].bare.startswith(_HEADING):
            return at + 1
        if _backtrace_frame(lines, at):
            return at
    return index


def _backtrace_frame(lines: Sequence[Line], index: int, *, inside: bool = False) -> Frame | None:
    """Parse a numbered line with a Rust path, and the location below it."""
    if index >= len(lines) or not lines[index].bare[0].isdigit():
        return None
    numbered = _NUMBERED.match(lines[index].bare)
    if not numbered:
        return None
    if inline := _INLINE.match(numbered[2]):
        return Frame(forward(inline[2]).removeprefix("./"), int(inline[3]), _HASH.sub("", inline[1]))
    function = _HASH.sub("", numbered[2])
    place = _AT.match(lines[index + 1].bare) if index + 1 < len(lines) else None
    if not place:
        # A numbered line with ``::`` may also be an item of a list in prose; inside a backtrace it is a frame.
        is_plain = " " not in function
        named = inside or is_plain if "::" in function else inside and is_plain
        return Frame("", None, function) if named or (inside and " - " in lines[index].bare) else None
    return Frame(forward(place[1]).removeprefix("./"), int(place[2]), function)


def _rust_frames(lines: Sequence[Line], index: int) -> tuple[int, list[Frame]]:
    frames: list[Frame] = []
    is_announced = index > 0 and lines[index - 1].bare.startswith(_HEADING)
    while index < len(lines):
        frame = _backtrace_frame(lines, index, inside=bool(frames) or is_announced)
        if frame:
            frames.append(frame)
        elif not (frames and (_AT.match(lines[index].bare) or lines[index].bare.startswith("⋮"))):
            break
        index += 1
    return index, frames


def _rust_trace(lines: Sequence[Line], heading: Heading, frames: list[Frame]) -> StackTrace:
    # Machinery runs after the panic; a backtrace of machinery only is still better than none.
    own = dropwhile(lambda frame: (frame.function or "").startswith(_RUST_MACHINERY), frames)
    frames = list(own) or frames
    if heading.frame:
        same = [frame for frame in frames if same_place(frame, heading.frame)]
        named = replace(heading.frame, function=same[0].function if same else None)
        frames = [named, *(frame for frame in frames if frame not in same[:1])]
    return build_trace("rust", heading, frames, lines)
