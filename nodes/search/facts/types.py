"""A fact: one checked relation between words of an issue and a line or a change of the repository."""

import re
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "linked_here",
    "named_change",
    "introduced_in",
    "raised_here",
    "named_here",
    "pasted_here",
    "quoted_here",
    "defined_once",
    "built_here",
    "read_here",
    "default_here",
    "guarded_by",
    "called_from",
    "used_here",
    "tested_here",
    "changed_in",
    "older_release",
    "documented_here",
    "absent",
]
# What a line does tells a reader more than where a name is defined, which the reporter often knows.
LEADING: tuple[Kind, ...] = (
    "raised_here",
    "built_here",
    "linked_here",
    "quoted_here",
    "read_here",
    "introduced_in",
    "named_change",
    "pasted_here",
    "absent",
    "used_here",
    "defined_once",
    "named_here",
)
"""Kinds that may lead a report, in order of precedence."""
NAMED_BY_REPORT: frozenset[Kind] = frozenset({"raised_here", "linked_here", "named_here", "pasted_here"})
"""Kinds about a place that the report names itself; with a line, they are stated whatever the ranking says."""
NOT_RANKED: frozenset[Kind] = frozenset({"named_change", "introduced_in", "changed_in", "absent"})
"""Kinds about a change, or about what no file has; if strong or chosen, they are stated whatever the ranking says."""
OTHER_ROLES: frozenset[Kind] = frozenset({"tested_here", "documented_here"})
"""Kinds about tests and pages, which are not ranked as source files."""
OF_CHANGES: frozenset[Kind] = frozenset({"named_change", "introduced_in", "changed_in"})
"""Kinds that are about a commit; they name a file of the change and rarely a line."""

ANYWHERE: frozenset[Kind] = OTHER_ROLES | {"older_release"}
"""Kinds that apply whatever files are ranked."""

_TYPE = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|sealed|data|annotation|typedef|pub(?:\([a-z]+\))?)\s+)*"
    r"(?:class|struct|@?interface|trait|enum|type|object|record|union|protocol|module)\b"
    r"|\s*(?:(?:export|const|let|var)\s+)*[A-Z][a-z]\w*\s*=\s*function\b|\s*(?:export\s+)?function\s+[A-Z][a-z]"
)
"""A line that declares a type, or a JavaScript function that is named like a type."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One relation that a check confirmed."""

    kind: Kind
    says: str
    """One plain sentence that is true of the commit and of the issue."""
    words: str | None = None
    """Words of the issue, verbatim except for white space; None for a fact that is derived from another."""
    path: str | None = None
    line: int | None = None
    """The line number, 1-based."""
    text: str | None = None
    """That line verbatim, without its line ending."""
    symbol: str | None = None
    """The definition that contains the line; for ``called_from``, the name that the line calls."""
    sha: str | None = None
    """The commit at which the line is read, if it differs from the run's commit."""
    change: str | None = None
    """Full SHA of the change that the fact is about."""
    count: int | None = None
    """Number of such places in the repository's own code."""
    strong: bool = False
    """Whether the fact may lead: its kind and all checks of its kind allow it."""
    users: int | None = None
    """Number of the repository's own files that contain the name."""
    exact: bool | None = None
    """Whether the text of the frame or of the linked line exists at this commit."""
    in_title: bool = False
    """Whether the title of the report contains the name."""
    refuses: bool = False
    """Whether the line belongs to a statement that raises deliberately; the fault is often in the caller then."""
    by_library: bool = False
    """Whether a library that the line called raised the error; the value that it got often comes from elsewhere."""
    several: bool = False
    """Whether it is weak only because other places have the same words, so that the report may choose it."""
    chosen: bool = False
    """Whether the report names the function, class or file of this place and not of the others; then it is stated."""
    unclaimed: bool = False
    """Whether the fact is stated and never supports a claim: its line shows a fault that other code causes."""
    follows: tuple[str, int] | None = None
    """Path and line of the fact that this one explains."""

    @property
    def at(self) -> tuple[str, int]:
        """Path and line, for a fact that follows."""
        return self.path or "", self.line or 0

    @property
    def is_echo(self) -> bool:
        """Whether the fact only gives the file of a type or of a file's name that the title has."""
        is_type = self.kind == "defined_once" and declares_type(self.text or "")
        return self.in_title and (is_type or (self.kind == "named_here" and not self.symbol))

    @property
    def is_option(self) -> bool:
        """Whether the line is the only one that reads an option which the report writes with its dashes."""
        return self.kind == "read_here" and self.strong and (self.words or "").startswith("--")

    @property
    def is_repeated(self) -> bool:
        """Whether the project's own code has the words on several lines, of which the report names none."""
        is_of_words = self.kind in ("quoted_here", "read_here") and self.users is None and not self.chosen
        return is_of_words and (self.count or 0) > 1

    @property
    def is_named_line(self) -> bool:
        """Whether the report itself names the line: by a stack frame, a link, a path, its code or its text."""
        is_text = self.kind == "quoted_here" and self.says.startswith("The text “")
        is_text = is_text and (self.strong or self.chosen)
        is_beyond = self.says.endswith(" lines at this commit.")  # the file has no such line
        return (self.kind in NAMED_BY_REPORT or is_text) and not self.in_title and (self.line is not None or is_beyond)


@dataclass(frozen=True, slots=True)
class Hit:
    """A line of a file that a search found."""

    path: str
    line: int
    text: str
    symbol: str | None = None
    """The definition that contains the line, if it is known."""

    @property
    def place(self) -> str:
        """The definition that contains the line, else the file."""
        return self.symbol or self.path

    def fact(self, kind: Kind, says: str, words: str | None, **more: Any) -> Fact:
        """Return a fact about the line."""
        text = self.text.removesuffix("\r")
        return Fact(kind, says, words, self.path, self.line, text, self.symbol, **more)

    def fact_of_few(self, kind: Kind, says: str, words: str, count: int, *, one: bool = True) -> Fact:
        """Return a fact about the line that supports no claim; it is strong if its place is the only one."""
        return self.fact(kind, says, words, count=count, strong=one, several=not one, unclaimed=True)


def declares_type(line: str) -> bool:
    """Return whether a line declares a type."""
    return _TYPE.match(line) is not None
