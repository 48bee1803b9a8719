"""``triage backtest``: measure triage on the repository's own past fixes."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from bot.cli.local.progress import Progress, resumable
from bot.cli.local.repository import Storage, open_engine

if TYPE_CHECKING:
    from bot.cli.backtest.ask import Options, Outcome
    from bot.settings import Settings

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}/[A-Za-z0-9._][A-Za-z0-9._-]{0,99}")
_EVERY = 10
"""Cases between two progress lines if stderr is not a terminal."""


@click.command("backtest")
@click.option("--repo", required=True, help="A git repository with its history, bare or not; it is not changed.")
@click.option("--rev", default="HEAD", show_default=True, help="The branch to search for fixes.")
@click.option("--since", metavar="DATE", help="Only fixes committed since this date, such as 2026-01-31.")
@click.option("--issues", type=click.Path(path_type=Path), metavar="FILE", help="Issue texts, as JSON lines.")
@click.option(
    "--github", metavar="OWNER/REPO", help="Read the issue texts from GitHub, with GITHUB_TOKEN if it is set."
)
@click.option(
    "--corrections",
    metavar="OWNER/REPO",
    help="Also use what people corrected on the server whose store the settings name.",
)
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 5_000), help="The maximum number of issues."
)
@click.option(
    "--target",
    default=80.0,
    show_default=True,
    type=click.FloatRange(1, 100),
    help="The target precision: the percentage of first files that must be correct above the threshold.",
)
@click.option(
    "--brain",
    type=click.Choice(["rules", "llm", "auto", "both"]),
    help="The brain, as in `triage run`; both = rules and the model, compared issue by issue.",
)
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take the model's responses from a recording; needs no key and no endpoint.",
)
@click.option(
    "--agreement",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to store the table of agreement that is fitted to the model; default: agreement.json in "
    "TRIAGE_DATA_DIR, and nowhere with --replay.",
)
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE.svg", help="Write a plot to this file.")
@click.option("--fresh", is_flag=True, help="Discard the stored results of an earlier backtest, finished or not.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: hits, calibration, threshold, cost, every case.")
def command(
    *,
    repo: str,
    rev: str,
    since: str | None,
    issues: Path | None,
    github: str | None,
    corrections: str | None,
    limit: int,
    target: float,
    brain: Literal["rules", "llm", "auto", "both"] | None,
    replay: Path | None,
    agreement: Path | None,
    plot: Path | None,
    fresh: bool,
    as_json: bool,
) -> None:
    """Measure triage on this repository: triage the issues of past fixes without knowledge of the fixes.

    Uses the newest --limit commits of the main line that close an issue (`fixes #1`, `closes GH-1`, a merge of such a
    commit; else a number in the first line). Each issue is triaged at the commit before its fix, and only code and
    history up to that commit are read. A suspect is right if it is a source file, not a test, that the fix changed.

    Issue texts come from --issues (lines of {"number", "title", "body", "created_at"}) or from --github. Without
    either, the fixes' commit messages serve as issue texts, and the output says so.

    With --corrections, each `/triage wrong <why>` whose reason names a file is a case too, unless its fix is known: the
    issue is triaged at the commit of the wrong report, and the named file is right. Texts come from the server first.

    With --brain both, each issue is triaged by rules and with the model, and a table states what the model fixed and
    broke, whether chance may explain it, and what it cost. With a model, every request and response is stored in a
    file, without keys and with secrets masked; --replay repeats the backtest from that file. Enough readings by the
    model fit the table of agreement, which decides what later runs with this model may claim.

    After an interruption, the same command resumes.
    """
    asked = _asked(since, issues, github, limit, target / 100, fresh=fresh, brain=brain, replay=replay)
    settings, given = _settings(repo, brain, replay), replace(asked, corrections=corrections)
    with resumable(Progress()) as progress:
        outcome = _answered(repo, rev, settings, given, progress)
    if plot is not None:
        _draw(outcome, plot)
    _store_agreement(outcome, agreement, None if replay else settings.triage_data_dir)
    _name_recording(outcome, replay)
    click.echo(_printed(outcome, as_json=as_json))


def _name_recording(outcome: Outcome, replay: Path | None) -> None:
    """Say where the model's requests are stored, unless they were read from there."""
    if outcome.recording is not None and replay is None:
        click.echo(f"the model's requests are stored in {outcome.recording}; replay them with --replay", err=True)


