"""``triage backtest``: measure triage on past fixes, fit the table of agreement to a model, and send the results."""

import asyncio
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from uuid import NAMESPACE_URL, uuid5

import click

from bot.cli.backtest.run import BacktestResult, Judge, PastCase, backtest
from bot.cli.backtest.table import as_document, as_text, figures
from bot.cli.local.repository import ProgressLine, open_engine, resumable
from bot.cli.options import BRAIN, REPO, REV, prints
from bot.errors import UserError
from bot.runs.model import AGREEMENT
from bot.settings.environment import load_settings
from nodes.context.agreement import RELATIONS, AgreementTable, Opinions, Relation, load_table, opinions_from
from nodes.trust.secrets import mask

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}/[A-Za-z0-9._][A-Za-z0-9._-]{0,99}")
_EVERY = 10
"""Cases between two progress lines if stderr is not a terminal."""
LEAST = 20
"""Readings in a conversation below which no table of agreement is fitted."""
WEIGHT = 5
"""Number of readings for which the shipped value counts, so that a few outcomes change it little."""
_UPLOAD = "/datasets/upload-experiment"
"""The path of LangSmith for experiments that ran elsewhere: https://docs.langchain.com/langsmith/upload-existing-experiments."""


@click.command("backtest")
@REPO
@REV
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
@BRAIN
@prints("hits, calibration, threshold, cost, every case.")
def command(
    *,
    repo: str,
    rev: str,
    issues: Path | None,
    github: str | None,
    corrections: str | None,
    limit: int,
    target: float,
    brain: Literal["rules", "llm", "auto"] | None,
    as_json: bool,
) -> None:
    """Measure triage on this repository: triage the issues of past fixes without knowledge of the fixes.

    Uses the newest --limit commits of the main line that close an issue (`fixes #1`, `closes GH-1`, a merge of such a
    commit; else a number in the first line). Each issue is triaged at the commit before its fix, and only code and
    history up to that commit are read. A suspect is right if it is a source file, not a test, that the fix changed.

    Issue texts come from --issues (lines of {"number", "title", "body", "created_at"}) or from --github, else from the
    messages of the fixes. With --corrections, each `/triage wrong <why>` whose reason names a file is a case too, at
    the commit of the wrong report, unless its fix is known.

    With a model, the table has a column for it and one for rules, and enough readings fit the table of agreement,
    which decides what later runs with this model may claim. With LANGSMITH_API_KEY, the results are also sent to
    LangSmith. After an interruption, the same command resumes.
    """
    if issues and github:
        raise UserError("--issues and --github exclude each other: give one of them")
    if github and not _NAME.fullmatch(github):
        raise UserError(f"--github {github}: write owner/name")
    settings = load_settings(repo).model_copy(update={"triage_brain": brain} if brain else {})
    with resumable(ProgressLine()) as progress:
        engine, tip = open_engine(repo, rev, settings.triage_data_dir, progress.phase)
        running = backtest(
            engine, tip, settings, _shown(progress), issues=issues, github=github, corrections=corrections, limit=limit
        )
        found = asyncio.run(running)
    _store_agreement(found.judges[-1], settings.triage_data_dir / AGREEMENT)
    if sent := send(found, text=settings.triage_trace_text):
        click.echo(sent, err=True)
    click.echo(json.dumps(as_document(found, target / 100), indent=1) if as_json else as_text(found, target / 100))


def reading(numbers: Mapping[str, float] | None) -> Opinions | None:
    """Return the opinions in the trace of a run; None if the model read no lines."""
    opinions = opinions_from(numbers, approved=bool(numbers.get("approved"))) if numbers else None
    return opinions if opinions is not None and opinions.read else None


def fit(readings: Sequence[tuple[Opinions, bool]], model: str) -> AgreementTable | None:
    """Return a model's shares of readings whose file was fixed, shrunk to the shipped ones; None if too few."""
    if len(readings) < LEAST:
        return None
    shipped = load_table()
    counted, right = Counter[object](), Counter[object]()
    for opinions, is_right in readings:
        cell = (opinions.relation, *shipped.cell(opinions.search, opinions.model))
        counted[cell] += 1
        right[cell] += is_right

    def fitted(relation: Relation, row: str, column: int, value: float) -> float:
        cell = relation, row, column
        # Rounded down, because a claim needs a minimum.
        share = int(100 * (right[cell] + WEIGHT * value) / (counted[cell] + WEIGHT) + 1e-9) / 100
        return share if counted[cell] else value

    rows = {
        str(relation): {
            row: tuple(fitted(relation, row, column, value) for column, value in enumerate(values))
            for row, values in getattr(shipped, relation).items()
        }
        for relation in RELATIONS
    }
    head = {"fitted": f"on {len(readings)} runs of {model}", "model": model[:200], "cases": len(readings)}
    return shipped.model_copy(update={**rows, **head})


