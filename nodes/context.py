"""What a run may call, as protocols: the graph never sees GitHub, a server or a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from nodes.evidence import Evidence, NumberedEvidence
from nodes.facts import IssueFacts
from nodes.judgements import Audit, CodeReading, Draft, Investigation, Look, WebReading
from nodes.report import Ticket, TriageReport
from nodes.search.fingerprint import Fingerprint
from nodes.search.forms import IssueForm
from nodes.search.history.types import History, Spot
from nodes.search.similar import PastIndex
from nodes.search.survey import Survey
from nodes.search.types import Lookup, Query, Ranking
from nodes.sources import SourcePort
from nodes.sources.route import SourceInfo
from nodes.state import BugTriageState, SupervisorDecision, Usage

J = TypeVar("J")


class CodePort(Protocol):
    """The repository at the run's commit."""

    @property
    def sha(self) -> str:
        """The full SHA that is read, pinned for the run."""

    async def find(self, query: Query) -> Ranking:
        """Rank files and places for a query."""

    async def survey(self, query: Query) -> Survey:
        """The first files for a query, the checked facts about them, and how likely the first is right."""

    async def read(self, path: str, start_line: int, end_line: int) -> str | None:
        """Verbatim lines (1-based, inclusive), or None where they do not exist."""

    async def history(self, query: Query, spots: Sequence[Spot]) -> History:
        """What the history behind the commit says of places: suspect changes, owners, how the crashes are named."""

    async def subject(self, change: str) -> str | None:
        """The first line of a commit's message, or None where the history behind the commit holds no such one."""

    async def fingerprints(self, text: str) -> tuple[Fingerprint, ...]:
        """How the crashes in a text are named, by the commit's files."""

    async def forms(self) -> tuple[IssueForm, ...]:
        """What the repository asks a reporter for, at the commit."""

    async def text(self, path: str) -> str | None:
        """A whole text file, or None where there is none, or none of a size to read."""

    async def lines(self, path: str, start_line: int, end_line: int) -> Lookup | None:
        """As many of these lines as are short enough to quote, or None where there is no such text file."""

    async def definitions(self, name: str) -> Lookup:
        """Where a name is defined."""

    async def references(self, name: str) -> Lookup:
        """Where a name is used."""

    async def words(self, text: str) -> Lookup:
        """What shares most words with a text."""


@dataclass(frozen=True, slots=True)
class PastIssue:
    """Another issue of the repository, as it is now."""

    number: int
    title: str
    body: str
    state: Literal["open", "closed"]
    url: str
    """Where it can be read; empty where it has no address."""


@dataclass(frozen=True, slots=True)
class Nearby:
    """Issues that may be about the same, by what was kept of them."""

    numbers: tuple[int, ...] = ()
    """Best first."""
    past: PastIndex = field(default_factory=lambda: PastIndex(()))
    """All that were looked at: they say how rare a word is."""


class PastUnreadableError(Exception):
    """The past issues cannot be read now; the message says why, in one line."""


class PastPort(Protocol):
    """The repository's earlier issues. Each call may raise PastUnreadableError."""

    async def similar(self, title: str, body: str, limit: int) -> Nearby:
        """The issues nearest to a text, less those that a person said are another matter."""

    async def read(self, number: int) -> PastIssue | None:
        """An issue as it is now; None where it is gone or is no issue of this repository any more."""


class EvidencePort(Protocol):
    """Where evidence is kept for the length of a run, and beyond a crash."""

    async def put(self, evidence: Sequence[Evidence]) -> None:
        """Keep evidence by its key; keeping it twice is the same as once."""

    async def get(self, keys: Sequence[str]) -> Mapping[str, Evidence]:
        """What is known of these keys; a lost one is absent."""


@dataclass(frozen=True, slots=True)
class Signal:
    """Something a person said while the run was in flight."""

    number: int
    """Grows with time; the state remembers the last one read."""
    kind: Literal["redirect"]
    text: str


class SignalPort(Protocol):
    """What people said since the supervisor last looked."""

    async def unread(self, after: int) -> Sequence[Signal]:
        """Signals with a number above ``after``, oldest first."""


