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
from bot.server.web.views import drawings, path, words
from bot.server.web.views.answer import Answer, answer
from bot.server.web.views.background import Background, background
from bot.server.web.views.evidence import Piece, cited_in, numbered, piece
from bot.server.web.views.progress import is_harmless
from bot.server.web.views.words import Moment, line, moment, prose
from bot.store.pages.context import RunContext
from bot.store.pages.runs import FullRun
from bot.store.runs.run_events import Visit
from nodes.evidence import Evidence
from nodes.report import TriageReport

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
class RunPage:
    """Everything a run's page shows besides its progress."""

    open_to_all: bool
    """Whether the findings may be shown to this viewer."""
    report: TriageReport | None
    answer: Answer | None
    background: Background | None
    score: tuple[tuple[str, str, str], ...]
    pieces: tuple[Piece, ...]
    gathered: int
    dropped: tuple[Markup, ...]
    audit: str
    drafts: Markup | None
    retries: tuple[drawings.Retry, ...]
    questions: tuple[Question, ...]
    cost: tuple[tuple[str, str], ...]
    timing: Markup | None
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
    known = path.latest(visits)
    shown = open_to_all or is_harmless(full)
    report = full.result.report if full.result else None
    drafts = drawings.draw(full.result.metrics) if full.result else None
    drawn = drawings.draw_timing(known)
    overlap = drawings.overlap(known)
    return RunPage(
        open_to_all=shown,
        report=report,
        answer=answer(report, links, read_record(context.pairs, context.judged, context.labelled))
        if report and shown
        else None,
        background=background(context, report, links, issue) if shown else None,
        score=account.scores(report.evaluation) if report else (),
        pieces=_cited(full, gathered, links) if shown else (),
        gathered=len(gathered),
        dropped=tuple(map(prose, account.dropped_claims(report.citation_audit))) if report and shown else (),
        audit=account.citation_check(full.result) if full.result else "",
        drafts=Markup(drafts) if drafts else None,  # noqa: S704  the drawing code escapes
        retries=drawings.retries(full.result.metrics) if full.result else (),
        questions=tuple(_question(one) for one in questions),
        cost=_cost(full, cost / 1_000_000),
        timing=Markup(drawn) if drawn else None,  # noqa: S704  the drawing code escapes
        overlap=span(overlap) if overlap >= 0.05 else "",
        dropped_since=full.result is not None and bool(full.result.evidence) and not gathered,
        comment=words.as_html(posted) if posted else None,
        review=prose(report.review_message) if report and shown else Markup(""),
    )


def jumps(page: RunPage) -> tuple[tuple[str, str], ...]:
    """Return the targets of the links within a page, in its order: the id of each part, and its name."""
    around = page.background
    targets = (
        ("answer", "Answer", True),
        ("changes", "Changes", page.answer is not None),
        ("related", "Related", page.answer is not None),
        ("questions", "Questions", bool(page.questions)),
        ("issue", "Issue", around is not None),
        ("instructions", "Instructions", around is not None and bool(around.instructions)),
        ("difference", "Difference", around is not None and around.before > 0),
        ("path", "How it was found", True),
        ("evidence", "Evidence", page.open_to_all and page.gathered > 0),
        ("checks", "Checks", page.report is not None),
        ("cost", "Time and cost", True),
        ("comment", "Comment", page.comment is not None),
    )
    return tuple((target, name) for target, name, is_shown in targets if is_shown)


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
