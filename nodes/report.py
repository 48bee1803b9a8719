"""The result of a run: its claims, the reasons, and the program's checks."""

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, StringConstraints, field_validator

from nodes.messages import Kept, Message, Part
from nodes.search.facts import Fact
from nodes.search.facts import Kind as FactKind

Kind = Literal["bug", "feature", "question", "docs", "spam", "security"]
Severity = Literal["high", "medium", "low", "unknown"]
"""The severity. Only a person may assign the top level, critical (SPEC section 2)."""
NotFoundReason = Literal[
    "no_candidates",
    "only_weak_candidates",
    "several_equal_candidates",
    "claims_failed_checking",
    "not_a_bug_report",
    "text_too_short",
    "code_not_readable",
    "not_searched",
    "search_and_model_disagree",
]
Statement = Literal["claim", "facts", "first_place", "ranked", "nothing"]
"""The extent of a report's statement about the code (SPEC section 5a): it claims one file; it lists facts and claims no
file; it names the first place of a confident search; it has only a folded list; it names no place."""
ChangeBasis = Literal["named", "versions", "dates", "affected", "recent"]
"""The basis of a candidate change: the issue names it, gives versions or dates, gives only the affected version, or
gives no hint."""

Text = Annotated[str, StringConstraints(max_length=1_200)]
DISAGREE = "The search and the model disagree"
"""The first words of the doubt that names the first file of the search and that of the model."""
_KINDS = get_args(FactKind)
Line = Annotated[str, StringConstraints(max_length=300), Kept]


class Suspect(Part):
    """A place that was read again at its commit and matches the quote."""

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
    """The short number of its evidence in this report, such as E3; empty if only the ranking named the place."""
    quote: Annotated[str, StringConstraints(max_length=1_000)] = ""
    """Lines quote_start to quote_end, verbatim."""
    quote_start: int = 0
    quote_end: int = 0
    checked: bool = False
    """Set only by the program: the quote is at these lines of this commit."""
    named_by_reporter: bool = False
    """Set only by the program: the issue itself names this file or symbol, so the search only confirms it."""
    pointed: bool = False
    """Set only by the program: a maintainer pointed at this place."""
    facts: tuple[int, ...] = ()
    """Indexes of the report's facts about this file."""


class SuspectChange(Part):
    """A change to the reported places, with the basis on which it was selected."""

    sha: str
    title: Line
    """The first line of the commit message."""
    why: Line = ""
    within: Line = ""
    """The limit of the search for this change: the range that the issue gives, or how the issue names the change."""
    basis: ChangeBasis = "recent"
    author: Line = ""
    """A name or login, never an email address."""
    day: str = ""
    """The commit date, such as 2024-01-31 (UTC)."""
    touches_place: bool = False
    """Whether it changed the lines of a reported place, as opposed to only the file."""
    evidence: str = ""
    """The short number of its evidence in this report."""
    checked: bool = False
    """Set only by the program: the commit is in the history that was read, and its message starts with this title."""


class RelatedIssue(Part):
    """Another issue about the same failure, or a similar one."""

    reference: str
    relation: Literal["duplicate", "related", "fixed_by"]
    state: Literal["open", "closed"] | None = None
    """The state of the other issue when it was read; None for a change."""
    why: Line = ""
    title: Line = ""
    """The title of the other issue."""
    evidence: str = ""
    """The short number of its evidence in this report."""
    checked: bool = False
    """Set only by the program: the issue was read again, it exists, and it supports the given reason."""


class RelatedChange(Part):
    """A pull request or a commit about the issue or its places."""

    reference: str
    """The pull request's number with ``#``, or a full SHA."""
    state: Literal["open", "merged"]
    title: Line = ""
    why: Line = ""
    """What relates it to the issue."""


class OutsideSource(Part):
    """A result from outside the repository that seems to describe the same failure. Its content is not verified."""

    title: Line = ""
    address: Line = ""
    """The URL of a page, or ``mcp:<tool>/<id>``."""
    found_by: Line = ""
    """The provider or tool that found it."""
    evidence: str = ""
    """The short number of its evidence in this report."""


class Citation(Part):
    """The place of evidence that a sentence of the report cites."""

    evidence: str
    """Its short number."""
    path: str = ""
    """Its file; empty if it is not code of this commit."""
    start_line: int = 0
    end_line: int = 0
    """The quoted lines, 1-based and inclusive."""
    change: str = ""
    """The SHA of a commit."""


class Ticket(Part):
    """A draft for a tracker."""

    title: Line = ""
    body: Annotated[str, StringConstraints(max_length=3_000)] = ""
    fields: dict[str, str] = Field(default_factory=dict)
    """Tracker fields such as type, severity and component."""


class CitationAudit(Part):
    """The result of the citation engine (SPEC section 6)."""

    citations: int = 0
    fabricated: tuple[str, ...] = ()
    """Citations of evidence that was not gathered."""
    failed: tuple[str, ...] = ()
    """Evidence whose lines no longer match the quote."""
    uncited_claims: int = 0
    dropped: tuple[Line, ...] = ()
    """Claims that were removed, each with the reason."""


class Evaluation(Part):
    """The scorecard of a draft, 0..1 each (SPEC section 6)."""

    faithfulness: float = 0.0
    relevance: float = 0.0
    completeness: float = 0.0
    reasoning_quality: float = 0.0
    overall_score: float = 0.0


