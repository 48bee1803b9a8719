"""What the history says of a place: the changes that may have broken it, and who knows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nodes.search.fingerprint import Fingerprint
    from nodes.search.types import Reason

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
"""Why no change is suspected."""
Basis = Literal["named", "versions", "dates", "affected", "recent"]
"""What makes a change a candidate, from the strongest to the weakest: the issue names the commit; it gives versions,
or days, between which it broke; it gives the version it happens with; it gives nothing, the change is merely recent."""
HERE = "the commit read"
"""Where a range ends that nothing else ends."""


@dataclass(frozen=True, slots=True)
class Range:
    """Commits after ``start`` up to ``end``, both of the history that is read."""

    start: str | None
    """None is the beginning of history."""
    end: str
    words: str
    """As the issue says it: ``2.3.2 → 2.4.1``."""
    basis: Basis


@dataclass(frozen=True, slots=True)
class NoRange:
    """Why there is no range."""

    doubt: Doubt
    said: str
    end: str | None = None
    """The commit of the version that it happens with: what came after it is not at fault."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place whose history is asked for."""

    path: str
    start_line: int
    """1-based: the whole definition."""
    end_line: int
    """1-based, inclusive."""
    focus: tuple[int, int]
    """The lines inside it that speak loudest, inclusive."""
    symbol: str | None = None
    weight: float = 1.0
    """How strongly it is suspected, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A change, as its message and its tree tell it; no e-mail address leaves this room."""

    sha: str
    author: str
    """A name, or the login of a GitHub noreply address."""
    authored: int
    """Seconds since 1970."""
    committed: int
    subject: str
    body: str = ""
    is_bot: bool = False
    files: tuple[str, ...] = ()
    """Paths it changes; empty where they were not asked for."""
    renamed: tuple[str, ...] = ()
    """Paths it only moved."""


@dataclass(frozen=True, slots=True)
class SuspectCommit:
    """A change that may have brought the fault in."""

    commit: Commit
    score: float
    basis: Basis
    reasons: tuple[Reason, ...]
    """Their contributions add up to the score."""
    touches: tuple[str, ...] = ()
    """The places whose lines it changed, in words."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The suspect changes, or why there are none."""

    changes: tuple[SuspectCommit, ...] = ()
    """Best first: named by the issue, or in the range that it gives."""
    recent: tuple[SuspectCommit, ...] = ()
    """Where none is suspected: the latest changes of these lines, which is all that is known of them."""
    span: str = ""
    """The range in words: ``2.3.2 → 2.4.1``."""
    commits: int = 0
    """How many commits are in it."""
    doubt: Doubt | None = None
    """Why none is suspected."""
    said: str = ""
    """The doubt in half a sentence, with what it is about."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Someone who knows the code."""

    name: str
    """A login or team with ``@`` from CODEOWNERS, else a name or login from the history."""
    score: float
    reasons: tuple[Reason, ...]
    """Their contributions add up to the score."""


@dataclass(frozen=True, slots=True)
class History:
    """What the history says of some places of one commit."""

    suspicion: Suspicion = field(default_factory=Suspicion)
    owners: tuple[Owner, ...] = ()
    """Best first."""
    fingerprints: tuple[Fingerprint, ...] = ()
    """One for each stack trace of the issue."""
