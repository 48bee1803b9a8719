"""The values the evidence engine takes and gives: plain, frozen, and free of any framework."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Role = Literal["source", "test", "docs", "example", "config", "generated", "vendored", "minified", "data"]


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a stack trace, as the reporter wrote it."""

    path: str
    """The file as written, with forward slashes; empty where the language names only a class or module."""
    line: int | None = None
    """1-based, or None where the trace has none."""
    function: str | None = None
    module: str | None = None
    """The dotted class or module, where the language gives one (``com.acme.Parser``)."""


@dataclass(frozen=True, slots=True)
class StackTrace:
    """One stack trace found in prose."""

    language: str
    error: str | None
    """The exception's type or the kind of crash (``KeyError``, ``panic``, ``SEGV``)."""
    message: str | None
    frames: tuple[Frame, ...]
    """Innermost (where it was raised) first, whatever order the language prints; none where they were left out."""
    start: int = 0
    """Offset of its first character in the text it was found in."""
    end: int = 0
    """Offset one past its last character."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, method, class or the like that a file defines."""

    name: str
    """Dotted inside the file: ``Class.method``."""
    kind: Literal["function", "method", "class", "interface", "enum", "module", "macro", "type", "constant"]
    start_line: int
    """1-based, decorators and annotations included."""
    end_line: int
    """1-based, inclusive."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a parser says of one file."""

    language: str
    """The grammar's name, or ``text``."""
    definitions: tuple[Definition, ...] = ()
    """In the order of their first line; an outer one before those inside it."""
    imports: tuple[str, ...] = ()
    """Modules or paths as written: ``django.db.models``, ``./lexer``, ``crate::io``."""
    strings: tuple[tuple[int, str], ...] = ()
    """(line, text) of string literals that hold two words or more: messages, mostly."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a place ranks where it does."""

    kind: str
    """A stable key, such as ``trace``, ``symbol``, ``path``, ``words``, ``history``, ``prior``."""
    text: str
    """One line for a person."""
    contribution: float
    """Its share of the score; the shares of one place add up to its score."""


@dataclass(frozen=True, slots=True)
class FileHit:
    """A ranked file."""

    path: str
    score: float
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Location:
    """A ranked place inside a file, with the lines worth quoting."""

    path: str
    start_line: int
    """1-based."""
    end_line: int
    """1-based, inclusive."""
    symbol: str | None
    """The definition's dotted name inside the file, or None for a place outside any."""
    score: float
    quote: str
    """Lines ``quote_start`` to ``quote_end``, verbatim."""
    quote_start: int
    quote_end: int
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for."""

    title: str = ""
    body: str = ""
    extra: tuple[str, ...] = ()
    """What came later: the critic's gaps, redirects, the reporter's answers."""
    limit: int = 20
    """How many files and how many locations at the most."""
    ignore: tuple[str, ...] = ()
    """Path globs that a maintainer excluded."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was found, best first."""

    commit: str
    """The full SHA that was read."""
    files: tuple[FileHit, ...] = ()
    locations: tuple[Location, ...] = ()
    confidence: float = 0.0
    """Calibrated probability that the first file is one that the fix changes."""
    seconds: dict[str, float] = field(default_factory=dict, compare=False)
    """Wall time by phase; never part of what is compared."""
    leads: tuple[Location, ...] = ()
    """The best place of each of the first five files, in the order of the files."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file, verbatim."""

    path: str
    start_line: int
    """1-based."""
    end_line: int
    """1-based, inclusive."""
    quote: str
    symbol: str | None = None
    """The innermost definition that the first line is in."""
    ends: int = 0
    """The last line of what was to be quoted, which may be longer than a quote; 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """The answer to a question about a commit: the first passages, in an order that is always the same."""

    passages: tuple[Passage, ...] = ()
    total: int = 0
    """How many there are; where lines were asked for, how many the file has."""
