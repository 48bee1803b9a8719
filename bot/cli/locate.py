"""``triage locate``: the evidence engine alone."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from bot.cli.issue_text import read_issue
from bot.cli.progress import Progress
from bot.cli.repository import data_dir, open_engine

if TYPE_CHECKING:
    from nodes.search.types import Ranking


@click.command("locate")
@click.option("--repo", required=True, help="A git repository, bare or not; it is only read.")
@click.option("--rev", default="HEAD", show_default=True, help="The commit, branch or tag to read.")
@click.option("--issue", metavar="FILE|-", help="The issue text: a file, or - for standard input.")
@click.option("--text", help="The issue text itself.")
@click.option("--title", help="The title; without it the first line is the title.")
@click.option("--top", default=10, show_default=True, type=click.IntRange(1, 200), help="How many places to print.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: commit, confidence, files, locations, seconds.")
def command(
    *, repo: str, rev: str, issue: str | None, text: str | None, title: str | None, top: int, as_json: bool
) -> None:
    """Rank the files and functions an issue is about, best first, each with its reasons.

    No model is asked. The same input gives the same ranking, to the byte.
    """
    from nodes.search.types import Query  # noqa: PLC0415  --help needs no engine

    given = read_issue(issue, text, title)
    progress = Progress()
    engine, sha = open_engine(repo, rev, data_dir(repo), progress.phase)
    ranking = engine.find(Query(given.title, given.body, limit=top), sha)
    progress.clear()
    click.echo(json.dumps(as_document(ranking), ensure_ascii=True) if as_json else as_text(ranking))


def as_document(ranking: Ranking) -> dict[str, Any]:
    """The ranking as plain values, in the order that is documented."""
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
            "reasons": [_reason(asdict(reason)) for reason in place.reasons],
        }
        for place in ranking.locations
    ]
    files = [
        {"path": hit.path, "score": round(hit.score, 6), "reasons": [_reason(asdict(r)) for r in hit.reasons]}
        for hit in ranking.files
    ]
    return {
        "commit": ranking.commit,
        "confidence": round(ranking.confidence, 4),
        "files": files,
        "locations": locations,
        "seconds": {phase: round(seconds, 4) for phase, seconds in ranking.seconds.items()},
    }


def _reason(reason: dict[str, Any]) -> dict[str, Any]:
    return {**reason, "contribution": round(reason["contribution"], 6)}


def as_text(ranking: Ranking) -> str:
    """One place a paragraph: where, why, and the lines."""
    if not ranking.locations:
        return "Nothing in this commit matches the issue."
    return "\n\n".join(_paragraph(place) for place in ranking.locations)


def _paragraph(place: Any) -> str:
    symbol = f"  {place.symbol}" if place.symbol else ""
    head = f"{_printable(place.path)}:{place.start_line}-{place.end_line}{symbol}  ({place.score:.2f})"
    reasons = [f"    {reason.text}" for reason in place.reasons[:3]]
    quote = [f"    {number:>5} | {line}" for number, line in enumerate(place.quote.split("\n"), place.quote_start)]
    return "\n".join([head, *map(_printable, reasons), *map(_printable, quote)])


def _printable(text: str) -> str:
    """Names may hold any byte, and quoted lines any control character; a terminal should not obey them."""
    clean = "".join(c if c.isprintable() or c == "\t" else f"\\x{ord(c):02x}" for c in text)
    return clean.encode("utf-8", "backslashreplace").decode()