def store(table: AgreementTable, file: Path) -> None:
    """Store a table; raise UserError if the file cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{table.model_dump_json(indent=1)}\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from error


def send(found: BacktestResult, *, text: bool) -> str:
    """Send an experiment for each judge, with titles and paths if ``text``; return a line about it, or nothing."""
    has_key = any(os.environ.get(name, "").strip() for name in ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"))
    if not has_key or not found.judges[0].cases:
        return ""
    from langsmith import Client
    from langsmith.utils import LangSmithError

    client = Client(auto_batch_tracing=False)
    try:
        for judge in found.judges:
            body = json.dumps(experiment(found, judge, text=text))
            client.request_with_retries("POST", _UPLOAD, data=body, timeout=30.0).raise_for_status()
    except (LangSmithError, OSError) as error:  # those of requests are OSErrors
        return f"LangSmith did not accept the experiment: {' '.join(mask(str(error)).split())[:200]}"
    finally:
        client.close()
    return f"sent to LangSmith: the dataset `{_dataset(found)}`, {len(found.judges[0].cases)} issues by each judge"


def experiment(found: BacktestResult, judge: Judge, *, text: bool) -> dict[str, Any]:
    """Return the experiment of one judge in the form of LangSmith's endpoint."""
    now = datetime.now(UTC)
    start = at = now - timedelta(seconds=sum(case.seconds for case in judge.cases))
    rows = []
    for case in judge.cases:
        times = {"start_time": at.isoformat(), "end_time": (at := at + timedelta(seconds=case.seconds)).isoformat()}
        rows.append(_row(found, case, text=text) | times)
    known = figures(judge)
    scores = {f"hit@{k}": share for k, share in known["hits"].items()} | {"claimed": known["claims"]["made"]}
    return {
        "experiment_name": f"{judge.name} {found.tip[:10]} {now:%Y-%m-%d %H:%M:%S}",
        "dataset_name": _dataset(found),
        "experiment_start_time": start.isoformat(),
        # Rows must lie within it, however they are rounded.
        "experiment_end_time": (max(now, at) + timedelta(seconds=1)).isoformat(),
        "experiment_metadata": {"judge": judge.name, "commit": found.tip, "texts": found.texts, **known["cost"]},
        "summary_experiment_scores": [{"key": key, "score": score} for key, score in scores.items()],
        "results": rows,
    }


def _store_agreement(model: Judge, file: Path) -> None:
    """Store the table that a model's readings are enough for, if they are."""
    readings = [(opinions, case.right) for case in model.cases if (opinions := reading(case.opinions)) is not None]
    if (table := fit(readings, model.name)) is not None:
        store(table, file)
        click.echo(f"the table of agreement is stored in {file}; remove the file for the shipped one", err=True)


def _row(found: BacktestResult, case: PastCase, *, text: bool) -> dict[str, Any]:
    issue = {"issue": case.number, "commit": case.base} | ({"title": mask(case.title)} if text else {})
    fixed = {"fix": case.fix, "files": len(case.gold)} | ({"paths": case.gold} if text else {})
    named = {"kind": case.kind, "confidence": case.confidence, "claims": case.claims, "rank": case.rank}
    scores = {"first_file": case.right, "first_five": 0 < case.rank <= 5, "first_line": case.place_rank == 1}
    scores |= {"claim": case.right} if case.claims else {}
    return {
        # It depends on the repository and the issue only, so LangSmith compares experiments row by row.
        "row_id": str(uuid5(NAMESPACE_URL, f"{_dataset(found)}#{case.number}")),
        "run_name": "triage",
        "inputs": issue,
        "expected_outputs": fixed,
        "actual_outputs": named | ({"paths": case.ranked} if text else {}),
        "evaluation_scores": [{"key": key, "score": float(value)} for key, value in scores.items()],
        "run_metadata": {"calls": case.calls, "tokens": case.tokens},
    }


def _dataset(found: BacktestResult) -> str:
    return f"tracehound {found.repository}"


def _shown(progress: ProgressLine) -> Callable[[int, int, str], None]:
    def show(done: int, total: int, phase: str) -> None:
        if sys.stderr.isatty():
            progress.phase(f"backtest {done}/{total} {phase}" if total else phase, 0, 0)
        elif total and (done % _EVERY == 0 or done == total):
            click.echo(f"backtest: {done} of {total} issues", err=True)

    return show
