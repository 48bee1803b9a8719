"""Protocols for everything a run may call. The graph never sees GitHub, a server or a database."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from nodes.context.agreement import AgreementTable
from nodes.context.brain import COMPRESS_FROM, Brain, IssueOrigin, PullReader
from nodes.evidence import Evidence
from nodes.issue.facts import IssueFacts
from nodes.report import Ticket, TriageReport
from nodes.search.history.mainline import NamingCommit
from nodes.search.history.types import History, Spot
from nodes.search.issue.fingerprint import Fingerprint
from nodes.search.issue.forms import IssueForm
from nodes.search.issue.similar import PastIndex
from nodes.search.types import FileSketch, Lookup, Query, Ranking, Survey, ToolAnswer, ToolCall
from nodes.sources.protocol import SourceInfo, SourcePort

LabelReader = Callable[[], Awaitable[frozenset[str]]]
"""Reads the labels of the issue's repository; none if GitHub refuses them."""

Listener = Callable[[str, str], None]
"""Receives the name of a node and one line about what it is doing."""


class CodePort(Protocol):
    """The repository at the run's commit."""

    @property
    def sha(self) -> str:
        """The full SHA of the commit to read, pinned for the run."""

    async def find(self, query: Query) -> Ranking:
        """Rank files and places for a query."""

    async def survey(self, query: Query) -> Survey:
        """Return the first files for a query, the checked facts about them, and the probability of the first file."""

    async def sketches(self, query: Query, paths: Sequence[str]) -> tuple[FileSketch, ...]:
        """Return sketches of files, in the order given; a path that no file or more than one file has is left out."""

    async def read(self, path: str, start_line: int, end_line: int) -> str | None:
        """Return verbatim lines (1-based, inclusive), or None if they do not exist."""

    async def history(self, query: Query, spots: Sequence[Spot]) -> History:
        """Return suspect changes and owners of the places, and crash fingerprints, from the commit's history."""

    async def naming(self, number: int, project: str, since: int) -> tuple[NamingCommit, ...]:
        """Return the latest commits of the history that name an issue of a project, opened at ``since`` (seconds)."""

    async def subject(self, change: str) -> str | None:
        """Return the first line of a commit's message, or None if the pinned commit's history does not contain it."""

    async def fingerprints(self, text: str) -> tuple[Fingerprint, ...]:
        """Return the fingerprints of the crashes in a text, resolved against the commit's files."""

    async def forms(self) -> tuple[IssueForm, ...]:
        """Return the repository's issue forms at the commit."""

    async def text(self, path: str) -> str | None:
        """Return the text of a whole file, or None if it does not exist or is too large to read."""

    async def lines(self, path: str, start_line: int, end_line: int) -> Lookup | None:
        """Return as many of these lines as fit into a quote, or None if no such text file exists."""

    async def definitions(self, name: str) -> Lookup:
        """Find where a name is defined."""

    async def references(self, name: str) -> Lookup:
        """Find where a name is used."""

    async def use_tool(self, call: ToolCall) -> ToolAnswer:
        """Answer the query of a reader; any text in it is safe."""


@dataclass(frozen=True, slots=True)
class PastIssue:
    """Another issue of the repository, in its current state."""

    number: int
    title: str
    body: str
    state: Literal["open", "closed"]
    url: str
    """The address of the issue; empty if it has none."""
    not_planned: bool = False
    """Whether it was closed because nothing will be done."""


@dataclass(frozen=True, slots=True)
class Nearby:
    """Issues that may have the same subject, judged by their stored data."""

    numbers: tuple[int, ...] = ()
    """Best first."""
    past: PastIndex = field(default_factory=lambda: PastIndex(()))
    """All issues that were compared; the index supplies word frequencies."""


class UnavailableError(Exception):
    """A port lacks something, for example a database or disk space: a known condition, no fault of the program."""


class PastUnreadableError(Exception):
    """The past issues cannot be read now; the message gives the reason in one line."""


class PastPort(Protocol):
    """The repository's earlier issues. Each call may raise PastUnreadableError."""

    async def similar(self, title: str, body: str, limit: int) -> Nearby:
        """Return the issues nearest to a text, except those that a person marked as unrelated."""

    async def read(self, number: int) -> PastIssue | None:
        """Return an issue in its current state, or None if it is deleted or has left this repository."""


class EvidencePort(Protocol):
    """Stores evidence for the duration of a run; the evidence survives a crash."""

    async def put(self, evidence: Sequence[Evidence]) -> None:
        """Store evidence by its key; idempotent."""

    async def get(self, keys: Sequence[str]) -> Mapping[str, Evidence]:
        """Return the stored evidence for these keys; a missing key is absent from the result."""


@dataclass(frozen=True, slots=True)
class Signal:
    """A redirect from a person that arrived during the run."""

    number: int
    """Increases with time; the state remembers the last one read."""
    text: str


SignalReader = Callable[[int], Awaitable[Sequence[Signal]]]
"""Reads the redirects with a number above the given one, oldest first."""


class Renderer(Protocol):
    """Renders a report as the texts that leave the program."""

    def comment(self, report: TriageReport, language: str = "en") -> str:
        """Return the GitHub comment, sanitised Markdown, with its own sentences in a language."""

    def ticket(self, report: TriageReport) -> Ticket:
        """Return the draft for a tracker."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds after which the run continues without a specialist; a code search alone has no limit."""

    outside: float = 30.0
    code: float = 300.0


@dataclass(frozen=True, slots=True)
class ExternalSources:
    """The sources outside the repository that a run may query: exactly those that the operator configured."""

    web: SourcePort | None = None
    tools: Mapping[str, SourcePort] = field(default_factory=dict)
    """Tools by name, without the web search."""
    patience: TimeLimits = TimeLimits()

    @property
    def infos(self) -> tuple[SourceInfo, ...]:
        """The descriptions that a brain sees, the web search first."""
        return tuple(source.info for source in (*filter(None, (self.web,)), *self.tools.values()))


@dataclass(frozen=True, slots=True)
class AttachedText:
    """A file that is attached to the issue."""

    name: str
    text: str
    """The part of it that is in the issue's body."""


@dataclass(frozen=True, slots=True)
class Context:
    """The ports and settings of one run."""

    title: str
    body: str
    code: CodePort
    evidence: EvidencePort
    brain: Brain
    rules: Brain
    """The fallback for every judgement."""
    renderer: Renderer
    signals: SignalReader | None = None
    """None for a run that belongs to no issue, so that no person can interrupt it."""
    outside: ExternalSources = ExternalSources()
    past: PastPort | None = None
    listener: Listener = lambda *_: None
    facts: IssueFacts = field(default_factory=IssueFacts)
    language: str = "en"
    """The language in which a model writes, as a code such as ``de``; rules write English."""
    compress_from: int = COMPRESS_FROM
    """Characters of the issue's text above which a model gets it without its middle."""
    labels: LabelReader | None = None
    """Reads the repository's labels, of which a model may propose any; None if the repository is not on GitHub."""
    origin: IssueOrigin | None = None
    """None if the issue has no number, such as a text from a file."""
    pulls: PullReader | None = None
    agreement: AgreementTable | None = None
    """How far search and model together support a file, fitted to this model; None for the shipped table."""
    claim_from: float = 0.65
    """The confidence below which the report claims no cause."""
    attached: tuple[AttachedText, ...] = ()
    answers_questions: bool = False
    """Whether a report on a question leads with the fact that answers it."""
