"""The types of history results: suspect changes, owners, and the places themselves. Times are in seconds since 1970."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from packaging.version import Version

from nodes.search.history.versions import parse_version
from nodes.search.index.index import Index
from nodes.search.issue.fingerprint import Fingerprint
from nodes.search.paths.roles import role_of
from nodes.search.types import Location, Reason

MarkKind = Literal["day", "version", "number", "sha"]
Doubt = Literal[
    "no_version",
    "another_project",
    "no_tags",
    "no_such_release",
    "contradictory",
    "empty_range",
    "untouched",
    "shallow",
    "unreadable",
    "no_places",
]
"""The reason why no change is suspected."""
Basis = Literal["named", "versions", "dates", "affected", "recent"]
"""The basis of a candidate change, from strongest to weakest: the issue names the commit; it gives versions, or dates,
between which the code broke; it gives only the affected version; it gives nothing, and the change is recent."""
_BODY = 4_000
"""Maximum number of characters of a message that are read below its first line."""
_NOT_AT_FAULT = frozenset({"test", "docs", "example", "vendored", "minified"})


@dataclass(frozen=True, slots=True)
class Mark:
    """A version, a day, a SHA or a number in a sentence."""

    kind: MarkKind
    text: str
    """Without surrounding characters; a day as ``2024-01-31``, a month as ``2024-01``."""
    start: int
    end: int
    """The end of the whole file name, if the version is part of the name of a program's file."""
    name: str
    """The word before it, which may name the product of a version; empty for a function word."""
    certain: bool
    """Whether that word must be a name."""

    @property
    def product(self) -> str:
        """The name of another product; empty if the version may be the project's."""
        # Days are compared with each other only.
        return "day" if self.kind == "day" else self.name.lower() if self.certain else ""

    @property
    def is_named(self) -> bool:
        """Whether a word before a version names a product."""
        return self.kind == "version" and self.name != ""

    @property
    def version(self) -> Version | None:
        """The version, or a day as a version; None if it is not one."""
        return parse_version(self.text.replace("-", ".") if self.kind == "day" else self.text)


@dataclass(frozen=True, slots=True)
class Range:
    """Commits after ``start`` up to ``end``, both part of the history."""

    start: str | None
    """None means the beginning of history."""
    end: str
    words: str
    """The range as the issue gives it: ``2.3.2 → 2.4.1``."""
    basis: Basis


@dataclass(frozen=True, slots=True)
class NoRange:
    """The reason why there is no range."""

    doubt: Doubt
    explanation: str
    end: str | None = None
    """The commit of the affected version; later commits cannot be the cause."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place whose history is requested."""

    path: str
    start_line: int
    end_line: int
    """1-based and inclusive; the place covers the whole definition."""
    focus: tuple[int, int]
    """The most suspicious lines inside the place, inclusive."""
    symbol: str | None = None
    weight: float = 1.0
    """The degree of suspicion, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Touched:
    """The commits that changed one place."""

    spot: Spot
    lines: dict[int, str]
    """Maps a 1-based line to the SHA that wrote it; older lines are absent."""
    changed: frozenset[str] | None
    """Commits that ever changed the lines of the places in this file; None if not requested or unreadable."""
    paths: tuple[str, ...]
    """The file's names over time, the current name first."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A change, with data from its message and tree; it contains no email address."""

    sha: str
    author: str
    """A name, or the login of a GitHub noreply address."""
    committed: int
    message: str
    is_bot: bool = False
    parents: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Paths that the commit changes; empty if they were not requested."""
    renamed: tuple[str, ...] = ()
    """Paths that the commit moves without a change of content."""

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.strip("\n").partition("\n")[0][:300]

    @property
    def body(self) -> str:
        """The beginning of the rest of the message."""
        return self.message.strip("\n").partition("\n")[2].strip()[:_BODY]


@dataclass(frozen=True, slots=True)
class SuspectCommit:
    """A change that may have introduced the fault."""

    commit: Commit
    score: float
    basis: Basis
    reasons: tuple[Reason, ...]
    """The contributions of the reasons add up to the score."""
    touches: tuple[str, ...] = ()
    """The places whose lines it changed, as text."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The suspect changes, or why there are none."""

    changes: tuple[SuspectCommit, ...] = ()
    """Best first: named by the issue, or in the range that it gives."""
    recent: tuple[SuspectCommit, ...] = ()
    """If no change is suspected: the latest changes of these lines, which are the only known ones."""
    span: str = ""
    """The range as text: ``2.3.2 → 2.4.1``."""
    commits: int = 0
    """The number of commits in the range."""
    doubt: Doubt | None = None
    """The reason why no change is suspected."""
    explanation: str = ""
    """The doubt as half a sentence with its details."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Someone who knows the code."""

    name: str
    """A login or team with ``@`` from CODEOWNERS, else a name or login from the history."""
    score: float
    reasons: tuple[Reason, ...]
    """The contributions of the reasons add up to the score."""


@dataclass(frozen=True, slots=True)
class History:
    """The information in the history about some places of one commit."""

    suspicion: Suspicion = field(default_factory=Suspicion)
    owners: tuple[Owner, ...] = ()
    """Best first."""
    fingerprints: tuple[Fingerprint, ...] = ()
    """One per stack trace of the issue."""


def spots_of(locations: Sequence[Location]) -> list[Spot]:
    """Convert ranked places, weighted by score relative to the first; tests count only if there is nothing else."""
    # A change of a test or a document does not introduce a fault.
    locations = [place for place in locations if role_of(place.path) not in _NOT_AT_FAULT] or locations
    best = max((place.score for place in locations), default=0.0)
    return [
        Spot(
            place.path,
            place.start_line,
            place.end_line,
            focus=(place.quote_start, place.quote_end),
            symbol=place.symbol,
            weight=max(0.0, place.score / best) if best > 0 else 0.0,
        )
        for place in locations
    ]


def widened(index: Index, spot: Spot) -> Spot:
    """Widen a place to the innermost definition that contains all lines in focus; unchanged if there is none."""
    number = index.number_of.get(spot.path)
    row = None if number is None else index.definition_at(number, *spot.focus)
    if row is None:
        return spot
    start, end = int(index.def_start[row]), int(index.def_end[row])
    return replace(spot, start_line=start, end_line=end, symbol=index.name_of(row))
