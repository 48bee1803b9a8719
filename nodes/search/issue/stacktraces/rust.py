"""Parse Rust traces: panics, with or without a backtrace."""

import re
from collections.abc import Sequence
from dataclasses import replace

from nodes.search.issue.located import forward
from nodes.search.issue.normal.evidence import is_fence
from nodes.search.issue.stacktraces.runs import Found, Heading, Line, build_trace, same_place, scan
from nodes.search.types import Frame, StackTrace

_PANICKED = re.compile(r"(?:thread '[^']{0,200}' (?:\(\d{1,12}\) )?|The application )?panicked at (.*)")
_PLACE = re.compile(r"(.{1,400}?\.rs):(\d{1,9})(?::(\d{1,9}))?(?::?\s{1,200}(\S.{0,2000}))?:?$")
"""A place, and the message if the report joined the two lines."""
_NUMBERED = re.compile(r"(\d{1,5}): (?:\s{0,20}0x[0-9a-f]{1,16} - )?(\S.{0,500})")
_AT = re.compile(r"at (.{1,400}?):(\d{1,9})(?::\d{1,9})?$")
_INLINE = re.compile(r"(.{1,400}?) at (\S{1,400}\.rs):(\d{1,9})(?::\d{1,9})?$")
"""A frame with its place on one line, as before Rust 1.20 and in crash reporters."""
_HASH = re.compile(r"::h[0-9a-f]{16}$|\[[0-9a-f]{16}\]")
"""Hashes of both schemes of mangling."""
_LOOKAHEAD = 12
"""Lines of message and notes between a panic and its backtrace."""
_MACHINERY = (
    "core::panicking::",
    "std::panicking::",
    "rust_begin_unwind",
    "core::result::unwrap_failed",
    "core::option::",
    "std::sys",
    "backtrace::",
    "__rust",
    "<alloc::boxed::Box",
)
_HEADING = "stack backtrace:"
_QUOTES = str.maketrans("‘’", "''")  # noqa: RUF001


def find(lines: Sequence[Line]) -> list[StackTrace]:
    """Find Rust panics, and backtraces without a panic line."""

    def read(first: int, _: int) -> Found | None:
        panicked = _PANICKED.match(lines[first].bare) if "panicked at " in lines[first].bare else None
        if not panicked and _backtrace_frame(lines, first) is None:
            return None
        heading, index = _panic(lines, first, panicked[1]) if panicked else (Heading(None), first)
        stop, frames = _frames(lines, _backtrace_below(lines, index) if panicked else index)
        stop = stop if frames else index
        is_trace = heading.frame or frames or (panicked and lines[first].bare.startswith("thread '"))
        return _trace(lines[first:stop], heading, frames) if is_trace else None, max(stop, first + 1)

    return scan(lines, read)


def _panic(lines: Sequence[Line], index: int, error: str) -> tuple[Heading, int]:
    """Parse the message and the location; return the index after these lines."""
    error = error.translate(_QUOTES)
    # Before 1.73 the message came first, in quotes: ``panicked at 'message', file:1:2``.
    place = None if error.startswith("'") else _PLACE.match(error)
    if place:  # since Rust 1.73 the message is on a separate line
        has_message = not place[4] and index + 1 < len(lines) and not _is_note(lines[index + 1].bare)
        message = lines[index + 1].bare if has_message else place[4]
        return Heading("panic", message, _frame_at(place)), index + 1 + has_message
    message, quote, where = error.rpartition("', ")
    place = _PLACE.match(where) if quote else None
    return Heading(
        "panic", message.removeprefix("'") or error.strip("'"), _frame_at(place) if place else None
    ), index + 1


def _is_note(bare: str) -> bool:
    return is_fence(bare) or bare.startswith(("note: ", _HEADING))


def _frame_at(place: re.Match[str]) -> Frame:
    return Frame(forward(place[1]), int(place[2]))


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
        named = "::" in function and (inside or " " not in function)
        return Frame("", None, function) if named or (inside and " - " in lines[index].bare) else None
    return Frame(forward(place[1]).removeprefix("./"), int(place[2]), function)


def _frames(lines: Sequence[Line], index: int) -> tuple[int, list[Frame]]:
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


def _trace(lines: Sequence[Line], heading: Heading, frames: list[Frame]) -> StackTrace:
    frames = _without_machinery(frames)
    if heading.frame:
        same = [frame for frame in frames if same_place(frame, heading.frame)]
        named = replace(heading.frame, function=same[0].function if same else None)
        frames = [named, *(frame for frame in frames if frame not in same[:1])]
    return build_trace("rust", heading, frames, lines)


def _without_machinery(frames: list[Frame]) -> list[Frame]:
    """Remove the frames that run after the panic."""
    at = 0
    while at < len(frames) and (frames[at].function or "").startswith(_MACHINERY):
        at += 1
    # A backtrace of machinery only is still better than none.
    return frames[at:] or frames
