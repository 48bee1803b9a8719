"""Assemble the page of one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from bot.ports import AskedQuestion
from bot.report import account
from bot.report.links import Links
from bot.report.record import read_record
from bot.report.words import span
from bot.server.web.views import path, words
from bot.server.web.views.answer import Answer, answer
from bot.server.web.views.background import Background, background
from bot.server.web.views.evidence import Piece, cited_in, numbered, piece
from bot.server.web.views.path import is_harmless
from bot.server.web.views.words import Moment, line, moment, prose
from bot.store.pages.runs import FullRun, RunContext
from bot.store.runs.run_events import Visit
from nodes.evidence import Evidence
from nodes.report import TriageReport
from nodes.state import Metrics

PIECES = 8
"""Pieces of evidence on the run's own page; separate pages list all of them."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question that was asked, with its state and answer."""

    text: Markup
    reason: Markup
    state: str
    asked_at: Moment | None
    answer: str
    answered_by: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft of the report."""

    number: int
    confidence: float
    rejected: str
    """Why it was rejected; empty for the last one."""


@dataclass(frozen=True, slots=True)
class RunPage:
    """Everything a run's page shows besides its progress."""

    open_to_all: bool
    """Whether the findings may be shown to this viewer."""
    report: TriageReport | None
    private_form: str
    """Where a security problem is reported in private; empty unless the report is about one."""
    answer: Answer | None
    background: Background | None
    score: tuple[tuple[str, str, str], ...]
    pieces: tuple[Piece, ...]
    gathered: int
    dropped: tuple[Markup, ...]
    audit: str
    drafts: tuple[Draft, ...]
    questions: tuple[Question, ...]
    cost: tuple[tuple[str, str], ...]
    overlap: str
    dropped_since: bool
    """Whether the run's evidence has been deleted since."""
    comment: Markup | None
    review: Markup


def page(
    full: FullRun,
    *,
    visits: Sequence[Visit],
    gathered: Sequence[Evidence],
    questions: Sequence[AskedQuestion],
    posted: str | None,
    context: RunContext,
    issue: str,
    links: Links,
    cost: int,
    open_to_all: bool,
) -> RunPage:
    """Assemble a run's page.

    Args:
        full: the run.
        visits: its stored steps.
        gathered: its evidence.
        questions: all questions of its issue.
        posted: our comment as stored on GitHub; None unless this is the issue's last run.
        context: what led to the run and what followed from it.
        issue: the issue's URL.
        links: builds links to its repository.
        cost: the run's cost so far, in millionths of a dollar.
        open_to_all: whether the viewer may read the findings even if they concern a security issue.
    """
    shown = open_to_all or is_harmless(full)
    report = full.result.report if full.result else None
    overlap = path.overlap(path.latest(visits))
    return RunPage(
        open_to_all=shown,
        report=report,
        private_form=f"{links.server_url}/{links.repository}/security/advisories/new"
        if report and report.kind == "security"
        else "",
        answer=answer(report, links, read_record(context.pairs, context.judged, context.labelled))
        if report and shown
        else None,
        background=background(context, report, links, issue) if shown else None,
        score=account.scores(report.evaluation) if report else (),
        pieces=_cited(full, gathered, links) if shown else (),
        gathered=len(gathered),
        dropped=tuple(map(prose, account.dropped_claims(report.citation_audit))) if report and shown else (),
        audit=account.citation_check(full.result) if full.result else "",
        drafts=_drafts(full.result.metrics) if full.result else (),
        questions=tuple(_question(question) for question in questions),
        cost=_cost(full, cost / 1_000_000),
        overlap=span(overlap) if overlap >= 0.05 else "",
        dropped_since=full.result is not None and bool(full.result.evidence) and not gathered,
        comment=words.as_html(posted) if posted else None,
        review=prose(report.review_message) if report and shown else Markup(""),
    )


def _drafts(metrics: Metrics) -> tuple[Draft, ...]:
    # The drafts before the last one were rejected, each for its reason.
    why = [", ".join(account.retry_reasons(item)) for item in metrics.retry_reasons]
    return tuple(
        Draft(number, share, reason)
        for number, (share, reason) in enumerate(zip(metrics.confidence_history, [*why, ""], strict=False), 1)
    )


def _cited(full: FullRun, gathered: Sequence[Evidence], links: Links) -> tuple[Piece, ...]:
    """Return the evidence that the report cites, or the best gathered evidence if it cites none."""
    cited = cited_in(full.result.report) if full.result else frozenset()
    items = numbered(full.result.evidence if full.result else (), gathered)
    chosen = [item for item in items if item[0] in cited] or items
    return tuple(piece(number, one, links, cited) for number, one in chosen[:PIECES])


def _question(asked: AskedQuestion) -> Question:
    return Question(
        text=prose(asked.text),
        reason=prose(asked.reason),
        state=asked.state,
        asked_at=moment(datetime.fromisoformat(asked.asked_at).timestamp()),
        answer=line(asked.answer or ""),
        answered_by=line(asked.answered_by or ""),
        options=tuple(line(option) for option in asked.options),
    )


def _cost(full: FullRun, dollars: float) -> tuple[tuple[str, str], ...]:
    if full.result is None:
        return ()
    pairs = account.spending(full.result, brain=full.row.brain, config_hash=full.config_hash, dollars=dollars)
    return tuple((label, line(value)) for label, value in pairs)
