"""``triage stats`` and ``triage digest``: what the server's reports state, and how often they were right."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli.options import prints
from bot.errors import UserError

if TYPE_CHECKING:
    from bot.report.digest import Digest
    from bot.report.record import Record
    from bot.runs.promise import Fifth
    from bot.settings import Settings
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
    from bot.store.databases.opening import open_existing_store

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
    try:
        tallies = await store.outcomes.tallies()
        found = [await _figures(store, tally) for tally in tallies]
    finally:
        await store.aclose()
    return found


async def _figures(store: Store, tally: Tally) -> _Known:
    from bot.report.record import read_record
    from bot.runs.promise import fifths

    record = store.of_repository(tally.key).outcomes
    standing = await record.standing()
    return _Known(tally, fifths(standing.scored), read_record(*standing), await record.feedback_counts())


def _document(known: _Known) -> dict[str, Any]:
    counts = {name: value for name, value in asdict(known.tally).items() if name != "key"}
    by = "this repository" if known.record else "shipped"
    return {
        **counts,
        "feedback": asdict(known.people),
        "calibration": [asdict(fifth) for fifth in known.fifths],
        "confidence_words_by": by,
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
        (counts.thumbs_up, "👍"),
        (counts.thumbs_down, "👎"),
        (counts.labels_added, "labels added"),
        (counts.labels_removed, "labels removed"),
        (counts.labels_right, "labels for the reported place"),
        (counts.labels_wrong, "labels against it"),
    )
    shown = ", ".join(f"{number} {name}" for number, name in parts if number)
    return f"\nFeedback by people: {shown}." if shown else ""


@click.command("digest")
@click.argument("repository", metavar="OWNER/REPO")
@click.option(
    "--days",
    type=click.IntRange(1, 365),
    default=7,
    show_default=True,
    help="The length of the period in which a report counts as new.",
)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
@click.option(
    "--language",
    hidden=True,
    expose_value=False,
    deprecated="It has no effect: the digest is in English.",
)
@prints("all entries of each list.")
def digest_command(*, repository: str, days: int, output: Path | None, as_json: bool) -> None:
    """Summarize the open issues of a repository: bugs by place, suspect changes, questions, duplicates.

    It is built from the server's store, which a server may use at the same time; it sends no request to GitHub. With
    `digest` in .github/triage.yml the server posts it each week.
    """
    from bot.report.comment.digest import BY_DELIVERIES, render_digest
    from bot.settings import load_settings

    settings = load_settings()
    digest = asyncio.run(_read(settings, repository, days))
    document = json.dumps(asdict(digest), indent=1) + "\n" if as_json else ""
    text = document or render_digest(digest, settings.github_server_url, BY_DELIVERIES)
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{output} cannot be written: {error.strerror}") from error


async def _read(settings: Settings, name: str, days: int) -> Digest:
    from bot.report.digest import DAY, build_digest
    from bot.store.databases.opening import open_existing_store

    async with aclosing(open_existing_store(settings)) as store:
        ref = await store.installations.named(name)
        if ref is None:
            raise UserError(f"the App is not installed in {name}: install it there, or check the name")
        now = store.clock()
        found = await store.for_repository(ref).open_issues.read(now - days * DAY)
        return build_digest(f"{ref.owner}/{ref.name}", found, now, days)
