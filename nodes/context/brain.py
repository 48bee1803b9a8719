"""The brain: its input, its judgements, and the code that it may read."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Protocol, Self, TypeVar

from nodes.evidence import Evidence, NumberedEvidence
from nodes.issue.facts import IssueFacts
from nodes.judgements import Audit, CodeReading, Draft, Investigation, SupervisorDecision, WebReading
from nodes.search.issue.forms import IssueForm
from nodes.search.types import FileSketch, Passage, PlaceSketch, ToolCall
from nodes.sources.protocol import SourceInfo
from nodes.state import BugTriageState, Usage

J = TypeVar("J")
K = TypeVar("K")
COMPRESS_FROM = 6_000
"""Number of characters from which an issue's text is shortened in the middle for a model."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Lines of one file, one commit, or an answer without lines, under one number."""

    path: str = ""
    lines: frozenset[int] = frozenset()
    first: int = 0
    """The line that the number alone cites."""
    read: bool = False
    """Whether a call of the model showed these lines; otherwise the search listed them."""
    commit: tuple[str, str] | None = None
    """SHA and first line of the message."""
    lookup: Evidence | None = None
    """What was asked, and that it has no matches, or which names a folder has."""


class ToolPort(Protocol):
    """The code of one commit for a brain; a port, because brains import no agents. Only what is shown is citable."""

    @property
    def shown(self) -> dict[str, Shown]:
        """What was shown, by its number; an earlier conversation of the run is continued by adding what it showed."""

    @property
    def paths(self) -> frozenset[str]:
        """The files of which lines were shown."""

    @property
    def shortened(self) -> Sequence[str]:
        """Citations of which only the first lines count, each as a sentence."""

    def list_files(self, cards: "Sequence[FileCard]") -> str:
        """Show the first files of the search: their facts, and the lines of each that match the issue."""

    def quote(self, evidence: Sequence[NumberedEvidence], tokens: int) -> str:
        """Show lines that were gathered before, in at most about this many tokens."""

    async def use(self, call: ToolCall, tokens: int) -> str:
        """Answer a call in at most about this many tokens."""

    async def cite(self, reference: str) -> NumberedEvidence | None:
        """Return the lines that a reference such as ``E7:41-43`` names as evidence; None if they were not shown."""

    def was_read(self, evidence: Evidence) -> bool:
        """Return whether the model asked for lines of this evidence; that the search listed them is not enough."""

    def show(self, place: PlaceSketch) -> NumberedEvidence | None:
        """Turn a place of a sketch into evidence; None if its lines cannot be quoted."""

    async def ranked(self, limit: int) -> tuple[str, ...]:
        """Return the paths of the search's first files."""

    async def sketched(self, names: Sequence[str]) -> tuple[FileSketch, ...]:
        """Return sketches of the files that paths and names of definitions identify; unknown ones are left out."""


@dataclass(frozen=True, slots=True)
class FileCard:
    """A sketch of a file that a model may choose."""

    sketch: FileSketch
    facts: tuple[str, ...] = ()
    """Checked relations between words of the issue and lines of this file, as sentences."""


@dataclass(frozen=True, slots=True)
class Case:
    """The input of a brain: the state, the issue's facts, and the numbered evidence."""

    state: BugTriageState
    title: str
    body: str
    facts: IssueFacts
    evidence: tuple[NumberedEvidence, ...] = ()
    search_confidence: float = 0.0
    """The engine's calibrated probability that its first file is right."""
    files: tuple[FileCard, ...] = ()
    """The first files of the search for a model to choose from, in the order of the search."""
    tools: ToolPort | None = None
    """The code to read; None if the brain may read none."""
    looked_up: tuple[NumberedEvidence, ...] | None = None
    """What was found for an objection to the last reading of the code; None if there is no objection."""
    bodies: Mapping[str, Passage] = field(default_factory=dict)
    """The code around places by the id of their evidence, for a critic."""
    language: str = "en"
    """The language in which a model writes."""
    forms: tuple[IssueForm, ...] = ()
    sources: tuple[SourceInfo, ...] = ()
    """The outside sources that may be queried at this point of the run."""
    compress_from: int = COMPRESS_FROM
    """Characters of the body above which a model gets it without its middle."""


@dataclass(frozen=True, slots=True)
class Judged(Generic[J]):
    """A judgement, who made it, and what it cost."""

    value: J
    judged_by: str = "rules"
    usage: Usage = field(default_factory=Usage)
    fallback: str | None = None
    """The reason why the model did not judge, although it should have."""
    dropped: int = 0
    """The number of parts of the answer that were removed because they cite unknown evidence."""
    compressed: bool = False
    """Whether the model got the issue without some of its parts."""
    remarks: tuple[str, ...] = ()
    """About the model that judged, for the report."""

    def of(self, value: K) -> "Judged[K]":
        """Return another value with the same author and cost."""
        return Judged(value, self.judged_by, self.usage, self.fallback, self.dropped, self.compressed, self.remarks)


class Brain(Protocol):
    """The judgements a run needs (SPEC section 3)."""

    @property
    def name(self) -> str:
        """A model's name, or ``rules``."""

    async def decide(self, case: Case) -> Judged[SupervisorDecision]:
        """Choose the next step."""

    async def investigate(self, case: Case) -> Judged[Investigation]:
        """Assess the issue."""

    async def read_code(self, case: Case, candidates: Sequence[NumberedEvidence]) -> Judged[CodeReading]:
        """Judge the results of the code search."""

    async def read_web(self, case: Case, results: Sequence[NumberedEvidence]) -> Judged[WebReading]:
        """Judge the results from outside the repository."""

    async def audit(self, case: Case) -> Judged[Audit]:
        """Try to refute the main hypothesis."""

    async def write(self, case: Case) -> Judged[Draft]:
        """Propose the report."""


class ModelError(Exception):
    """The model gave no usable judgement, so rules judge instead. The message gives the reason in one line."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()
        """The usage of the failed call, which is charged anyway."""


@dataclass(frozen=True, slots=True)
class IssueOrigin:
    """The issue of a run, as commits and pull requests refer to it."""

    number: int
    project: str
    """owner/name."""
    opened: int
    """Seconds since 1970."""
    reopened: bool = False
    """Whether a person reopened the issue; then a commit whose message says that it fixes the issue did not suffice."""

    @classmethod
    def of(cls, number: int, project: str, created_at: str, *, reopened: bool) -> Self | None:
        """Return the origin of an issue; None if GitHub's timestamp of its creation cannot be read."""
        try:
            opened = int(datetime.fromisoformat(created_at).timestamp())
        except ValueError:
            return None
        return cls(number, project, opened, reopened)


@dataclass(frozen=True, slots=True)
class OpenPull:
    """An open pull request."""

    number: int
    title: str
    body: str
    paths: tuple[str, ...] = ()
    """The files that it changes, if they were read."""


PullReader = Callable[[Sequence[str]], Awaitable[tuple[OpenPull, ...]]]
"""Reads the open pull requests, with files if paths are given; none if GitHub refuses them."""
