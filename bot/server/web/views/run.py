"""Assemble the page of one run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from bot.ports import AskedQuestion
from bot.report import account
from bot.report.links import Links
from bot.report.record import read_record
from bot.report.words import span
from bot.server.web.views import path, words
from bot.server.web.views.answer import answer
from bot.server.web.views.background import background
from bot.server.web.views.evidence import cited_in, numbered, piece
from bot.server.web.views.path import is_harmless
from bot.store.pages.runs import FullRun, RunContext
from bot.store.runs.run_events import Visit
from nodes.evidence import Evidence

PIECES = 8
"""Pieces of evidence on the run's own page; separate pages list all of them."""


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
) -> dict[str, Any]:
    """Assemble everything that a run's page shows besides its progress.

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
    shown, overlap = open_to_all or is_harmless(full), path.overlap(path.latest(visits))
    found: dict[str, Any] = {
        "open_to_all": shown,
        "report": None,
        "answer": None,
        "drafts": (),
        "cost": (),
        "links": links,
        "background": background(context, full.result.report if full.result else None, links, issue) if shown else None,
        "pieces": _cited(full, gathered, links) if shown else (),
        "gathered": len(gathered),
        "questions": questions,
        "overlap": span(overlap) if overlap >= 0.05 else "",
        "dropped_since": full.result is not None and bool(full.result.evidence) and not gathered,
        "comment": words.as_html(posted) if posted else None,
    }
    if full.result is None:
        return found
    report, metrics = full.result.report, full.result.metrics
    # The drafts before the last one were rejected, each for its reason.
    rejected = [", ".join(account.retry_reasons(item)) for item in metrics.retry_reasons]
    return found | {
        "report": report,
        "answer": answer(report, links, read_record(context.pairs, context.judged, context.labelled))
        if shown
        else None,
        "score": account.scores(report.evaluation),
        "dropped": account.dropped_claims(report.citation_audit) if shown else (),
        "audit": account.citation_check(full.result),
        "drafts": list(zip(count(1), metrics.confidence_history, [*rejected, ""], strict=False)),
        "cost": account.spending(
            full.result, brain=full.row.brain, config_hash=full.config_hash, dollars=cost / 1_000_000
        ),
    }


def _cited(full: FullRun, gathered: Sequence[Evidence], links: Links) -> list[dict[str, Any]]:
    """Return the evidence that the report cites, or the best gathered evidence if it cites none."""
    cited = cited_in(full.result.report) if full.result else frozenset()
    items = numbered(full.result.evidence if full.result else (), gathered)
    chosen = [item for item in items if item[0] in cited] or items
    return [piece(number, one, links, cited) for number, one in chosen[:PIECES]]
