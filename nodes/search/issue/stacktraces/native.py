"""Parse traces of native programs: C and C++ (gdb, lldb, the sanitizers, Valgrind, libraries), and Swift."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nodes.search.issue.located import forward
from nodes.search.issue.stacktraces.runs import Dialect, FramelessError, Heading, Line, add_frameless_errors
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections
from nodes.search.types import Frame, StackTrace

_NUMBER = lazy(r"(?:\* )?(?:frame )?(?:#\d{1,5}:?|\d{1,3}#) {1,4}(?:0x[0-9a-fA-F]{1,16}(?: in)? )?")
_VALGRIND = lazy(r"==\d{1,10}== {1,8}(?:at|by) 0x[0-9A-F]{1,16}: ")
_PLACE = lazy(r"(.{1,400}\.\w{1,6}|.{1,400}/\w{1,80}):(\d{1,9})(?::\d{1,9})?$")
_MODULE = lazy(r" \([^\s()]{1,200}\+0x[0-9a-f]{1,16}\)$")
_BARE_CALL = lazy(r"([A-Za-z_]\w{0,200}(?:::~?\w{1,200}){0,8}) \([^()]{0,300}\)(?: (?:from|at) \S{1,300})?")
"""A frame of a program without symbols: ``key_free () from /usr/lib/libkey.so.6``."""
_BACKWARD = lazy(r"Source \"([^\"]{1,300})\", line (\d{1,9}), in ([^\[]{1,300})")
"""A frame of the library of that name, which prints the outermost first."""
_TERMINATED = lazy(r"(?:libc\+\+abi: )?terminate called after throwing an instance of '([^']{1,200})'")
_WHAT = "what(): "
_FORMS = load_sections(Path(__file__).with_name("native.txt"))
_SOURCE_END, _ASSERTED, _ASIDE, _FATAL, _BACKTRACE, _REPORT, _FILLER = (
    lazy("".join(_FORMS[name]))
    for name in ("source end", "asserted", "aside", "fatal", "backtrace", "report", "filler")
)
_LOCATED, _CERTAIN, _HEADINGS, _CRASHES = (
    tuple(map(lazy, _FORMS[name])) for name in ("located errors", "certain errors", "heading errors", "crashes")
)
_OLD_PLACE = lazy(r":? file ([^,\"]{1,300}\.swift), line (\d{1,9})$")
_METHOD = lazy(r"[-+]\[(\w{1,120})(?:\(\w{0,80}\))? ([A-Za-z_]\w{0,200})[^\]]{0,300}\]")
"""A method of Objective-C."""
# Swift draws the source between frames; frames of system libraries have an address and no location.
_SWIFT_FILLER = lazy(r"[│├╭╰…]|\d.*(?:│|0x)")
_UNSYMBOLICATED = lazy(r"0x[0-9a-f]{1,16}$")


def find(lines: Sequence[Line]) -> list[StackTrace]:
    """Find traces of native debuggers and sanitizers, and final error lines of programs."""
    dialect = Dialect("c", _frame, _heading, filler=_FILLER, finished=_with_names, lookback=12)
    return add_frameless_errors(lines, "c", dialect.find(lines), _frameless_error)


def _with_names(trace: StackTrace, inside: Sequence[Line], above: Sequence[Line]) -> StackTrace | None:
    """Return a trace unless its binary has no symbols: addresses alone name nothing in the source."""
    trace = replace(trace, is_aside=trace.error is None and bool(above and _ASIDE.match(above[-1].bare)))
    if any(_BACKWARD.search(line.bare) for line in inside):
        trace = replace(trace, frames=trace.frames[::-1])
    return trace if any(frame.line or frame.function for frame in trace.frames) else None


def _frame(bare: str) -> Frame | None:
    if "#" in bare[:12] and (number := _NUMBER.match(bare)):
        return _numbered(bare[number.end() :], has_address="0x" in number[0])
    valgrind = _VALGRIND.match(bare) if bare.startswith("==") else None
    if not valgrind:
        return None
    function, _, rest = bare[valgrind.end() :].partition(" (")
    place = _PLACE.match(rest.removesuffix(")"))
    if place and not rest.startswith("in "):
        return Frame(forward(place[1]), int(place[2]), _name(function))
    return Frame("", None, _name(function)) if function != "???" else None


def _numbered(body: str, *, has_address: bool) -> Frame | None:
    body = body.partition("`")[2] if "`" in body[:120] else body  # lldb: module`function
    if backward := _BACKWARD.match(body):
        return Frame(forward(backward[1]), int(backward[2]), _name(backward[3]))
    function, separator, place = body.rpartition(" at ")
    if separator and (match := _PLACE.match(place)):
        return Frame(forward(match[1]), int(match[2]), _name(function))
    if module := _MODULE.search(body, max(0, len(body) - 300)):  # the race detector prints no address in front
        body, has_address = body[: module.start()], True
    # ``#1 something`` without an address is an item of a list, or a reference to an issue.
    if not has_address:
        bare = _BARE_CALL.fullmatch(body)
        return Frame("", None, bare[1]) if bare else None
    function, _, place = body.rpartition(" ")
    place = place.strip("[]")
    if (match := _PLACE.match(place)) and _SOURCE_END.match(match[1]):
        return Frame(forward(match[1]), int(match[2]), _name(function))
    name = _name(body.partition(" from ")[0].partition(" (/")[0])
    return Frame("", None, name) if name and name != "??" else None


def _name(written: str) -> str | None:
    """Return the function without its arguments; those of ``operator()`` and of templates belong to the name."""
    written = written.strip()
    for start in (" (", "("):
        at = written.find(start, 1)
        if at > 0 and not written[:at].endswith("operator") and not written.startswith("("):
            written = written[:at]
    return written.partition(" + ")[0].strip() or None


def _heading(bare: str) -> Heading | None:
    if match := next(filter(None, (form.match(bare) for form in _CERTAIN + _HEADINGS[:2])), None):
        return Heading(match[1], (match[2] or "").strip(" :,()") or None)
    plain = _HEADINGS[-1].match(bare)
    return _located(bare) or (Heading(bare.partition(" (")[0].rstrip(".")) if plain else None)


def _located(bare: str) -> Heading | None:
    if not any(words in bare for words in ("ssert", "runtime error", "Check failed")):
        return None
    if match := next(filter(None, (form.match(bare) for form in _LOCATED)), None):
        return Heading(match[3], match[4], Frame(forward(match[1]), int(match[2])))
    if match := _ASSERTED.match(bare):
        return Heading("Assertion", match[4], Frame(forward(match[1]), int(match[2]), _name(match[3])))
    return None


def _frameless_error(lines: Sequence[Line], index: int) -> FramelessError | None:
    bare = lines[index].bare
    if match := _TERMINATED.match(bare):
        below = lines[index + 1].bare if index + 1 < len(lines) else ""
        message = below.removeprefix(_WHAT).strip() if below.startswith(_WHAT) else None
        return (Heading(match[1], message or None), index + 1 + (message is not None))
    is_certain = any(form.match(bare) for form in _CERTAIN)
    heading = _heading(bare) if is_certain else _located(bare)
    return (heading, index + 1) if heading else None


def _swift_frame(bare: str) -> Frame | None:
    if not bare[0].isdigit() or "0x" not in bare:
        return None
    if match := _BACKTRACE.match(bare):
        return Frame(match[2], int(match[3]), _swift_name(match[1]))
    report = _REPORT.match(bare)
    # Crash reports without symbols give addresses instead of functions.
    if not report or _UNSYMBOLICATED.match(report[2]):
        return None
    if method := _METHOD.match(report[2]):
        return Frame(report[3] or "", int(report[4] or 0) or None, method[2], f"{report[1]}.{method[1]}")
    return Frame(
        report[3] or "",
        int(report[4]) if report[4] else None,
        _swift_name(report[2]),
        report[1] if report[1].strip("?") else None,
    )


def _swift_name(written: str) -> str:
    return written.partition(" + ")[0].partition("(")[0].strip() or written


def _swift_heading(bare: str) -> Heading | None:
    if match := _FATAL.match(bare):
        return _fatal(match)
    match = next(filter(None, (form.match(bare) for form in _CRASHES)), None)
    return Heading(match[1].strip() or None, (match[2] or "").strip() or None) if match else None


def _fatal(match: re.Match[str]) -> Heading:
    message = match[4] or ""
    if match[1]:
        return Heading(match[3], message or None, Frame(match[1], int(match[2])))
    # Before Swift 5.4 the location followed the message.
    old = _OLD_PLACE.search(message, max(0, len(message) - 400))
    if not old:
        return Heading(match[3], message or None)
    return Heading(match[3], message[: old.start()] or None, Frame(old[1], int(old[2])))


def _alone(bare: str) -> Heading | None:
    match = _FATAL.match(bare) if ".swift" in bare else None
    heading = _fatal(match) if match else None
    return heading if heading and heading.frame else None


SWIFT = Dialect("swift", _swift_frame, _swift_heading, filler=_SWIFT_FILLER, alone=_alone)
