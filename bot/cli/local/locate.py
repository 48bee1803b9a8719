"""``triage locate``: run only the evidence engine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from bot.cli.local.changes import history_document, history_text, printable, reason_document
from bot.cli.local.issue_text import IssueText, fetch, is_number, is_remote, named_issue, numbered, read_issue
from bot.cli.local.progress import Progress
from bot.cli.local.repository import open_engine, storage
from bot.cli.options import REPO_OF_ISSUE, REV, names_issue, prints
from bot.errors import UserError

if TYPE_CHECKING:
    from nodes.search.engine import Engine
    from nodes.search.history.types import History
    from nodes.search.types import Query, Ranking


@click.command("locate")
@names_issue
@REPO_OF_ISSUE
@REV
@click.option("--top", default=10, show_default=True, type=click.IntRange(1, 200), help="How many places to print.")
@click.option("--history", is_flag=True, help="Also print which changes may have broken it, and who knows the code.")
@prints("commit, confidence, files, locations, seconds.")
def command(
    *,
    argument: str | None,
    repo: str | None,
    rev: str,
    issue: str | None,
    text: str | None,
    title: str | None,
    top: int,
    history: bool,
    as_json: bool,
) -> None:
    """Rank the files and functions that an issue is about, best first, each with reasons.

    ISSUE is a file, - for standard input, owner/repo#n, the address of an issue's page, or the number of an issue of
    the project that the remote origin names; the last three are read from GitHub.

    No model is called. The same input gives the same ranking, to the byte. With --history, the versions, dates and
    commits in the issue limit the range of suspect changes; --json then also contains suspect_changes, recent_changes,
    range, inconclusive, owners and fingerprints.
    """
    from nodes.search.types import Query

    progress = Progress()
    given, repo = _issue(named_issue(argument, issue), text, title, repo, progress)
    engine, sha = open_engine(repo, rev, storage(repo), progress.phase)
    query = Query(given.title, given.body, limit=top)
    ranking = engine.find(query, sha)
    past = _history(engine, query, ranking) if history else None
    progress.clear()
    if as_json:
        confidence = engine.stated_confidence(query, ranking)
        document = as_document(ranking, confidence) | (history_document(past) if past else {})
        click.echo(json.dumps(document, ensure_ascii=True))
    else:
        click.echo(as_text(ranking) + (f"\n\n{history_text(past)}" if past else ""))


def _issue(
    issue: str | None, text: str | None, title: str | None, repo: str | None, progress: Progress
) -> tuple[IssueText, str]:
    """Return the issue and its repository."""
    if is_number(issue) and text is None:
        repo = repo or "."
        issue = numbered(str(issue), repo)
    if not is_remote(issue) or text is not None:
        return read_issue(issue, text, title), repo or "."
    from bot.settings import load_settings

    located = fetch(str(issue), repo, load_settings(repo or "."), progress)
    if located.no_code is not None:
        raise UserError(f"{issue}: the code cannot be read ({located.no_code.reason}); name a clone with --repo")
    return located.text, located.repository


def _history(engine: Engine, query: Query, ranking: Ranking) -> History:
    from nodes.search.history.touched import spots_of

    return engine.history(query, spots_of(ranking.locations), ranking.commit)


def as_document(ranking: Ranking, confidence: float) -> dict[str, Any]:
    """Return the ranking and the confidence in its first file as JSON values, with keys in the documented order."""
    locations = [
        {
            "path": place.path,
            "start_line": place.start_line,
            "end_line": place.end_line,
            "symbol": place.symbol,
            "score": round(place.score, 6),
            "quote": place.quote,
            "quote_start": place.quote_start,
            "quote_end": place.quote_end,
            "reasons": [reason_document(reason) for reason in place.reasons],
        }
        for place in ranking.locations
    ]
    files = [
        {"path": hit.path, "score": round(hit.score, 6), "reasons": [reason_document(r) for r in hit.reasons]}
        for hit in ranking.files
    ]
    return {
        "commit": ranking.commit,
        "confidence": confidence,
        "files": files,
        "locations": locations,
        "seconds": {phase: round(seconds, 4) for phase, seconds in ranking.seconds.items()},
    }


def as_text(ranking: Ranking) -> str:
    """Return one paragraph per location: its position, the reasons and the lines."""
    if not ranking.locations:
        return "Nothing in this commit matches the issue."
    return "\n\n".join(_paragraph(place) for place in ranking.locations)


def _paragraph(place: Any) -> str:
    symbol = f"  {place.symbol}" if place.symbol else ""
    head = f"{printable(place.path)}:{place.start_line}-{place.end_line}{symbol}  ({place.score:.2f})"
    reasons = [f"    {reason.text}" for reason in place.reasons[:3]]
    quote = [f"    {number:>5} | {line}" for number, line in enumerate(place.quote.split("\n"), place.quote_start)]
    return "\n".join([head, *map(printable, reasons), *map(printable, quote)])
