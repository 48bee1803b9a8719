"""``triage ask``: answer one question about a repository, or a session of questions."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict

import click

from bot.cli.answers import Answerer, QuestionReply
from bot.cli.local.locate import printable
from bot.cli.local.repository import ProgressLine, open_engine, settings_for
from bot.cli.options import REPO, REV, prints
from bot.runs.sources import Sources
from bot.settings.operator import load_operator_config

_HELP = (
    "Ask where something is, who owns it or what changed, or paste a stack trace. An empty line sends it; `exit` ends."
)
_LEAVE = frozenset({"exit", "quit", ":q"})
_TRACE = ("Traceback", "Exception in", "panic:", "thread '", "Error:", "Caused by")


@click.command("ask")
@click.argument("question", required=False)
@REPO
@REV
@prints("route, text, places, people, changes, results, notes.")
def command(*, question: str | None, repo: str, rev: str, as_json: bool) -> None:
    """Answer questions about a repository; without a QUESTION, read them from standard input until Ctrl-D.

    The wording selects the source: "where is …" and "who uses …" look up names, "who owns …" reads CODEOWNERS and the
    history, "what changed in …" reads the commits, and a stack trace is resolved to code. A question with a keyword of
    a tool in TRIAGE_CONFIG goes to that tool. Any other question starts a code search; no model is called. No question
    depends on an earlier one. Without an answer, one QUESTION ends with exit code 1.

    \b
    triage ask --repo ~/src/app "who owns the importer?"
    triage ask --repo ~/src/app "where is parse_date used?" --json
    """
    answerer = _answerer(repo, rev)
    if question is None and sys.stdin.isatty():
        click.echo(_HELP, err=True)
    for asked in _asked() if question is None else (question,):
        reply = asyncio.run(answerer.answer(asked))
        lines = [click.style(printable(reply.text), bold=True), *map(printable, _lines(reply)), ""]
        results = [{"url": it.locator.url, "quote": it.quote} for it in reply.results]
        shown = json.dumps(asdict(reply) | {"results": results}) if as_json else "\n".join(lines)
        click.echo(shown, color=False if os.environ.get("NO_COLOR") else None)
        # A script has to see that there is no answer; a session continues.
        if question is not None and reply.is_empty:
            sys.exit(1)


def _answerer(repo: str, rev: str) -> Answerer:
    settings = settings_for(repo, "rules")
    sources = Sources(load_operator_config(settings, repo))
    progress = ProgressLine()
    engine, sha = open_engine(repo, rev, settings.triage_data_dir, progress.phase)
    engine.warm(sha)
    progress.clear()
    return Answerer(engine, sha, sources)


def _asked() -> Iterator[str]:
    """Yield questions from standard input: one per line; one that starts with a stack trace ends at an empty line."""
    waiting: list[str] = []
    for line in sys.stdin:
        line_text = line.rstrip("\n")
        if not waiting and line_text.strip().lower() in _LEAVE:
            return
        if line_text.strip() and (waiting or line_text.lstrip().startswith(_TRACE)):
            waiting.append(line_text)
            continue
        if waiting or line_text.strip():
            yield "\n".join([*waiting, line_text]).strip()
        waiting = []
    if waiting:
        yield "\n".join(waiting)


def _lines(reply: QuestionReply) -> Iterator[str]:
    yield from (f"  {line}" for line in (*reply.people, *reply.changes))
    for place in reply.places:
        symbol = f"  {place.symbol}" if place.symbol else ""
        yield from ("", f"{place.path}:{place.start_line}-{place.end_line}{symbol}")
        yield from (f"    {why}" for why in (place.why,) if why)
        yield from (f"  {at:>5} | {line}" for at, line in enumerate(place.quote.split("\n"), place.start_line))
    for result in reply.results:
        yield from ("", f"  {result.locator.url or ''}")
        yield from (f"    {line}" for line in result.quote.split("\n")[:8])
    yield from (f"  ({note})" for note in reply.notes)
