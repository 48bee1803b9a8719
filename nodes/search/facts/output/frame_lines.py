"""The line of a stack trace's frame in its file at this commit: by its text, its function and its number."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nodes.search.facts.code import Code, family, whole_word
from nodes.search.facts.inquiry import IssueParts
from nodes.search.facts.output.frame_text import frame_text, last_part
from nodes.search.facts.output.refusals import is_raising
from nodes.search.languages.table import has_grammar, language_of
from nodes.search.paths.project import simplified
from nodes.search.tokens import normalise_space
from nodes.search.types import Frame, StackTrace

LONGEST_FUNCTION = 200
"""Maximum number of lines of a function in which the line of a frame is looked for by what it did."""
LEAST_TEXT = 12
"""Minimum length of a frame's text that alone identifies a line of its file."""
MAX_HEAD = 8
"""Maximum number of lines of a definition up to its name."""
_CLASSES = re.compile(r"[.+$/]|::")
"""What separates namespaces and classes."""
_CONSTRUCTOR = re.compile(r"(?<!\w)(\w{1,100})(?:`\d)?\.\.c?ctor$")
_WITHOUT_PARENTHESES = (".hs", ".lhs", ".ml", ".elm", ".purs", ".fs")
_REMARKS = ("# ", "//", "/*", "* ", "-- ")
_ARGUMENT = re.compile(r"func(?:tion)?|fn|f|cb|callback|handler|method")
SCRIPT = re.compile(r"\.[cm]?jsx?$")
COMPILED = ("ts", "tsx", "mts", "cts")
_WITH_RUNTIME_FRAMES = frozenset({"go", "rust", "c", "nim"})
"""Languages whose traces begin with frames of the runtime that reports the error."""


@dataclass(frozen=True, slots=True)
class MappedFrame:
    """A frame and the corresponding place at this commit."""

    frame: Frame
    trace: StackTrace
    number: int
    """The number of the file."""
    line: int
    start: int
    """First line of the function."""
    end: int
    symbol: str | None
    exact: bool
    """Whether the frame's own text, or the call to the next frame, is on that line."""
    lost_inner: bool = False
    """Whether an inner frame is in a file of own code, at a place that the file does not have at this commit."""
    is_library: bool = False
    """Whether an inner frame is in a library, so that the library raised the error."""
    reports: bool = False
    """Whether the frame inside it only reports the error, which occurred elsewhere."""
    in_program: bool = False
    """Whether an inner frame is in the reporter's own program, which the project calls."""
    moved: str | None = None
    """The end of a sentence on the line of the release that the report names; None if that line is not known."""
    gone: str = ""
    """The end of a sentence on that line if the file has no such line any more."""
    change: str | None = None
    """The change that removed the line, if one is found."""

    @property
    def error(self) -> str:
        """The class and the message of the trace's error."""
        return f"{self.trace.error or ''}: {self.trace.message or ''}"

    @property
    def name(self) -> str | None:
        """The unqualified name of the function, if the frame gives one."""
        return last_part(self.frame.function)

    @property
    def is_known(self) -> bool:
        """Whether more than the number says which line it is."""
        return self.exact or self.moved is not None

    @property
    def has_inner(self) -> bool:
        """Whether the trace has frames inside it, other than built-in ones and those of a runtime that reports it."""
        inner = range(self.trace.frames.index(self.frame))
        return self.trace.language not in _WITH_RUNTIME_FRAMES and not all(is_built_in(self.trace, at) for at in inner)


class _Span(NamedTuple):
    """The lines of a function and its name."""

    start: int
    end: int
    symbol: str | None


def is_built_in(trace: StackTrace, depth: int) -> bool:
    """Return whether a frame is of a built-in method of Ruby, which has the place of its caller, the next frame."""
    here, outer = trace.frames[depth], trace.frames[depth + 1 : depth + 2]
    return trace.language == "ruby" and any((here.path, here.line) == (frame.path, frame.line) for frame in outer)


