"""One fake per port: a repository in memory, scripted brains and a minimal renderer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nodes.context.brain import Case, Judged, ModelError
from nodes.context.ports import Context, ExternalSources, Signal, TimeLimits
from nodes.evidence import Evidence, NumberedEvidence
from nodes.issue.facts import read_facts
from nodes.judgements import Audit, CodeReading, Draft, DraftSuspect, Investigation, SupervisorDecision, WebReading
from nodes.report import Ticket, TriageReport
from nodes.search.facts import Fact
from nodes.search.history.mainline import NamingCommit
from nodes.search.history.types import History, Spot
from nodes.search.issue.fingerprint import Fingerprint, fingerprints
from nodes.search.issue.forms import IssueForm
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.paths.project import PathIndex
from nodes.search.types import (
    FileHit,
    FileSketch,
    Location,
    Lookup,
    Passage,
    PlaceSketch,
    Query,
    Ranking,
    Reason,
    Survey,
    ToolAnswer,
    ToolCall,
)
from nodes.sources.protocol import Inquiry, SourceAnswer, SourceInfo

SHA = "a" * 40
FILES = {
    "src/lexer.py": ["def scan(text):", "    while True:", "        advance()", "    return text"],
    "src/reader.py": ["def read(path):", "    return scan(open(path).read())"],
}


@dataclass
class FakeCode:
    """Two files; every search finds the same two places."""

    confidence: float = 0.9
    files: dict[str, list[str]] = field(default_factory=lambda: {path: list(lines) for path, lines in FILES.items()})
    queries: list[Query] = field(default_factory=list)
    fail: Callable[[], None] = lambda: None
    sha: str = SHA
    past: History = field(default_factory=History)
    subjects: dict[str, str] = field(default_factory=dict)
    spots: list[Spot] = field(default_factory=list)
    asks: tuple[IssueForm, ...] = ()
    facts: tuple[Fact, ...] = ()

    async def find(self, query: Query) -> Ranking:
        self.queries.append(query)
        self.fail()
        places = tuple(
            Location(
                path=path,
                start_line=1,
                end_line=2,
                symbol=lines[0].split()[1].split("(")[0],
                score=score,
                quote="\n".join(lines[:2]),
                quote_start=1,
                quote_end=2,
                reasons=(Reason("words", f"mentions {path}", score), Reason("symbol", "named in the issue", 0.1)),
            )
            for score, (path, lines) in zip((1.0, 0.7), self.files.items(), strict=False)
        )
        return Ranking(SHA, tuple(FileHit(p.path, p.score) for p in places), places, self.confidence)

    async def survey(self, query: Query) -> Survey:
        found = await self.find(query)
        self.queries.pop()
        return Survey(found.locations, self.facts, found.confidence, found.confidence)

    async def sketches(self, query: Query, paths: Sequence[str]) -> tuple[FileSketch, ...]:
        return tuple(self._sketch(path) for path in paths if path in self.files)

    def _sketch(self, path: str) -> FileSketch:
        lines = self.files[path]
        symbol = lines[0].split()[1].split("(")[0]
        reasons = (Reason("words", f"mentions {path}", 1.0),)
        place = Location(path, 1, len(lines), symbol, 1.0, "\n".join(lines[:2]), 1, min(2, len(lines)), reasons)
        return FileSketch(path, (PlaceSketch(place, lines[0]),))

    async def read(self, path: str, start_line: int, end_line: int) -> str | None:
        lines = self.files.get(path)
        if lines is None or start_line < 1 or end_line > len(lines):
            return None
        return "\n".join(lines[start_line - 1 : end_line])

    async def history(self, query: Query, spots: Sequence[Spot]) -> History:
        self.spots = list(spots)
        return self.past

    async def fingerprints(self, text: str) -> tuple[Fingerprint, ...]:
        return fingerprints(find_traces(text), PathIndex(tuple(self.files)))

    async def naming(self, number: int, project: str, since: int) -> tuple[NamingCommit, ...]:
        return ()

    async def subject(self, change: str) -> str | None:
        return self.subjects.get(change)

    async def forms(self) -> tuple[IssueForm, ...]:
        return self.asks

    async def text(self, path: str) -> str | None:
        return "\n".join(self.files[path]) if path in self.files else None

    async def lines(self, path: str, start_line: int, end_line: int) -> Lookup | None:
        if path not in self.files:
            return None
        last = min(end_line, len(self.files[path]))
        quote = await self.read(path, start_line, last)
        return Lookup((Passage(path, start_line, last, quote),) if quote else (), len(self.files[path]))

    async def definitions(self, name: str) -> Lookup:
        return self._holding(f"def {name}(")

    async def references(self, name: str) -> Lookup:
        return self._holding(f"{name}(", but=f"def {name}(")

    async def use_tool(self, call: ToolCall) -> ToolAnswer:
        if call.tool == "read":
            lines = self.files.get(call.path, [])
            start, end = max(1, call.start_line), min(call.end_line or len(lines), len(lines))
            quote = "\n".join(lines[start - 1 : end])
            return ToolAnswer(f"{len(lines)} lines.", (Passage(call.path, start, end, quote),) if quote else ())
        if call.tool in ("tree", "log"):
            return ToolAnswer("2 entries.", names=tuple(self.files))
        found = self._holding(f"def {call.what}(" if call.tool == "function" else call.what)
        return ToolAnswer(
            f"{found.total} matches in {len({one.path for one in found.passages})} files.", found.passages
        )

    def _holding(self, text: str, but: str = "\0") -> Lookup:
        found = tuple(
            Passage(path, number, number, line)
            for path, lines in self.files.items()
            for number, line in enumerate(lines, 1)
            if text in line and but not in line
        )
        return Lookup(found, len(found))


@dataclass
class FakeEvidence:
    kept: dict[str, Evidence] = field(default_factory=dict)

    async def put(self, evidence: Sequence[Evidence]) -> None:
        self.kept.update({item.key: item for item in evidence})

    async def get(self, keys: Sequence[str]) -> Mapping[str, Evidence]:
        return {key: self.kept[key] for key in keys if key in self.kept}


@dataclass
class FakeSignals:
    waiting: list[Signal] = field(default_factory=list)

    async def __call__(self, after: int) -> Sequence[Signal]:
        return [signal for signal in self.waiting if signal.number > after]


class FakeRenderer:
    def comment(self, report: TriageReport, language: str = "en") -> str:
        return report.verdict

    def ticket(self, report: TriageReport) -> Ticket:
        return Ticket(title=report.verdict)


@dataclass
class FakeWeb:
    results: tuple[Evidence, ...] = ()
    queries: list[str] = field(default_factory=list)

    name: str = "web_search"
    description: str = ""
    keywords: tuple[str, ...] = ()
    before: Callable[[], Awaitable[None] | None] = lambda: None

    @property
    def info(self) -> SourceInfo:
        return SourceInfo(self.name, self.description, self.keywords)

    async def ask(self, inquiry: Inquiry, limit: int) -> SourceAnswer:
        self.queries.append(inquiry.text)
        if (waiting := self.before()) is not None:
            await waiting
        return SourceAnswer(self.results[:limit])


@dataclass
class ScriptedBrain:
    """Decides by a script, judges by fixed answers, and can run code before each answer."""

    decisions: list[SupervisorDecision] = field(default_factory=list)
    audits: list[bool] = field(default_factory=list)
    name: str = "scripted"
    before: Callable[[str], None] = lambda _role: None
    confidence: float = 0.9
    draft: Draft | None = None
    asked: list[str] = field(default_factory=list)

    def _judged(self, role: str, value: Any) -> Judged[Any]:
        self.asked.append(role)
        self.before(role)
        return Judged(value, judged_by=self.name)

    async def decide(self, case: Case) -> Judged[SupervisorDecision]:
        decision = self.decisions.pop(0) if self.decisions else decide("writer")
        return self._judged("supervisor", decision)

    async def investigate(self, case: Case) -> Judged[Investigation]:
        return self._judged(
            "investigator", Investigation(problem="scan never ends " * 18, hypothesis="the lexer " * 30, confidence=0.5)
        )

    async def read_code(self, case: Case, candidates: Sequence[NumberedEvidence]) -> Judged[CodeReading]:
        names = tuple(item.id for item in candidates)[:10]
        return self._judged(
            "codebase_search",
            CodeReading(summary="lexer " * 50, details="loop " * 120, suspects=names, confidence=self.confidence),
        )

    async def read_web(self, case: Case, results: Sequence[NumberedEvidence]) -> Judged[WebReading]:
        names = tuple(item.id for item in results)
        return self._judged("web_search", WebReading(summary="web", details="", relevant=names, confidence=0.4))

    async def audit(self, case: Case) -> Judged[Audit]:
        approved = self.audits.pop(0) if self.audits else True
        return self._judged("critic", Audit(approved=approved, gaps=("unclear " * 37,) * 4, confidence=0.8))

    async def write(self, case: Case) -> Judged[Draft]:
        code = [item for item in case.evidence if item.evidence.kind == "code"]
        first = code[0].id if code else "E1"
        return self._judged(
            "writer",
            self.draft
            or Draft(
                verdict="Likely in the lexer.",
                root_cause=f"The loop never leaves [{first}]." if code else "",
                suspects=tuple(DraftSuspect(evidence=item.id, why="loop") for item in code[:2]),
                how_to_confirm="Run it.",
                severity_reason="hangs",
                confidence=self.confidence,
            ),
        )


def decide(node: Any, *, question: str | None = None, also: tuple[Any, ...] = ()) -> SupervisorDecision:
    """Return a decision for ``node``, with a question if it asks one."""
    return SupervisorDecision(
        next_node=node, reasoning="because", question=question, question_context=None, confidence=0.5, also=also
    )


def refuse(_role: str) -> None:
    """Simulate an unreachable model."""
    raise ModelError("the model endpoint did not answer")


def context(brain: Any = None, **ports: Any) -> Context:
    """Return a context of fakes; each can be replaced."""
    brain = brain or ScriptedBrain()
    given: dict[str, Any] = {
        "title": "scan hangs",
        "body": "The lexer hangs on an open quote: `scan` never returns.",
        "code": FakeCode(),
        "evidence": FakeEvidence(),
        "brain": brain,
        "rules": ScriptedBrain(name="rules"),
        "signals": FakeSignals(),
        "renderer": FakeRenderer(),
    }
    web, tools = ports.pop("web", None), ports.pop("tools", ())
    patience = ports.pop("patience", TimeLimits())
    given |= {"outside": ExternalSources(web, {tool.name: tool for tool in tools}, patience)}
    given |= ports
    return Context(**{"facts": read_facts(given["title"], given["body"]), **given})
