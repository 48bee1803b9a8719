"""The result of a run: its claims, the reasons, and the program's checks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from nodes.search.facts import Fact

Kind = Literal["bug", "feature", "question", "docs", "spam", "security"]
Severity = Literal["high", "medium", "low", "unknown"]
"""Only a person may assign the top level, critical (SPEC section 2)."""
NotFoundReason = Literal[
    "no_candidates",
    "only_weak_candidates",
    "several_equal_candidates",
    "claims_failed_checking",
    "not_a_bug_report",
    "text_too_short",
    "code_not_readable",
]
Statement = Literal["claim", "facts", "first_place", "ranked", "nothing"]
"""How much a report states about the code (SPEC section 5a): it claims one file; it lists facts and claims no file;
it names the first place of a confident search; it has only a folded list; it names no place."""
ChangeBasis = Literal["named", "versions", "dates", "affected", "recent"]
"""Why a change is a candidate: the issue names it, gives versions or dates, gives only the affected version, or gives
no hint."""
Line = Annotated[str, StringConstraints(max_length=300)]
Text = Annotated[str, StringConstraints(max_length=1_200)]


class Part(BaseModel):
    """A frozen piece of a report, described by its fields' docstrings."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class Suspect(Part):
    """A place that was re-read at its commit and found to say what is quoted."""

    path: str
    start_line: int
    """1-based."""
    end_line: int
    """1-based, inclusive."""
    symbol: str | None = None
    """Dotted name inside the file."""
    score: float = Field(default=0.0, ge=0, le=1)
    why: Line = ""
    evidence: str = ""
    """Its short number in this report, such as E3; empty where only the ranking named the place."""
    quote: Annotated[str, StringConstraints(max_length=1_000)] = ""
    """Lines quote_start to quote_end, verbatim."""
    quote_start: int = 0
    quote_end: int = 0
    checked: bool = False
    """Set by the program alone: the quote stands at these lines of this commit."""
    named_by_reporter: bool = False
    """Set by the program alone: the issue names this file or symbol itself, so that reading it only confirms."""
    pointed: bool = False
    """Set by the program alone: a maintainer said to look here."""
    facts: tuple[int, ...] = ()
    """Indexes into the report's facts: those about this file."""


class SuspectChange(Part):
    """A change of the places named, and whether more speaks against it than that it is recent."""

    sha: str
    title: Line
    """The first line of its message."""
    why: Line = ""
    within: Line = ""
    """What bounds it: the range that the issue gives, or how the issue names it."""
    basis: ChangeBasis = "recent"
    author: Line = ""
    """A name or login, never an address."""
    day: str = ""
    """When it was committed, as 2024-01-31 (UTC)."""
    touches_place: bool = False
    """Whether it changed the lines of a place named, and not only the file."""
    evidence: str = ""
    """Its short number in this report."""
    checked: bool = False
    """Set by the program alone: the commit is in the history that was read and its message begins so."""


class RelatedIssue(Part):
    """Another issue about the same failure, or a close one."""

    reference: str
    relation: Literal["duplicate", "related", "fixed_by"]
    state: Literal["open", "closed"] | None = None
    """Of the other issue, as it was when it was read; None for a change."""
    why: Line = ""
    title: Line = ""
    """Of the other issue."""
    evidence: str = ""
    """Its short number in this report."""
    checked: bool = False
    """Set by the program alone: it was read again, it exists, and it says what the reason says."""


class OutsideSource(Part):
    """What was found outside the repository and seems to speak of the same failure. Nobody checked that it is true."""

    title: Line = ""
    address: Line = ""
    """Of a page, or ``mcp:<tool>/<id>``."""
    found_by: Line = ""
    """The provider or tool."""
    evidence: str = ""
    """Its short number in this report."""


class Ticket(Part):
    """A draft for a tracker."""

    title: Line = ""
    body: Annotated[str, StringConstraints(max_length=3_000)] = ""
    fields: dict[str, str] = Field(default_factory=dict)
    """Tracker fields such as type, priority and component."""


class CitationAudit(Part):
    """What the citation engine found (SPEC section 6)."""

    citations: int = 0
    fabricated: tuple[str, ...] = ()
    """Citations of evidence that nobody gathered."""
    failed: tuple[str, ...] = ()
    """Evidence whose lines no longer read as quoted."""
    uncited_claims: int = 0
    dropped: tuple[Line, ...] = ()
    """Claims that were taken out, each with its reason."""


class Evaluation(Part):
    """The scorecard of a draft, 0..1 each (SPEC section 6)."""

    faithfulness: float = 0.0
    relevance: float = 0.0
    completeness: float = 0.0
    reasoning_quality: float = 0.0
    overall_score: float = 0.0


class TriageReport(Part):
    """What a run ends with, always."""

    status: Literal["success", "needs_clarification"] = "success"
    verdict: Line = ""
    """One sentence a maintainer can stop after."""
    kind: Kind = "bug"
    severity: Severity = "unknown"
    severity_reason: Line = ""
    affected_versions: tuple[Line, ...] = ()
    """Versions that the issue names, each with what it is the version of, as written there."""
    platforms: tuple[Line, ...] = ()
    """Systems, browsers and runtimes that the issue names."""
    root_cause: Text | None = None
    """The hypothesis, each sentence citing evidence; None where no cause is claimed."""
    not_found: NotFoundReason | None = None
    """Why no cause is claimed."""
    tried: tuple[Line, ...] = ()
    """What was looked at, for a reader who must go on by hand."""
    statement: Statement = "nothing"
    facts: tuple[Fact, ...] = ()
    """Checked relations between words of the issue and lines of the repository, leading one first."""
    headline: int | None = None
    """The index of the fact that leads the comment."""
    suspects: tuple[Suspect, ...] = ()
    """At most one for each file, in the order of the search."""
    suspect_changes: tuple[SuspectChange, ...] = ()
    """Best first. Nothing was bisected: nothing was run."""
    recent_changes: tuple[SuspectChange, ...] = ()
    """Where no change is suspected: the latest ones of the places named."""
    """Why no change is suspected."""
    """Why no change is suspected."""
    related: tuple[RelatedIssue, ...] = ()
    outside: tuple[OutsideSource, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Related at most, never the ground of a claim; left out of what is written where nothing outside was asked."""
    missing: tuple[Line, ...] = ()
    """A place that was read again at its commit and matches the quote."""
    ruled_out: tuple[Line, ...] = ()
    how_to_confirm: Text = ""
    labels: tuple[str, ...] = ()
    owner: str | None = None
    """Who knows the code: a login, team or name."""
    owner_reason: Line = ""
    fingerprints: tuple[str, ...] = ()
    """Of the crashes pasted in the issue: the same for the same crash, whatever the version or machine."""
    confidence: float = Field(default=0.0, ge=0, le=1)
    """The program's calibrated number after the citation penalty; a model can only lower it."""
    requires_human_review: bool = False
    """The short number of its evidence in this report, such as E3; empty if only the ranking named the place."""
    """For maintainers: what happened and what to do."""
    written_by: str = "rules"
    """The brain that wrote it: a model's name or rules."""
    notes: tuple[Line, ...] = ()
    """What fell back, and why."""
    """Set only by the program: the quote is at these lines of this commit."""
    commit: str = ""
    """Set only by the program: the issue itself names this file or symbol, so the search only confirms it."""
    evaluation: Evaluation = Evaluation()
    """Set only by the program: a maintainer pointed at this place."""
    """Markdown draft of the one comment."""
    """Indexes of the report's facts about this file."""
