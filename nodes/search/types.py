"""Input and output values of the search: plain and frozen. Numbers of lines are 1-based, and last lines inclusive."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nodes.search.facts.types import Fact

Role = Literal["source", "test", "docs", "example", "config", "generated", "vendored", "minified", "data"]
Scope = Literal["source", "all"]
"""The files whose content an index has: a ranking reads source; facts, questions and models read all text."""
ToolName = Literal["grep", "read", "function", "callers", "tree", "log"]


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a stack trace, as the reporter wrote it."""

    path: str
    """The file as written, with forward slashes; empty if the language names only a class or module."""
    line: int | None = None
    function: str | None = None
    module: str | None = None
    """The dotted class or module, if the language prints one (``com.acme.Parser``)."""


@dataclass(frozen=True, slots=True)
class StackTrace:
    """One stack trace found in prose."""

    language: str
    error: str | None
    """The exception's type or the kind of crash (``KeyError``, ``panic``, ``SEGV``)."""
    message: str | None
    frames: tuple[Frame, ...]
    """Innermost (where it was raised) first, whatever order the language prints; empty if the text has no frames."""
    start: int = 0
    end: int = 0
    """Offsets of its first character in the text, and after its last one."""
    is_aside: bool = False
    """Whether it only tells where the memory of an error was allocated or freed."""

    def overlaps(self, other: StackTrace) -> bool:
        """Return whether two traces share a part of the text."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, method, class or similar item that a file defines."""

    name: str
    """Dotted name inside the file: ``Class.method``."""
    kind: Literal["function", "method", "class", "interface", "enum", "module", "macro", "type", "constant"]
    start_line: int
    """Including decorators and annotations."""
    end_line: int


@dataclass(frozen=True, slots=True)
class Outline:
    """The definitions, imports and string literals of one file."""

    language: str
    """The grammar's name, or ``text``."""
    definitions: tuple[Definition, ...] = ()
    """Ordered by first line; an outer definition precedes those inside it."""
    imports: tuple[str, ...] = ()
    """Modules or paths as written: ``django.db.models``, ``./lexer``, ``crate::io``."""
    strings: tuple[tuple[int, str], ...] = ()
    """(line, text) of string literals with two words or more, mostly messages."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for a place's rank."""

    kind: str
    """A stable key, such as ``trace``, ``symbol``, ``path``, ``words``, ``history``, ``prior``."""
    text: str
    """One line for a person."""
    contribution: float
    """Its contribution to the score; the contributions of one place add up to its score."""


@dataclass(frozen=True, slots=True)
class FileHit:
    """A ranked file."""

    path: str
    score: float
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Location:
    """A ranked place inside a file, with the lines to quote."""

    path: str
    start_line: int
    end_line: int
    symbol: str | None
    """The definition's dotted name inside the file, or None for a place outside any definition."""
    score: float
    quote: str
    """Lines ``quote_start`` to ``quote_end``, verbatim."""
    quote_start: int
    quote_end: int
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """An issue whose place in the code is searched for."""

    title: str = ""
    body: str = ""
    extra: tuple[str, ...] = ()
    """Text that came later: the critic's gaps, redirects, the reporter's answers."""
    limit: int = 20
    """Maximum number of files, and of locations."""
    ignore: tuple[str, ...] = ()
    """Path globs that a maintainer excluded."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The result of a search, best first."""

    commit: str
    """The full SHA of the searched commit."""
    files: tuple[FileHit, ...] = ()
    locations: tuple[Location, ...] = ()
    confidence: float = 0.0
    """Calibrated probability that the first file is one that the fix changes."""
    seconds: dict[str, float] = field(default_factory=dict, compare=False)
    """Wall time in seconds by phase; excluded from comparisons."""
    leads: tuple[Location, ...] = ()
    """The best place of each of the first five files, in the order of the files."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The part of a search that a report uses."""

    leads: tuple[Location, ...] = ()
    """The best place of each of the first five files, best file first."""
    facts: tuple[Fact, ...] = ()
    """All checked facts, ordered by kind; facts about other files influence the statement but are not shown."""
    ranked: float = 0.0
    """Calibrated probability that the first file is one that the fix changes, by the ranking only."""
    confidence: float = 0.0
    """The same probability with the strong facts about files included."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the first files, in order."""
        return tuple(lead.path for lead in self.leads)


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file, verbatim."""

    path: str
    start_line: int
    end_line: int
    quote: str
    symbol: str | None = None
    """The innermost definition around the first line."""
    ends: int = 0
    """The last line that was requested, which may be beyond the quote; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """The answer to a query about a commit: the first passages, in a deterministic order."""

    passages: tuple[Passage, ...] = ()
    total: int = 0
    """Total number of matches; for a query of lines, the file's number of lines."""

    def span(self, path: str, line: int) -> tuple[int, int] | None:
        """Return the first and last line of the definition in a file that contains a line."""
        spans = ((hit.start_line, max(hit.ends, hit.end_line)) for hit in self.passages if hit.path == path)
        return next((span for span in spans if span[0] <= line <= span[1]), None)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A query of a commit by a reader that is not trusted: any text and any number may be in it."""

    tool: ToolName
    what: str = ""
    """grep: a regular expression; function and callers: a name; log: a string whose changes are
    wanted, a commit, or nothing."""
    path: str = ""
    """A file or a folder; empty for the whole commit."""
    start_line: int = 0
    end_line: int = 0


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer to a tool call."""

    note: str
    """One line: how much was found, and what is not shown."""
    passages: tuple[Passage, ...] = ()
    """Those of one file follow each other."""
    changes: tuple[tuple[str, str, str], ...] = ()
    """Commits: full SHA, date and first line of the message, newest first."""
    names: tuple[str, ...] = ()
    """Names in a folder, or paths."""
    diff: str = ""
    """What the commit changed in a file."""


@dataclass(frozen=True, slots=True)
class PlaceSketch:
    """A place, summarised in a few lines."""

    location: Location
    signature: str
    """The first line of its definition; empty outside any."""
    matches: tuple[tuple[int, str], ...] = ()
    """(line, text) of the lines that share most with the query, without indentation."""


@dataclass(frozen=True, slots=True)
class FileSketch:
    """A file, summarised in a few lines for a reader who chooses among many."""

    path: str
    places: tuple[PlaceSketch, ...] = ()
    """Best first."""