def _settings(repo: str, brain: str | None, replay: Path | None) -> Settings:
    """Return the operator's settings with the brain of the command line; a replay needs the model's."""
    from bot.settings import load_settings  # noqa: PLC0415  as above

    settings = load_settings(repo)
    if brain is None and replay is None:
        return settings
    return settings.model_copy(update={"triage_brain": "llm" if brain in (None, "both") else brain})


def _store_agreement(outcome: Outcome, wanted: Path | None, data: Path | None) -> None:
    """Store a table of agreement that was fitted, in the wanted file or the data directory, and say where."""
    from bot.cli.backtest.agreement import store  # noqa: PLC0415  --help needs no engine
    from bot.runs.model import AGREEMENT  # noqa: PLC0415  as above

    fitted, file = outcome.about.agreement, wanted or (data and data / AGREEMENT)
    if fitted is not None and fitted.after is not None and file is not None:
        store(fitted.after, file)
        click.echo(f"the table of agreement is stored in {file}; remove the file for the shipped one", err=True)


def _printed(outcome: Outcome, *, as_json: bool) -> str:
    from bot.cli.backtest import paired, summary  # noqa: PLC0415  as above

    if len(outcome.found) == 2:
        engine, model = outcome.found
        if as_json:
            return json.dumps(paired.as_document(engine, model, outcome.about), indent=1)
        return paired.as_text(engine, model, outcome.about)
    (found,) = outcome.found
    if as_json:
        return json.dumps(summary.as_document(found, outcome.about), indent=1)
    return summary.as_text(found, outcome.about)


def _asked(
    since: str | None,
    issues: Path | None,
    github: str | None,
    limit: int,
    target: float,
    *,
    fresh: bool,
    brain: str | None,
    replay: Path | None,
) -> Options:
    from bot.cli.backtest.ask import Options  # noqa: PLC0415  as above
    from bot.errors import UserError  # noqa: PLC0415

    if issues and github:
        raise UserError("--issues and --github exclude each other: give one of them")
    if github and not _NAME.fullmatch(github):
        raise UserError(f"--github {github}: write owner/name")
    if replay and brain not in (None, "llm", "both"):
        raise UserError(f"--replay needs a model's recording, so --brain {brain} excludes it: give llm or both")
    if replay and fresh:
        raise UserError("--replay and --fresh exclude each other: a replay changes no recording")
    return Options(_day(since), issues, github, limit, target, fresh, brain == "both", replay)


def _answered(repo: str, rev: str, settings: Settings, given: Options, progress: Progress) -> Outcome:
    from bot.cli.backtest.ask import answer  # noqa: PLC0415  as above

    engine, tip = open_engine(repo, rev, Storage.of(settings), progress.phase)

    def show_progress(done: int, total: int, phase: str) -> None:
        if sys.stderr.isatty():
            progress.phase(f"backtest {done}/{total} {phase}" if total else phase, 0, 0)
        elif total and (done % _EVERY == 0 or done == total):
            click.echo(f"backtest: {done} of {total} issues", err=True)

    return asyncio.run(answer(engine, tip, settings, given, show_progress))


def _draw(outcome: Outcome, file: Path) -> None:
    """Draw the figures of the brain, or of the model if both judged."""
    from bot.cli.backtest.plot import draw  # noqa: PLC0415  as above
    from bot.cli.backtest.score import calibration, recommend  # noqa: PLC0415
    from bot.errors import UserError  # noqa: PLC0415

    about, pairs = outcome.about, calibration(outcome.found[-1].cases)
    picture = draw(pairs, recommend(pairs, about.target), f"{about.repository}: {len(pairs)} past fixes, triaged blind")
    try:
        file.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from error


def _day(written: str | None) -> int:
    from datetime import UTC, datetime  # noqa: PLC0415  as above

    from bot.errors import UserError  # noqa: PLC0415

    if written is None:
        return 0
    try:
        when = datetime.fromisoformat(written)
    except ValueError as error:
        raise UserError(f"--since {written}: write a date, such as 2026-01-31") from error
    return int(when.replace(tzinfo=when.tzinfo or UTC).timestamp())
