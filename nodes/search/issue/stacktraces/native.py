"""Parse traces of native programs: C and C++ (gdb, lldb, the sanitizers, Valgrind, libraries), and Swift."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from nodes.search.issue.located import forward
from nodes.search.issue.stacktraces.runs import Dialect, FramelessError, Heading, Line, add_frameless_errors
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections
from nodes.search.types import Frame, StackTrace

_TERMINATED = lazy(r"(?:libc\+\+abi: )?terminate called after throwing an instance of '([^']{1,200})'")
_WHAT = "what(): "
_FORMS = load_sections(Path(__file__).with_name("native.txt"))
_ASSERTED, _ASIDE, _FATAL, _FILLER = (lazy("".join(_FORMS[name])) for name in ("asserted", "aside", "fatal", "filler"))
_LOCATED, _CERTAIN, _HEADINGS, _CRASHES, _FRAMES, _REPORTED = (
    tuple(map(lazy, _FORMS[f"{name}s"]))
    for name in ("located error", "certain error", "heading error", "crashe", "frame", "reported frame")
)
_MAY_BE_FRAME = lazy(r"[+@#!]|0x|Line \d")
_BELOW = lazy(r"(?:at |#\d{2,3} {1,2}pc .{1,300}\()?([^\s:()]{1,300}\.\w{1,6}):(\d{1,9})\)?$")
_MANGLED, _SIZE = lazy(r"_{1,2}Z{1,3}N?[KL]{0,2}(?=\d)"), lazy(r"\d{1,3}")
_HASH, _CLONE = lazy(r"::h[0-9a-f]{16}$"), lazy(r"\.(?:isra|constprop|part|cold|llvm)\b.{0,40}$")
_TEMPLATE = lazy(r"<[^<>]{0,300}>")
_OLD_PLACE = lazy(r":? file ([^,\"]{1,300}\.swift), line (\d{1,9})$")
# Swift draws the source between frames; frames of system libraries have an address and no location.
_SWIFT_FILLER = lazy(r"[│├╭╰…]|\d.*(?:│|0x)")

_SYSTEM = re.compile(
    r"(?:[(/ ]|^)((?:lib(?:c|m|dl|rt|pthread|gcc_s|stdc\+\+|c\+\+|ffi|glib|gobject|gio|gtk|gdk|wayland|xcb|X11"
    r"|GLX?|EGL|drm|vulkan|Qt\d|KF\d|nvidia|system_|objc|dispatch)[\w.+-]{0,40}\.(?:so|dylib)[\w.]{0,20}"
    r"|(?:ntdll|kernel32|kernelbase|user32|ucrtbase|msvcrt|vcruntime\d+)\.dll))\b",
    re.IGNORECASE,
)
"""A library of the operating system or of its desktop, as the binary of a frame without a place."""


def find(lines: Sequence[Line]) -> list[StackTrace]:
    """Find traces of native debuggers and sanitizers, and final error lines of programs."""
    dialect = Dialect("c", _frame, _heading, filler=_FILLER, finished=_with_names, lookback=20)
    return add_frameless_errors(lines, "c", dialect.find(lines), _frameless_error)


def _with_names(trace: StackTrace, inside: Sequence[Line], above: Sequence[Line]) -> StackTrace | None:
    """Return a trace unless its binary has no symbols: addresses alone name nothing in the source."""
    trace = replace(trace, is_aside=trace.error is None and bool(above and _ASIDE.match(above[-1].bare)))
    if any('Source "' in line.bare for line in inside):
        trace = replace(trace, frames=trace.frames[::-1])
    frames = list(trace.frames)
    # folly and Fortran print the place on the line below the function.
    for at, below in enumerate(line.bare for line in inside):
        place = _BELOW.match(below) if at else None
        if place and (frame := _frame(inside[at - 1].bare)) in frames and not frame.path:
            frames[frames.index(frame)] = replace(frame, path=forward(place[1]), line=int(place[2]))
    trace = replace(trace, frames=tuple(frames))
    return trace if any(frame.line or frame.function for frame in trace.frames) else None


def _frame(bare: str) -> Frame | None:
    return _read(_FRAMES, bare, _plain) if _MAY_BE_FRAME.search(bare) else None


def _read(forms: Sequence[re.Pattern[str]], bare: str, named: Callable[[str], str | None]) -> Frame | None:
    found = next(filter(None, (form.match(bare) for form in forms)), None)
    if found is None:
        return None
    parts = {group: text or "" for group, text in found.groupdict().items()}
    module = ".".join(filter(None, (parts.get("module", "").strip("?"), parts.get("class"))))
    path, line = forward(parts.get("path", "")), int(parts.get("line") or 0) or None
    # The name of a system's library says that the function is not the project's.
    path = path or ((system := _SYSTEM.search(bare)) and system[1]) or ""
    return Frame(path, line, named(parts["name"]), module or None)


def _plain(written: str) -> str | None:
    """Return a function without its arguments, and without what compilers add to its name."""
    name = _CLONE.sub("", _HASH.sub("", written))
    if mangled := _MANGLED.match(name):
        parts, at = list[str](), mangled.end()
        while size := _SIZE.match(name, at):
            at = size.end() + int(size[0])
            parts.append(name[size.end() : at])
        return _HASH.sub("", "::".join(parts))
    name = _name(name) or ""
    for _ in range(4 * name.endswith(">")):
        name = _TEMPLATE.sub("", name)
    return name.rpartition(" ")[2] if "<" not in name and "operator" not in name else name


def _name(written: str) -> str | None:
    """Return the function without its arguments; those of ``operator()`` and of templates belong to the name."""
    written = written.strip()
    for start in (" (", "("):
        at = written.find(start, 1)
        if at > 0 and not written[:at].endswith("operator") and not written.startswith("("):
            written = written[:at]
    return written.partition(" + ")[0].strip() or None


def _heading(bare: str) -> Heading | None:
    if match := next(filter(None, (form.match(bare) for form in _CERTAIN + _HEADINGS[:-1])), None):
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
    return _read(_REPORTED, bare, _swift_name) if bare[0].isdigit() and "0x" in bare else None


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
