"""One run, put together for its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from markupsafe import Markup

from bot.ports import AskedQuestion
from bot.report.links import Links
from bot.steps import Visit
from bot.store.pages.runs import FullRun, RunRow
from bot.store.runs import RunStatus
from bot.web.views import comment, confidence, path, timing
from bot.web.views.evidence import Piece, cited_in, numbered, piece
from bot.web.views.words import count, label, line, moment, percent, span
from nodes.evidence import Evidence
from nodes.report import TriageReport
from nodes.state import TraceEntry

PIECES = 8
"""Pieces of evidence on the run's own page; all of them have pages of their own."""
_TONES: dict[RunStatus, Literal["good", "warn", "bad", "soft"]] = {
    "running": "warn",
    "waiting": "warn",
    "finished": "good",
    "stopped": "soft",
    "failed": "bad",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A run in a list, as it is written."""

    run: RunRow
    title: str
    tone: str
    address: str

    @classmethod
    def of(cls, run: RunRow) -> Row:
        """Write a run."""
        return cls(run, line(run.title) or "Untitled", _TONES[run.status], address(run))

    @property
    def confidence(self) -> str:
        """Of its report."""
        return percent(self.run.confidence)

    @property
    def claims(self) -> str:
        """Whether its report names a cause, in a word."""
        return "" if not self.run.kind else "cause named" if self.run.claimed else "no cause"

    @property
    def began(self) -> object:
        """When it began."""
        return moment(self.run.began_at)

    @property
    def lasted(self) -> str:
        """From its first moment to its last change; nothing while it goes on, or where a person was waited for."""
        return span(self.run.changed_at - self.run.began_at) if self.run.over and self.run.began_at else ""


def address(run: RunRow) -> str:
    """The path of a run's page."""
    return f"/runs/{quote(run.owner)}/{quote(run.name)}/{run.issue}/{run.number}"


@dataclass(frozen=True, slots=True)
class Progress:
    """The part of a page that changes while a run goes on."""

    row: Row
    steps: tuple[path.Step, ...]
    now: tuple[str, ...]
    graph: Markup
    rounds: int
    reasons: bool

    @property
    def say(self) -> str:
        """What a screen reader is told when it changed."""
        if self.now:
            return f"{' and '.join(self.now)} at work, after {count(len(self.steps), 'step')}"
        return f"The run is {self.row.run.status}, after {count(len(self.steps), 'step')}"


def progress(full: FullRun, visits: Sequence[Visit], *, open_to_all: bool) -> Progress:
    """How far a run is.

    Args:
        full: the run.
        visits: its stored steps.
        open_to_all: whether whoever looks may read what was thought of a report that may be a security matter;
            until a run is over nobody knows that it is none.
    """
    known = path.latest(visits)
    trace = trace_of(full, known)
    row = full.row
    now = tuple(one.node for one in known if one.ended is None) if row.status == "running" else ()
    reasons = open_to_all or _is_harmless(full)
    return Progress(
        Row.of(row),
        path.steps(trace, reasons=reasons),
        tuple(label(name) for name in now),
        Markup(path.draw(trace, now=now, ended=row.over and full.result is not None)),  # noqa: S704  escaped there
        max((entry.iteration for entry in trace), default=-1) + 1,
        reasons,
    )


def trace_of(full: FullRun, visits: Sequence[Visit]) -> tuple[TraceEntry, ...]:
    """A run's trace: its result has it, and before there is one, its steps."""
    if full.result is not None:
        return full.result.trace
    return tuple(entry for one in visits if one.ended is not None for entry in one.trace)


def _is_harmless(full: FullRun) -> bool:
    return full.result is not None and full.result.report.kind != "security"


@dataclass(frozen=True, slots=True)
class Question:
    """A question that was asked, with what became of it."""

    text: str
    reason: str
    state: str
    asked_at: str
    answer: str
    answered_by: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunPage:
    """All that a run's page shows besides its progress."""

    open_to_all: bool
    """Whether what was found may be shown to whoever looks."""
    report: TriageReport | None
    verdict: str
    score: tuple[tuple[str, str], ...]
    pieces: tuple[Piece, ...]
    gathered: int
    dropped: tuple[str, ...]
    audit: str
    drafts: Markup | None
    retries: tuple[confidence.Retry, ...]
    questions: tuple[Question, ...]
    cost: tuple[tuple[str, str], ...]
    timing: Markup | None
    overlap: str
    comment: Markup | None
    review: str


def page(
    full: FullRun,
    *,
    visits: Sequence[Visit],
    gathered: Sequence[Evidence],
    questions: Sequence[AskedQuestion],
    posted: str | None,
    links: Links,
    open_to_all: bool,
) -> RunPage:
    """Put a run's page together.

    Args:
        full: the run.
        visits: its stored steps.
        gathered: its evidence.
        questions: all of its issue.
        posted: our comment as GitHub has it, for the issue's last run.
        links: where its repository can be read.
        open_to_all: whether whoever looks may read what was found even if it is a security matter.
    """
    known = path.latest(visits)
    shown = open_to_all or _is_harmless(full)
    report = full.result.report if full.result else None
    drafts = confidence.draw(full.result.metrics) if full.result else None
    drawn = timing.draw(known)
    overlap = timing.overlap(known)
    return RunPage(
        open_to_all=shown,
        report=report,
        verdict=line(report.verdict.replace("`", "")) if report and shown else "",
        score=_score(report),
        pieces=_cited(full, gathered, links) if shown else (),
        gathered=len(gathered),
        dropped=_dropped(report) if shown else (),
        audit=_audit(full),
        drafts=Markup(drafts) if drafts else None,  # noqa: S704  as above
        retries=confidence.retries(full.result.metrics) if full.result else (),
        questions=tuple(_question(one) for one in questions),
        cost=_cost(full),
        timing=Markup(drawn) if drawn else None,  # noqa: S704  as above
        overlap=span(overlap) if overlap >= 0.05 else "",
        comment=comment.as_html(posted) if posted else None,
        review=line(report.review_message) if report and shown else "",
    )


def _cited(full: FullRun, gathered: Sequence[Evidence], links: Links) -> tuple[Piece, ...]:
    """What the report leans on, or the best that was gathered where it leans on nothing."""
    cited = cited_in(full.result.report) if full.result else frozenset()
    items = numbered(full.result.evidence if full.result else (), gathered)
    chosen = [item for item in items if item[0] in cited] or items
    return tuple(piece(number, one, links, cited) for number, one in chosen[:PIECES])


def _dropped(report: TriageReport | None) -> tuple[str, ...]:
    if report is None:
        return ()
    audit = report.citation_audit
    return (
        *map(line, audit.dropped),
        *(f"names evidence that nobody gathered: {line(name)}" for name in audit.fabricated),
        *(f"no longer reads as quoted: {line(name)}" for name in audit.failed),
    )


def _audit(full: FullRun) -> str:
    if full.result is None:
        return ""
    audit, dropped = full.result.report.citation_audit, full.result.metrics.claims_dropped
    return (
        f"{count(audit.citations, 'citation')} checked, {count(audit.uncited_claims, 'sentence')} cited nothing, "
        f"{count(dropped, 'claim')} dropped over all drafts."
    )


def _score(report: TriageReport | None) -> tuple[tuple[str, str], ...]:
    if report is None:
        return ()
    score = report.evaluation
    return (
        ("Faithfulness", f"{score.faithfulness:.2f}"),
        ("Relevance", f"{score.relevance:.2f}"),
        ("Completeness", f"{score.completeness:.2f}"),
        ("Reasoning", f"{score.reasoning_quality:.2f}"),
        ("Overall", f"{score.overall_score:.2f}"),
    )


def _question(asked: AskedQuestion) -> Question:
    return Question(
        text=line(asked.text),
        reason=line(asked.reason),
        state=asked.state,
        asked_at=asked.asked_at.replace("T", " ")[:16],
        answer=line(asked.answer or ""),
        answered_by=line(asked.answered_by or ""),
        options=tuple(line(option) for option in asked.options),
    )


def _cost(full: FullRun) -> tuple[tuple[str, str], ...]:
    if full.result is None:
        return ()
    usage, trace = full.result.metrics.usage, full.result.trace
    judges = ", ".join(dict.fromkeys(line(entry.judged_by) for entry in trace)) or line(full.row.brain)
    spent = (
        (
            ("Model calls", count(usage.calls, "call")),
            ("Tokens in", count(usage.input_tokens, "token")),
            ("Tokens out", count(usage.output_tokens, "token")),
        )
        if usage.calls
        else (("Model calls", "none: rules judged"),)
    )
    fell_back = tuple(("Rules judged instead", line(why)) for why in full.result.metrics.fallbacks)
    config = (("Configuration", line(full.config_hash)),) if full.config_hash else ()
    return (("Judged by", judges), *spent, *fell_back, *config)
