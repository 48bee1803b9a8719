"""``triage run``: triage one issue, ask its questions on the terminal and print the report."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from bot.cli.local.issue_text import IssueText, LocatedIssue, fetch, issue_of
from bot.cli.local.repository import ProgressLine, data_directory, open_engine, resumable, settings_for
from bot.cli.options import BRAIN, REV, NamedIssue, names_issue, prints
from bot.errors import UserError
from bot.files import repository_around
from bot.report.languages.codes import ENGLISH, LANGUAGES
from nodes.limits import CANDIDATES

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from bot.report.explain import Account
    from bot.settings.environment import Settings
    from bot.settings.operator import OperatorConfig
    from nodes.context.ports import CodePort, PastPort
    from nodes.run import Ask
    from nodes.state import Answer, HumanExchange, Waiting

MAX_ANSWER = 1_000
"""Characters of an answer; the rest is cut off."""
Format = Literal["md", "json", "ticket", "prompt", "sarif"]


@click.command("run")
@names_issue
@REV
@BRAIN
@prints(
    "report, trace and metrics; ",
    *("md", "ticket", "prompt", "sarif"),
    more="md: the comment (laid out on a terminal); ticket: a tracker's draft; prompt: a brief for a coding agent; "
    "sarif: the places as SARIF 2.1.0.",
)
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    default=ENGLISH,
    show_default=True,
    help="The language of the comment, and of the text that a model writes.",
)
@click.option(
    "--issues",
    metavar="FILE",
    help="Earlier issues to compare with, without this one: JSON lines with number, title, body, state and url.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Explain the run: path, evidence, guards, dropped claims, scores, retries, model and cost.",
)
@click.option(
    "--interactive",
    is_flag=True,
    help="Answer the run's questions on the terminal; without this option they are listed in the report.",
)
@click.option("--verbose", is_flag=True, help="Print one line per step on stderr, even if it is not a terminal.")
def command(
    *,
    named: NamedIssue,
    rev: str,
    brain: Literal["rules", "llm", "auto"] | None,
    form: Format,
    language: str,
    issues: str | None,
    explain: bool,
    interactive: bool,
    verbose: bool,
) -> None:
    """Triage one issue against a repository and print the report; nothing is posted to GitHub.

    ISSUE is a file, - for standard input, owner/repo#n, the address of an issue's page, or in a clone just its number.

    \b
    triage run 42
    triage run https://github.com/owner/repo/issues/5
    triage run issue.md
    triage run --repo ~/src/app --text "KeyError in parse() on empty input"

    An issue on GitHub is read with GITHUB_TOKEN, or as the App if its settings are set. Its repository is fetched to
    TRIAGE_DATA_DIR, unless --repo names a clone. After Ctrl-C the same command resumes the run.
    """
    given, repo = issue_of(named, _current_repository)
    with resumable(ProgressLine(verbose=verbose)) as progress, contextlib.ExitStack() as opened:
        local = None if isinstance(given, str) else LocatedIssue(given, str(repo))
        # Before the settings, whose libraries this process imports while another one searches.
        code = local and opened.enter_context(_code(local, rev, data_directory(local.repository), progress))
        settings = settings_for(repo, brain)
        from bot.settings.operator import load_operator_config
        from nodes.trust.secrets import holds_token

        operator, past = load_operator_config(settings, repo), _earlier(issues)
        where = local or fetch(str(given), repo, settings, progress)
        code = code or opened.enter_context(_code(where, rev, settings.triage_data_dir, progress))
        # Before the report, which masks the token: everybody who has the text can use it.
        if holds_token(f"{where.text.title}\n{where.text.body}"):
            click.echo("the issue contains what looks like a live token or key: revoke it", err=True)
        ask = TerminalQuestions(progress).ask if interactive else None
        running = _running(where, code, settings, operator, ask=ask, language=language, past=past, progress=progress)
        account = asyncio.run(running)
    shown = _rendered(account, where.text, form, explain=explain)
    click.echo(shown, color=False if os.environ.get("NO_COLOR") else None)


def _running(
    where: LocatedIssue,
    code: CodePort,
    settings: Settings,
    operator: OperatorConfig,
    *,
    ask: Ask | None,
    language: str,
    past: PastPort | None,
    progress: ProgressLine,
) -> Coroutine[Any, Any, Account]:
    """Return the run of a report; without ``ask`` its questions stay in the result."""
    from pydantic import BaseModel

    # LangChain and LangSmith define a hundred models, and a run by rules uses a few of them.
    BaseModel.model_config["defer_build"] = True
    from bot.report.comment.markdown import MarkdownRenderer
    from bot.runs.context import withdraw
    from bot.runs.local import triage
    from bot.runs.logs import LogReader

    return triage(
        code,
        where.repository,
        title=where.text.title,
        body=where.text.body,
        settings=settings,
        operator=operator,
        ask=ask or withdraw,
        language=language,
        logs=LogReader(operator.logs, settings.github_server_url) if where.origin is not None else None,
        renderer=where.renderer or MarkdownRenderer(),
        origin=where.origin,
        past=past,
        listener=progress.node,
    )


def _earlier(file: str | None) -> PastPort | None:
    if file is None:
        return None
    from bot.runs.past import read_listed

    return read_listed(file)


def _current_repository() -> str:
    """Return the repository around the current folder; UserError if the folder is in none."""
    around = repository_around(Path.cwd())
    if around is None:
        raise UserError("this folder is in no git repository: name one with --repo, or an issue on GitHub")
    return str(around)


@contextlib.contextmanager
def _code(where: LocatedIssue, rev: str, data_dir: Path, progress: ProgressLine) -> Iterator[CodePort]:
    """Open the clone at a commit, or a substitute if the repository could not be fetched; the report then says so."""
    if where.no_code is not None:
        progress.clear()
        click.echo(f"the code of {where.repository} could not be read: {where.no_code.reason}", err=True)
        yield where.no_code
        return
    from bot.runs.apart import CodeApart, is_possible
    from bot.runs.code import EngineCode
    from nodes.search.types import Query

    code = EngineCode(*open_engine(where.repository, rev, data_dir, progress.phase))
    # If nothing can be stored, only that error is reported, and no file that could not be cached.
    if not is_possible() or not os.access(data_dir, os.W_OK):
        yield code
        return
    with contextlib.closing(CodeApart(code)) as apart:
        progress.phase("searching", 0, 0)
        query = Query(where.text.title, where.text.body, limit=CANDIDATES)
        # What a run asks first, while this process imports the libraries of the graph.
        for method, *given in (("forms",), ("find", query), ("survey", query), ("prepare_history", query)):
            apart.ask_ahead(method, *given)
        yield cast("CodePort", apart)


def _rendered(account: Account, issue: IssueText, form: Format, *, explain: bool) -> str:
    result = account.result
    if form == "json":
        whole = result.model_copy(update={"gathered": account.evidence}) if explain else result
        return whole.model_dump_json(indent=2)
    if form == "sarif":
        from bot.report.sarif import as_sarif

        return as_sarif(result.report, issue.title)
    if form == "prompt":
        from bot.report.brief import brief

        output = brief(result.report, issue.title, issue.body)
    elif form == "ticket":
        ticket = result.report.ticket
        fields = "\n".join(f"{name}: {value}" for name, value in ticket.fields.items())
        output = f"# {ticket.title}\n\n{ticket.body}\n\n{fields}".rstrip()
    else:
        output = result.report.github_comment.rstrip("\n")
    if explain:
        from bot.report.explain import render_markdown

        output += f"\n\n{render_markdown(account)}"
    if form != "md" or not sys.stdout.isatty():
        return output
    from bot.report.terminal import render_terminal

    return render_terminal(output)


class TerminalQuestions:
    """Ask on standard error, so that standard output contains only the report."""

    def __init__(self, progress: ProgressLine) -> None:
        self._progress = progress
        self._asked = 0

    async def ask(self, waiting: Waiting) -> Answer:
        """Return one answer; a question that is not answered is withdrawn and stays in the report."""
        exchange = waiting.exchange
        self._progress.clear()
        self._asked += 1
        self._show(exchange)
        try:
            typed = await _line()
        except asyncio.CancelledError:
            click.echo(err=True)  # end the prompt's line before any later output
            raise
        from nodes.state import Answer

        named = {str(number): option for number, option in enumerate(exchange.options, 1)}
        text = named.get(typed.strip(), typed.strip())
        return Answer(text=text[:MAX_ANSWER] or None, answered_by="you" if text else None)

    def _show(self, exchange: HumanExchange) -> None:
        click.secho(f"\nQuestion {self._asked}: {exchange.question}", bold=True, err=True)
        if exchange.context:
            click.echo(f"  {exchange.context}", err=True)
        if exchange.reason:
            click.echo(f"  Why: {exchange.reason}", err=True)
        for number, option in enumerate(exchange.options, 1):
            click.echo(f"  {number}) {option}", err=True)
        click.echo("Answer (a number, your own words, or Enter to skip): ", nl=False, err=True)


async def _line() -> str:
    """Read a line of standard input in a daemon thread, which is never joined, so that Ctrl-C works without Enter."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[bytes] = loop.create_future()

    def settle(typed: bytes) -> None:
        if not line.done():
            line.set_result(typed)

    def read() -> None:
        typed = _read_line(sys.stdin.fileno())
        with contextlib.suppress(RuntimeError):  # the run was stopped, and its event loop is closed
            loop.call_soon_threadsafe(settle, typed)

    threading.Thread(target=read, daemon=True).start()
    return (await line).decode(errors="replace")


def _read_line(descriptor: int) -> bytes:
    """Read a line byte by byte without Python's buffer: a waiting thread would hold its lock while Python exits."""
    line = bytearray()
    while (byte := os.read(descriptor, 1)) and byte != b"\n":
        line += byte
    return bytes(line)
