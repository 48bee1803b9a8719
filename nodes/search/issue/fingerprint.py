"""Identifies a crash by a value that is the same across versions, machines and shifted lines."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from nodes.search.lazy import lazy
from nodes.search.paths.project import PathIndex, is_library, module_parts
from nodes.search.paths.roles import role_of
from nodes.search.types import Frame, StackTrace

FRAMES = 5
"""Innermost frames of the repository that count; further out, many call paths lead to the same crash."""
ENOUGH = 2
"""With this number of frames, the message is not needed."""
# Functions of one cycle of a recursion, and characters of a name or message that are read.
_LONGEST_CYCLE = 8
_MAX_NAME = 500

# Compilers and runtimes add these to names, and they differ between builds: hashes (Rust), offsets, clones (GCC, LLVM),
# numbers of closures (JavaScript, Go, the JVM).
_RUST_HASH = lazy(r"::h[0-9a-f]{16}$")
_OFFSET = lazy(r"\s?\+ ?(?:0x[0-9a-fA-F]{1,16}|\d{1,12})$")
_CLONE = lazy(r"(?:\.(?:isra|constprop|part|cold|lto_priv|llvm)(?:\.\d{1,20})?){1,8}$")
_GENERIC = lazy(r"<[^<>]{0,200}>|\[[^\[\]]{0,200}\]")
_ARGUMENTS = lazy(r"\([^()]{0,300}\)$")
_NUMBERING = lazy(r"(?<=[A-Za-z$_}])[\d$.]{1,20}(?=$|[.:$/])|(?<=__)\d{1,6}(?:_\d{1,6}){0,3}")
_NAMELESS = lazy(
    r"<(?:lambda|anonymous|listcomp|dictcomp|setcomp|genexpr|module|init|clinit|eval|locals)>|\{\{?closure\}?\}"
)
_QUOTED = lazy(r"'[^'\n]{0,300}'|\"[^\"\n]{0,300}\"|`[^`\n]{0,300}`|“[^”\n]{0,300}”|‘[^’\n]{0,300}’")  # noqa: RUF001
_UUID = lazy(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
_PATHLIKE = lazy(r"(?<!\w)(?:[A-Za-z]:)?[\w.~@+-]{0,100}(?:[/\\][\w.~@+-]{1,100}){1,40}[/\\]?|\b\w{3,8}://\S{1,300}")
_NUMBER = lazy(
    r"\b0[xX][0-9a-fA-F]{1,40}\b|\b(?=[a-fA-F]{0,40}\d)[0-9a-fA-F]{7,64}\b|[-+]?\d[\d.,_]{0,40}(?:[eE][-+]?\d{1,4})?"
)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A crash, identified by its normalised frames."""

    value: str
    """Sixteen hexadecimal digits."""
    basis: Literal["frames", "message"]
    """Whether the frames were enough; a message identifies a crash less reliably."""
    error: str
    """The error's type without its package."""
    frames: tuple[str, ...]
    """``module/path:function``, innermost first."""
    message: str = ""
    """The error message without the parts that vary between occurrences."""


def fingerprint(trace: StackTrace, names: PathIndex) -> Fingerprint | None:
    """Return the fingerprint of a crash by its frames in the repository; None without such frames and a message."""
    own = ((frame.function or "", path) for frame in trace.frames if (path := own_path(frame, names)))
    labels = [f"{'/'.join(module_parts(path)[-2:])}:{plain_function(function)}" for function, path in own]
    frames = collapse(labels)[:FRAMES]
    error = plain_error(trace.error)
    enough = len(frames) >= ENOUGH
    message = plain_message(trace.message or "")
    if trace.is_aside or (not frames and not (error and message)):
        return None
    # NUL occurs in no name, so different lists of frames cannot give the same text.
    text = "\x00".join((error, *frames, *(["message", message] if not enough else [])))
    value = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Fingerprint(value, "frames" if enough else "message", error, tuple(frames), message)


def fingerprints(traces: Iterable[StackTrace], names: PathIndex) -> tuple[Fingerprint, ...]:
    """Return the distinct fingerprints of some traces, in their order; a trace may be repeated without its error."""
    found = [item for trace in traces if (item := fingerprint(trace, names)) is not None]
    whole = {item.frames for item in found if item.error}
    return tuple({item.value: item for item in found if item.error or item.frames not in whole}.values())


def own_path(frame: Frame, names: PathIndex) -> str | None:
    """Return the repository's file of a frame; None for a library's file and if several files match."""
    written = frame.path.replace("\\", "/")
    found = names.with_suffix(written) if written else []
    # A file name such as Parser.java is ambiguous in most repositories, but with its package it is unique.
    if not found or (len(found) > 1 and frame.module):
        found = names.of_module(frame.module) if frame.module else []
        found = found if len(found) == 1 else []
    # A bare file name that several files share, or a path inside a library's folder, is not evidence.
    elif found[0][1] == 1 and (len(found) > 1 or ("/" in written.strip("/") and is_library(written))):
        return None
    paths = [names.paths[number] for number, _ in found]
    # The test that reveals a crash differs between reports; the code that crashes does not.
    own = [path for path in paths if role_of(path) not in ("vendored", "minified", "test")]
    # Two copies of a module at different depths give the same label, so they identify the frame equally well.
    tails = {tuple(module_parts(path)[-2:]) for path in own}
    return own[0] if len(tails) == 1 else None


def plain_error(error: str | None) -> str:
    """Return the last part of an error's type: packages move between versions."""
    return re.split(r"[.:\\/]+", error.strip())[-1] if error else ""


def plain_function(name: str) -> str:
    """Return a function's name without addresses, generics, arguments, hashes and numbers of closures."""
    name = _OFFSET.sub("", _RUST_HASH.sub("", name.strip()[:_MAX_NAME]))
    name = _CLONE.sub("", _ARGUMENTS.sub("", name))
    name = _NAMELESS.sub("~", name.removeprefix("async ").removeprefix("new "))
    for _ in range(4):  # generics nest
        name = _GENERIC.sub("", name)
    name = _NUMBERING.sub("", name)
    return ".".join([part for part in re.split(r"\.|::|#|->|/", name) if part][-2:])


def plain_message(message: str) -> str:
    """Return a message without the parts that vary between occurrences."""
    text = message[:_MAX_NAME]
    # Numbers come last: a UUID and a path contain numbers, and parts of them would remain.
    for pattern in (_UUID, _QUOTED, _PATHLIKE, _NUMBER):
        text = pattern.sub("~", text)
    return " ".join(text.lower().split())


def collapse(frames: Sequence[str]) -> list[str]:
    """Reduce each run of a repeated cycle to one copy, because the depth of a recursion varies."""
    collapsed: list[str] = []
    for frame in frames:
        collapsed.append(frame)
        for size in range(1, _LONGEST_CYCLE + 1):
            if len(collapsed) >= 2 * size and collapsed[-size:] == collapsed[-2 * size : -size]:
                del collapsed[-size:]
                break
    return collapsed