class Renderer(Protocol):
    """Turns a report into the texts that leave the program."""

    def comment(self, report: TriageReport) -> str:
        """The GitHub comment, sanitised Markdown."""

    def ticket(self, report: TriageReport) -> Ticket:
        """The draft for a tracker."""


class Listener(Protocol):
    """Is told what is going on, for progress on long work."""

    def __call__(self, node: str, message: str) -> None:
        """Receive one line about what a node is doing."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that a specialist has; then the run goes on without it."""

    outside: float = 30.0
    code: float = 300.0
    """Of the code search, which alone has no limit: it is what everything falls back to."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What may be asked outside the repository: what the operator configured, and nothing else."""

    web: SourcePort | None = None
    tools: Mapping[str, SourcePort] = field(default_factory=dict)
    """By name; the web search is none of them."""
    patience: Patience = Patience()

    @property
    def infos(self) -> tuple[SourceInfo, ...]:
        """What a brain may know of it, the web search first."""
        return tuple(SourceInfo.of(source) for source in (*filter(None, (self.web,)), *self.tools.values()))


@dataclass(frozen=True, slots=True)
class Sight:
    """The answer to a look."""

    found: tuple[NumberedEvidence, ...] = ()
    said: str = ""
    """Why there is nothing, or how much more there is."""


class LookPort(Protocol):
    """What a brain may look up while it judges; all that it is shown becomes evidence."""

    @property
    def left(self) -> int:
        """How many more looks will be answered."""

    async def look(self, wanted: Look) -> Sight:
        """Answer, or refuse; either counts."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a brain sees: the state, the issue's facts, and the numbered evidence."""

    state: BugTriageState
    title: str
    body: str
    """The whole body."""
    facts: IssueFacts
    evidence: tuple[NumberedEvidence, ...] = ()
    """In the order of their numbers."""
    search_confidence: float = 0.0
    """The engine's calibrated probability that its first file is right."""
    looks: LookPort | None = None
    """Where a brain may look further; None where it may not."""
    language: str = "en"
    """In which a model writes."""
    forms: tuple[IssueForm, ...] = ()
    """What the repository asks a reporter for."""
    sources: tuple[SourceInfo, ...] = ()
    """What may be asked outside, now and in this run."""


@dataclass(frozen=True, slots=True)
class Judged(Generic[J]):
    """A judgement, who made it, and what it cost."""

    value: J
    judged_by: str = "rules"
    usage: Usage = field(default_factory=Usage)
    fallback: str | None = None
    """Why the model did not judge, where it should have."""
    dropped: int = 0
    """What was taken out of the answer because it names what nobody gathered."""


class Brain(Protocol):
    """The judgements a run needs (SPEC section 3)."""

    @property
    def name(self) -> str:
        """A model's name, or ``rules``."""

    async def decide(self, case: Case) -> Judged[SupervisorDecision]:
        """Choose the next step."""

    async def investigate(self, case: Case) -> Judged[Investigation]:
        """Read the issue."""

    async def read_code(self, case: Case, candidates: Sequence[NumberedEvidence]) -> Judged[CodeReading]:
        """Judge what the search found."""

    async def read_web(self, case: Case, results: Sequence[NumberedEvidence]) -> Judged[WebReading]:
        """Judge what was found outside."""

    async def audit(self, case: Case) -> Judged[Audit]:
        """Try to refute the main hypothesis."""

    async def write(self, case: Case) -> Judged[Draft]:
        """Propose the report."""


class ModelError(Exception):
    """The model gave no usable judgement; rules judge instead. The message says why, in one line."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()
        """What it cost all the same."""


@dataclass(frozen=True, slots=True)
class Context:
    """What one run may call."""

    title: str
    body: str
    code: CodePort
    evidence: EvidencePort
    brain: Brain
    rules: Brain
    """What everything falls back to."""
    signals: SignalPort
    renderer: Renderer
    outside: Outside = Outside()
    past: PastPort | None = None
    """None where nothing is known of earlier issues."""
    listener: Listener = field(default=lambda _node, _message: None)
    facts: IssueFacts = field(default_factory=IssueFacts)
    language: str = "en"
    """In which a model writes, as a code such as ``de``; rules write English."""
    claim_from: float = 0.65
    """Confidence below which no cause is claimed."""