def mapped_at(code: Code, issue: IssueParts, trace: StackTrace, depth: int, number: int) -> MappedFrame | None:
    """Find the frame's text in its function; otherwise use its line number if it is still inside the function."""
    frame, inner = trace.frames[depth], trace.frames[depth - 1] if depth else None
    text = frame_text(issue, trace, frame)
    spans = _functions(code, number, frame) or _renamed(code, number, text)
    # Several classes may have the function; the one that has the frame's text is meant.
    lines = {span: _line_of(code, number, text, span, frame.line or span.start) if text else None for span in spans}
    is_given = any(line or span.start <= (frame.line or 0) <= span.end for span, line in lines.items())
    if text and not is_given and len({span.symbol for span in spans}) > 1:
        # Neither the text nor the number says which of them was run.
        spans = [_Span(1, len(code.lines(number)), None)]
        lines = dict.fromkeys(spans)
    for span in sorted(spans, key=lambda span: lines[span] is None):
        line = lines[span]
        first = _with_attributes(code.lines(number), span.start)
        # Vim counts the lines of a function from its head.
        given = (frame.line or 0) + (span.start if trace.language == "vim" and frame.function else 0)
        is_other = SCRIPT.search(frame.path) and code.path(number).endswith(COMPILED)
        inside = given if frame.line and not is_other and first <= given <= span.end else None
        held = code.text(number, inside) if inside and text is None else None
        if text is None and not (held is not None and is_call(held, inner)):
            calls = _calls(code.lines(number), span, inner)
            line = calls[0] if len(calls) == 1 else None
        exact = line is not None or (held is not None and is_call(held, inner))
        # The line of another version may be a blank one or a comment now.
        at_inside = (code.text(number, inside) or "").strip() if inside else ""
        is_blank = inside is not None and span.symbol is not None and (not at_inside or at_inside.startswith(_REMARKS))
        # A number outside the function is of another version, whose call may be any of them.
        near = _calls(code.lines(number), span, inner) if is_blank or (inside is None and span.symbol) else []
        nearest = min(near, key=lambda at: abs(at - given), default=None)
        at = line or (nearest if is_blank else inside) or nearest or _line_of_name(code, number, span)
        # Without a function, a number beyond the last line is from another version of the file.
        is_there = line or span.symbol or (frame.line or 0) <= span.end
        if not span.symbol:  # a blank line of this commit is another one in the version that was run
            at = next((below for below in range(at, span.end + 1) if code.text(number, below)), at)
        if is_there and code.text(number, at):
            return MappedFrame(frame, trace, number, at, span.start, span.end, span.symbol, exact)
    return None


def _with_attributes(lines: Sequence[str], start: int) -> int:
    """Return the first line of the attributes or decorators above a definition, whose code may raise as well."""
    while start > 1 and lines[start - 2].lstrip().startswith(("#[", "@")):
        start -= 1
    return start


def _calls(lines: Sequence[str], span: _Span, inner: Frame | None) -> list[int]:
    """Return the lines of a function that call the next inner frame; its number may be of another version."""
    name = last_part(inner.function) if inner and span.symbol else None
    if name is None or span.end - span.start > LONGEST_FUNCTION:
        return []
    call = re.compile(called(name, inner))
    return [at for at in range(span.start + 1, min(span.end, len(lines)) + 1) if call.search(lines[at - 1])]


def called(name: str, inner: Frame | None) -> str:
    """Return a pattern of a call; functional languages put a space before the first argument."""
    before = r"\s" if inner and inner.path.endswith(_WITHOUT_PARENTHESES) else r"\s?\("
    return rf"{whole_word(name).pattern}{before}"


def _line_of_name(code: Code, number: int, span: _Span) -> int:
    """Return the first line of a function that has its name; in C, the type may be on a line above."""
    name = (span.symbol or "").rpartition(".")[2]
    first = code.lines(number)[span.start - 1 : span.end][:MAX_HEAD]
    return next((line for line, text in enumerate(first, span.start) if name in text), span.start)


