"""``triage locate`` and ``triage index``: run only the evidence engine, or parse a commit ahead of time."""

import json
import time
from collections.abc import Sequence
from typing import Any

import click

from bot.cli.local.issue_text import IssueText, fetch, issue_of
from bot.cli.local.repository import ProgressLine, data_directory, open_engine
from bot.cli.options import REPO, REV, NamedIssue, names_issue, prints
from bot.errors import UserError
from nodes.search.types import Query, Ranking, Reason


def reasons_of(reasons: Sequence[Reason]) -> list[dict[str, Any]]:
    """Return reasons as JSON values."""
    return [{"kind": it.kind, "text": it.text, "contribution": round(it.contribution, 6)} for it in reasons]


def printable(text: str) -> str:
    """Escape control characters and undecodable bytes: names and quoted lines may contain terminal commands."""
    clean = "".join(c if c.isprintable() or c == "\t" else f"\\x{ord(c):02x}" for c in text)
    return clean.encode("utf-8", "backslashreplace").decode()


@click.command("locate")
@names_issue
@REV
@click.option("--top", default=10, show_default=True, type=click.IntRange(1, 200), help="How many places to print.")
@prints("commit, confidence, files, locations, seconds.")
def locate_command(*, named: NamedIssue, rev: str, top: int, as_json: bool) -> None:
    """Rank the files and functions that an issue is about, best first, each with reasons.

    ISSUE is a file, - for standard input, owner/repo#n, the address of an issue's page, or in a clone just its number.

    No model is called. The same input gives the same ranking, to the byte.
    """
    progress = ProgressLine()
    given, repo = issue_of(named, lambda: ".")
    if isinstance(given, str):
        given, repo = _fetched(given, repo, progress)
    engine, sha = open_engine(str(repo), rev, data_directory(str(repo)), progress.phase)
    query = Query(given.title, given.body, limit=top)
    ranking = engine.find(query, sha)
    progress.clear()
    if as_json:
        confidence = engine.stated_confidence(query, ranking)
        click.echo(json.dumps(as_document(ranking, confidence), ensure_ascii=True))
    else:
        click.echo(as_text(ranking))


def _fetched(issue: str, repo: str | None, progress: ProgressLine) -> tuple[IssueText, str]:
    from bot.settings.environment import load_settings

    located = fetch(issue, repo, load_settings(repo or "."), progress)
    if located.no_code is not None:
        raise UserError(f"{issue}: the code cannot be read ({located.no_code.reason}); name a clone with --repo")
    return located.text, located.repository


def as_document(ranking: Ranking, confidence: float) -> dict[str, Any]:
    """Return the ranking and the confidence in its first file as JSON values, with keys in the documented order."""
    return {
        "commit": ranking.commit,
        "confidence": confidence,
        "files": [
            {"path": hit.path, "score": round(hit.score, 6), "reasons": reasons_of(hit.reasons)}
            for hit in ranking.files
        ],
        "locations": [
            {
                "path": place.path,
                "start_line": place.start_line,
                "end_line": place.end_line,
                "symbol": place.symbol,
                "score": round(place.score, 6),
                "quote": place.quote,
                "quote_start": place.quote_start,
                "quote_end": place.quote_end,
                "reasons": reasons_of(place.reasons),
            }
            for place in ranking.locations
        ],
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


@click.command("index")
@REPO
@REV
@prints("commit, files, texts, parsed, seconds, cache.")
def index_command(*, repo: str, rev: str, as_json: bool) -> None:
    """Parse every file of a commit that is not in the cache yet, so that the next query is fast.

    A new commit needs parsing only of its changed files. The cache has at most 512 MB.
    """
    progress = ProgressLine()
    started = time.perf_counter()
    engine, sha = open_engine(str(repo), rev, data_directory(str(repo)), progress.phase)
    loaded = engine.warm(sha)
    progress.clear()
    assert engine.cache is not None  # noqa: S101 - open_engine names one
    size = engine.cache.size()
    # A warning has the reason.
    if not size:
        raise UserError(f"nothing could be stored in {engine.cache.path}; set TRIAGE_DATA_DIR")
    counts = {"files": len(loaded.index.paths), "texts": loaded.texts, "parsed": loaded.parsed}
    seconds = round(time.perf_counter() - started, 3)
    if as_json:
        cache = {"path": str(engine.cache.path), "bytes": size, "limit": engine.cache.largest}
        click.echo(json.dumps({"commit": sha, **counts, "seconds": seconds, "cache": cache}))
    else:
        files = "{files} files, {texts} of them text; {parsed} parsed".format(**counts)
        click.echo(f"{sha[:12]} is indexed: {files} ({seconds:.1f} s); {size / 1e6:.1f} MB stored")
