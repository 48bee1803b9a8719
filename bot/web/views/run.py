"""Assemble the page of one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bot.ports import AskedQuestion
from bot.report.links import Links
from bot.store.pages.runs import FullRun
from bot.store.runs.run_events import Visit
from bot.web.views import confidence, path, timing, words
from bot.web.views.evidence import Piece, cited_in, numbered, piece
from bot.web.views.progress import is_harmless
from bot.web.views.words import count, line, prose, span
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
    asked_at: str
    answer: str
    answered_by: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunPage:
    """Everything a run's page shows besides its progress."""

    open_to_all: bool
    """Whether the findings may be shown to this viewer."""
    report: TriageReport | None
    verdict: Markup
    score: tuple[tuple[str, str], ...]
    pieces: tuple[Piece, ...]
    gathered: int
    dropped: tuple[Markup, ...]
    audit: str
    drafts: Markup | None
    retries: tuple[confidence.Retry, ...]
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
        links: builds links to its repository.
        cost: the run's cost so far, in millionths of a dollar.
        open_to_all: whether the viewer may read the findings even if they concern a security issue.
    """
    known = path.latest(visits)
    shown = open_to_all or is_harmless(full)
    report = full.result.report if full.result else None
    drafts = confidence.draw(full.result.metrics) if full.result else None
    drawn = timing.draw(known)
    overlap = timing.overlap(known)
    return RunPage(
        open_to_all=shown,
        report=report,
        verdict=prose(report.verdict) if report and shown else Markup(""),
        score=_score(report),
        pieces=_cited(full, gathered, links) if shown else (),
        gathered=len(gathered),
        dropped=_dropped(report) if shown else (),
        audit=_audit(full),
        drafts=Markup(drafts) if drafts else None,  # noqa: S704  the drawing code escapes
        retries=confidence.retries(full.result.metrics) if full.result else (),
        questions=tuple(_question(one) for one in questions),
        cost=_cost(full, cost),
        timing=Markup(drawn) if drawn else None,  # noqa: S704  the drawing code escapes
        overlap=span(overlap) if overlap >= 0.05 else "",
        dropped_since=full.result is not None and bool(full.result.evidence) and not gathered,
        comment=words.as_html(posted) if posted else None,
        review=prose(report.review_message) if report and shown else Markup(""),
    )


def _cited(full: FullRun, gathered: Sequence[Evidence], links: Links) -> tuple[Piece, ...]:
    """Return the evidence that the report cites, or the best gathered evidence if it cites none."""
    cited = cited_in(full.result.report) if full.result else frozenset()
    items = numbered(full.result.evidence if full.result else (), gathered)
    chosen = [item for item in items if item[0] in cited] or items
    return tuple(piece(number, one, links, cited) for number, one in chosen[:PIECES])


def _dropped(report: TriageReport | None) -> tuple[Markup, ...]:
    if report is None:
        return ()
    audit = report.citation_audit
    return (
        *map(prose, audit.dropped),
        *(prose(f"cites evidence that was not gathered: {name}") for name in audit.fabricated),
        *(prose(f"no longer matches its quote: {name}") for name in audit.failed),
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
        text=prose(asked.text),
        reason=prose(asked.reason),
        state=asked.state,
        asked_at=asked.asked_at.replace("T", " ")[:16],
        answer=line(asked.answer or ""),
        answered_by=line(asked.answered_by or ""),
        options=tuple(line(option) for option in asked.options),
    )


def _cost(full: FullRun, dollars: int) -> tuple[tuple[str, str], ...]:
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
    cost = (("Cost", f"${dollars / 1_000_000:.4f}"),) if dollars else ()
    return (("Judged by", judges), *spent, *cost, *fell_back, *config)