class TriageReport(Part):
    """The report that every run ends with."""

    status: Literal["success", "needs_clarification"] = "success"
    verdict: Line = ""
    """One sentence that suffices for a maintainer who reads no further."""
    kind: Kind = "bug"
    severity: Severity = "unknown"
    severity_reason: Line = ""
    affected_versions: tuple[Line, ...] = ()
    """Versions that the issue names, each with the product it belongs to, as written in the issue."""
    platforms: tuple[Line, ...] = ()
    """Operating systems, browsers and runtimes that the issue names."""
    root_cause: Text | None = None
    """The hypothesis, with a citation in each sentence; None if no cause is claimed. For a feature request, the place
    where its change probably belongs."""
    unconfirmed: Text = Field(default="", exclude_if=lambda value: not value)
    """The checked sentences of a model's cause that the report does not claim; not serialised if there are none."""
    unconfirmed_because: Line = Field(default="", exclude_if=lambda value: not value)
    """The reason why these sentences are not claimed; empty if `doubts` give it."""
    citations: tuple[Citation, ...] = Field(default=(), exclude_if=lambda value: not value)
    """The places of the evidence that a model's cause cites; not serialised if there are none."""
    not_found: NotFoundReason | None = None
    """The reason why no cause is claimed."""
    tried: tuple[Line, ...] = ()
    """The completed searches and comparisons, for a reader who continues by hand."""
    statement: Statement = "nothing"
    facts: tuple[Fact, ...] = ()
    """Checked relations between words of the issue and lines of the repository, most important first."""
    headline: int | None = None
    """The index of the fact that leads the comment."""
    attached: tuple[Line, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Names of attached files that the words of the facts are from; not serialised if there are none."""
    suspects: tuple[Suspect, ...] = ()
    """By rules at most one per file, in the order of the search; a model may name several places of one file."""
    suspect_changes: tuple[SuspectChange, ...] = ()
    """Best first; neither bisected nor confirmed by running code."""
    recent_changes: tuple[SuspectChange, ...] = ()
    """The latest changes to the reported places, if no change is suspected."""
    no_suspect_change: Line = ""
    """The reason why no change is suspected."""
    related: tuple[RelatedIssue, ...] = ()
    changes: tuple[RelatedChange, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Pull requests and commits that name the issue or change its places; not serialised if there are none."""
    outside: tuple[OutsideSource, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Related sources, never the basis of a claim; not serialised if no outside source was queried."""
    missing: tuple[Line, ...] = ()
    """Information that would help and is not in the issue."""
    ruled_out: tuple[Line, ...] = ()
    how_to_confirm: Text = ""
    labels: tuple[str, ...] = ()
    owner: str | None = None
    """A person or team who knows the code: a login, team or name."""
    owner_reason: Line = ""
    fingerprints: tuple[str, ...] = ()
    """Fingerprints of the crashes in the issue: equal for the same crash, independent of version and machine."""
    confidence: float = Field(default=0.0, ge=0, le=1)
    """The program's calibrated confidence after the citation penalty; a model can only lower it."""
    support: float | None = Field(default=None, ge=0, le=1, exclude_if=lambda value: value is None)
    """How far search and model together support the first place, after the same penalty: what a claim needs, instead of
    the confidence, if a model read the code. Not serialised if none did.
    """
    requires_human_review: bool = False
    review_message: Line = ""
    """What happened and what to do; shown to maintainers."""
    written_by: str = "rules"
    """The brain that wrote the report: a model's name or ``rules``."""
    doubts: tuple[Line, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Objections to the first place: the search prefers another file, or the critic misses something. Not serialised if
    there are none.
    """
    notes: tuple[Line, ...] = ()
    """Fallbacks during the run, each with its reason."""
    repository: str = ""
    commit: str = ""
    citation_audit: CitationAudit = CitationAudit()
    evaluation: Evaluation = Evaluation()
    github_comment: str = ""
    """Markdown of the single comment: as it was posted, otherwise the draft."""
    language: str = Field(default="en", exclude_if=lambda value: value == "en")
    """The language of the comment's fixed sentences, such as ``de``; not serialised if it is English."""
    ticket: Ticket = Ticket()
    messages: dict[str, Message] = Field(default_factory=dict, exclude_if=lambda value: not value)
    """The texts and values of sentences above, by the sentence, for other languages; not serialised if there are none.
    """

    @field_validator("facts", mode="before")
    @classmethod
    def _of_known_kinds(cls, facts: Any) -> Any:
        """Read a fact of a kind that no longer exists, which only reports stored by earlier versions have."""

        def read(fact: Any) -> Any:
            is_known = not isinstance(fact, dict) or fact.get("kind") in _KINDS
            return fact if is_known else {**fact, "kind": "defined_once"}

        return list(map(read, facts)) if isinstance(facts, list | tuple) else facts

    @property
    def lead(self) -> Fact | None:
        """The fact that leads the comment."""
        return None if self.headline is None else self.facts[self.headline]

    @property
    def claim_strength(self) -> float:
        """The number that is compared with the minimum for a claim."""
        return self.confidence if self.support is None else self.support

    @property
    def is_explained(self) -> bool:
        """Whether a model explains the fault in checked sentences, claimed or not."""
        return bool(self.citations) and bool(self.root_cause or self.unconfirmed)

    @property
    def is_in_models_order(self) -> bool:
        """Whether a model that disagrees with the search ordered the places."""
        return any(doubt.startswith(DISAGREE) for doubt in self.doubts)