def _functions(code: Code, number: int, frame: Frame) -> list[_Span]:
    """Return a file's definitions that match the frame, nearest first; the whole file for code outside functions."""
    name, line = last_part(frame.function), frame.line or 0
    # The virtual machine's name of a lambda in a constructor, which has the name of its class.
    name = last_part(frame.module) if name == "new" and "lambda$new$" in (frame.function or "") else name
    # A function of Vim has the name of its file: ``folder#file#Function``.
    whole = frame.function if frame.path.endswith(".vim") and "#" in (frame.function or "") else None
    rows = code.definitions(whole or name or "", number) if name else []
    # Lua names a function as its caller does, which may be by the argument that has it.
    is_alias = not rows and frame.path.endswith(".lua") and _ARGUMENT.fullmatch(name or "")
    if frame.function == "__init__":
        rows = code.definitions("__init__", number)
    elif (name is None or is_alias) and line and (row := code.index.definition_at(number, line)) is not None:
        rows = [row]
    # A class of .NET without a constructor has one that sets its fields: ``Acme.Page+Styles..ctor``.
    if not rows and (of_class := _CONSTRUCTOR.search(frame.function or "")):
        rows = code.definitions(of_class[1], number)
    found = [_span(code, row) for row in rows]
    # Methods of several classes may have one name, and the line of the trace, or else its class, tells them apart.
    found.sort(key=lambda span: (not span.start <= line <= span.end, abs(span.start - line)))
    if not line:
        found.sort(key=lambda span: not is_of_class(code, frame, span.symbol))
    # Without a line, a frame whose function is not found has no place.
    if found or (name and (not line or whole or _names_functions(code, number))):
        return found
    return [_Span(1, len(code.lines(number)), None)]


def _renamed(code: Code, number: int, text: str | None) -> list[_Span]:
    """Return the definition with the only line of a file that is the text of a frame whose function the file lacks."""
    lines = code.lines(number) if text and len(text) >= LEAST_TEXT else ()
    held = [line for line, here in enumerate(lines, 1) if normalise_space(here) == text]
    row = code.index.definition_at(number, held[0]) if len(held) == 1 else None
    return [] if row is None else [_span(code, row)]


def is_of_class(code: Code, frame: Frame, symbol: str | None) -> bool:
    """Return whether a definition is in the class of a frame, whose namespace has the name of the project."""
    *classes, _ = (symbol or "").split(".")
    parts = [part for part in _CLASSES.split(frame.module or "") if part]
    around = parts[: len(parts) - len(classes)]
    space = {simplified(part) for part in (*around, "".join(around))}  # a folder may have the whole namespace
    project = code.index.project
    return bool(classes) and parts[-len(classes) :] == classes and not space.isdisjoint(project.names | project.folders)


def _span(code: Code, row: int) -> _Span:
    _, start, end = code.span(row)
    return _Span(start, end, code.index.name_of(row))


def _names_functions(code: Code, number: int) -> bool:
    """Return whether a frame's function must be defined in its file, so that another one means another version.

    A file of a language without a grammar has no definitions. JavaScript names functions by their variable or class.
    """
    path = code.path(number)
    has_definitions = code.index.first_def[number] < code.index.first_def[number + 1] and has_grammar(path)
    return bool(has_definitions) and family(language_of(path) or "") not in {"javascript", "component"}


def _line_of(code: Code, number: int, text: str, span: _Span, near: int) -> int | None:
    """Find a line that starts with a frame's text or is a prefix of it; traces truncate long statements."""
    same = []
    for line, here in enumerate(code.lines(number)[span.start - 1 : span.end], span.start):
        if same_start(normalise_space(here), text):
            same.append(line)
    return min(same, key=lambda line: abs(line - near)) if same else None


def same_start(line: str, text: str) -> bool:
    """Return whether a line is a text of a trace, or one begins the other; an open call must be the whole text."""
    begins = len(text) >= 12 and not text.endswith(("(", "[", "{", ",")) and line.startswith(text)
    return bool(line) and (line == text or begins or (len(line) >= 12 and text.startswith(line)))


def is_call(text: str, inner: Frame | None) -> bool:
    """Return whether a line calls the next inner frame, or raises if the frame is the innermost."""
    if inner is None:
        return is_raising(text)
    name = last_part(inner.function)
    return name is not None and bool(whole_word(name).search(text))
