"""``triage stats``: how often the server's reports were right."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from bot.cli.options import prints
from bot.report.record import Record

if TYPE_CHECKING:
    from bot.runs.promise import Fifth
    from bot.store.runs.feedback import FeedbackCounts
    from bot.store.runs.outcomes import Tally
    from bot.store.tables import Store


@click.command("stats")
@click.argument("repository", metavar="[OWNER/REPO]", required=False)
@prints("counts and calibration of each repository.")
def stats_command(*, repository: str | None, as_json: bool) -> None:
    """Count, per repository, the reports and how often the landed fix changed the reported files.

    When a triaged issue is closed, the server searches the default branch for the commit whose message closes it. A
    report counts as scored if the fix was found, otherwise as unknown. Only repositories with a report are shown.
    """
    from bot.settings import load_settings
    from bot.store.databases.sqlite import open_existing_store

    known = asyncio.run(_known(open_existing_store(load_settings())))
    if repository:
        known = [row for row in known if row.tally.repository.lower() == repository.lower()]
    click.echo(json.dumps([_document(row) for row in known], indent=1) if as_json else _text(known))


@dataclass(frozen=True, slots=True)
class _Known:
    """The figures of one repository."""

    tally: Tally
    fifths: tuple[Fifth, ...]
    record: Record | None
    people: FeedbackCounts


async def _known(store: Store) -> list[_Known]:
    from bot.report.record import read_record
    from bot.runs.promise import fifths

    async with aclosing(store):
        found = []
        for tally in await store.outcomes.tallies():
            record = store.of_repository(tally.key).outcomes
            standing, people = await record.standing(), await record.feedback_counts()
            found.append(_Known(tally, fifths(standing.scored), read_record(*standing), people))
    return found


def _document(known: _Known) -> dict[str, Any]:
    counts = asdict(known.tally)
    del counts["key"]
    return {
        **counts,
        "feedback": asdict(known.people),
        "calibration": [asdict(fifth) for fifth in known.fifths],
        "confidence_words_by": "this repository" if known.record else "shipped",
    }


def _text(known: list[_Known]) -> str:
    if not known:
        return "No reports yet."
    width = max(len("repository"), *(len(row.tally.repository) for row in known))
    head = f"{'repository':<{width}}  reports  claims  scored  first right  in top 3  claims right  unknown"
    return "\n".join((head, *(_row(row.tally, width) for row in known), *(_words(row) for row in known)))


def _row(tally: Tally, width: int) -> str:
    claims = f"{tally.right_claims}/{tally.scored_claims}"
    return (
        f"{tally.repository:<{width}}  {tally.reports:>7}  {tally.claims:>6}  {tally.scored:>6}  {tally.first:>11}  "
        f"{tally.among_three:>8}  {claims:>12}  {tally.unknown:>7}"
    )


def _words(known: _Known) -> str:
    """Return a line on how well confidences matched the outcomes, and which calibration the confidence words use."""
    from bot.report.record import ENOUGH

    worth = ", ".join(f"{fifth.mean:.0%} → {fifth.right}/{fifth.cases}" for fifth in known.fifths)
    by = (
        f"its {known.record.basis}"
        if known.record
        else f"the shipped calibration, because fewer than {ENOUGH} fixes are known"
    )
    correlation = f"; confidence and accuracy, highest confidence first: {worth}" if worth else ""
    return f"\n{known.tally.repository}: confidence words are based on {by}{correlation}.{_feedback(known.people)}"


def _feedback(counts: FeedbackCounts) -> str:
    """Return a line on people's judgements of reports and their label changes; empty if there are none."""
    parts = (
        (counts.right, "called right"),
        (counts.wrong, "called wrong"),
        (counts.labels_added, "labels added"),
        (counts.labels_removed, "labels removed"),
    )
    shown = ", ".join(f"{number} {name}" for number, name in parts if number)
    return f"\nFeedback by people: {shown}." if shown else ""
