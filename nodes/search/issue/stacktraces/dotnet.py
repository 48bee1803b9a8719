"""Parse .NET traces: C#, F# and Visual Basic."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nodes.search.issue.stacktraces.runs import (
    Dialect,
    Heading,
    Line,
    add_frameless_errors,
    error_line,
    find_runs,
    forward,
    single_line_reader,
)
from nodes.search.types import Frame, StackTrace

# Includes the compiler's own names: ``<Main>b__0``, ``List`1``, ``Outer+Inner``, F#'s ``|Parse|_|``.
_NAME = re.compile(r"[\w.`<>+$|\[\],&*@-]{1,400}$")
# The runtime translates the word "line" to the user's language.
_LINE = re.compile(r"(.{1,500}):(?:line|Zeile|ligne|línea|строка|行) ?(\d{1,9})$")
# "Exception Info" is how the event log of Windows writes an unhandled exception.
_LEAD = re.compile(
    r"(?:Unhandled [Ee]xception[.:] {1,2}|Exception Info: |---> |-> |\(Inner Exception #\d{1,3}\) ){1,4}"
)
_MONO = re.compile(r"\) \[0x[0-9a-f]{1,8}\] in (?:<\w{0,80}>|([A-Za-z]:[^:]{1,400}|[^<:][^:]{0,400})):(\d{1,9})")
_UNHANDLED = ("Unhandled exception. ", "Unhandled Exception: ")
_MAX_ARGUMENTS = 800
_FILLER = ("--- End of stack trace from previous location", "--- Exception transferred", "--- End of managed")


def find(lines: Sequence[Line]) -> list[StackTrace]:
    """Find .NET traces; an inner exception is a separate trace."""
    traces = find_runs(lines, Dialect("csharp", frame=_frame, heading=_heading, filler=_is_filler))
    return add_frameless_errors(lines, "csharp", traces, single_line_reader(_frameless_error))


def _frame(bare: str) -> Frame | None:
    if not bare.startswith("at "):
        return None
    name, paren, rest = bare[3:].partition("(")
    name = name.rstrip()
    module, dot, function = _split_name(name)
    if not (paren and dot and module and _NAME.match(name)):
        return None
    arguments, closed, place = rest.partition(") in ")
    if closed:
        located = _LINE.match(place)
        return Frame(forward(located[1]), int(located[2]), function, module) if located else None
    mono = _MONO.search(rest[:_MAX_ARGUMENTS])
    if mono:
        return Frame(forward(mono[1] or ""), int(mono[2]) if mono[1] else None, function, module)
    # Frames without a location look the same in other languages, but those have a file between the parentheses.
    if not arguments.endswith(")") or arguments.startswith("<") or ":" in arguments or ".java" in arguments:
        return None
    return Frame("", None, function, module)


def _split_name(name: str) -> tuple[str, str, str]:
    # The arguments of a generic type contain dots as well.
    head = name.partition("[")[0]
    module, dot, function = head.rpartition(".")
    if module.endswith("."):  # a constructor: Acme.Parser..ctor
        return module[:-1], dot, f".{function}"
    return module, dot, function


def _heading(bare: str) -> Heading | None:
    if lead := _LEAD.match(bare):
        bare = bare[lead.end() :]
    # The outer exception and the inner one may share a line; the frames below belong to the inner one.
    return error_line(bare.rpartition(" ---> ")[2]) or error_line(bare)


def _frameless_error(bare: str) -> Heading | None:
    heading = _heading(bare) if bare.startswith(_UNHANDLED) else None
    # Without frames only a full type name counts: "Error: …" alone may be of any language, or prose.
    return heading if heading and "." in str(heading.error) else None


def _is_filler(bare: str) -> bool:
    return bare.startswith(_FILLER)
