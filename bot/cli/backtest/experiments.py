"""Send a backtest's results to LangSmith as experiments, one for each judge, if its key is set."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from bot.cli.backtest.case import Case
from bot.cli.backtest.run import Found, Judge
from bot.cli.backtest.table import figures
from nodes.trust.secrets import mask

_KEYS = ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY")
_PATH = "/datasets/upload-experiment"
"""For experiments that ran elsewhere: https://docs.langchain.com/langsmith/upload-existing-experiments."""
_PATIENCE = 30.0
"""Seconds for one experiment."""


def has_key(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether LangSmith's key is set. Without it this module imports and sends nothing of LangSmith."""
    return any(environ.get(name, "").strip() for name in _KEYS)


def send(found: Found, *, text: bool) -> str:
    """Send one experiment for each judge, and return one line about it.

    Args:
        found: the backtest's result.
        text: whether titles and paths are sent too, with secrets masked.
    """
    from langsmith import Client
    from langsmith.utils import LangSmithError

    client = Client(auto_batch_tracing=False)
    try:
        for judge in found.judges:
            body = json.dumps(experiment(found, judge, datetime.now(UTC), text=text))
            client.request_with_retries("POST", _PATH, data=body, timeout=_PATIENCE).raise_for_status()
    except (LangSmithError, OSError) as error:  # those of requests are OSErrors
        return f"LangSmith did not accept the experiment: {' '.join(mask(str(error)).split())[:200]}"
    finally:
        client.close()
    return f"sent to LangSmith: the dataset `{_dataset(found)}`, {len(found.judges[0].cases)} issues by each judge"


def experiment(found: Found, judge: Judge, now: datetime, *, text: bool) -> dict[str, Any]:
    """Return the experiment of one judge in the form of LangSmith's endpoint.

    A row's id depends on the repository and the issue only, so LangSmith compares experiments row by row.
    """
    start = now - timedelta(seconds=sum(case.seconds for case in judge.cases))
    rows, begins = [], start
    for case in judge.cases:
        ends = begins + timedelta(seconds=case.seconds)
        rows.append(_row(found, case, text=text) | {"start_time": begins.isoformat(), "end_time": ends.isoformat()})
        begins = ends
    known = figures(judge)
    scores = {f"hit@{k}": share for k, share in known["hits"].items()} | {"claimed": known["claims"]["made"]}
    return {
        "experiment_name": f"{judge.name} {found.tip[:10]} {now:%Y-%m-%d %H:%M:%S}",
        "dataset_name": _dataset(found),
        "experiment_start_time": start.isoformat(),
        # Rows must lie within it, however they are rounded.
        "experiment_end_time": (max(now, begins) + timedelta(seconds=1)).isoformat(),
        "experiment_metadata": {"judge": judge.name, "commit": found.tip, "texts": found.texts, **known["cost"]},
        "summary_experiment_scores": [{"key": key, "score": score} for key, score in scores.items()],
        "results": rows,
    }


def _row(found: Found, case: Case, *, text: bool) -> dict[str, Any]:
    issue: dict[str, Any] = {"issue": case.number, "commit": case.base}
    fixed: dict[str, Any] = {"fix": case.fix, "files": len(case.gold)}
    named: dict[str, Any] = {"kind": case.kind, "confidence": case.confidence, "claims": case.claims, "rank": case.rank}
    if text:
        issue["title"] = mask(case.title)
        fixed["paths"], named["paths"] = list(case.gold), list(case.ranked)
    scores = {"first_file": case.right, "first_five": 0 < case.rank <= 5, "first_line": case.place_rank == 1}
    if case.claims:
        scores["claim"] = case.right
    return {
        "row_id": str(uuid5(NAMESPACE_URL, f"{_dataset(found)}#{case.number}")),
        "run_name": "triage",
        "inputs": issue,
        "expected_outputs": fixed,
        "actual_outputs": named,
        "evaluation_scores": [{"key": key, "score": float(value)} for key, value in scores.items()],
        "run_metadata": {"calls": case.calls, "tokens": case.tokens},
    }


def _dataset(found: Found) -> str:
    return f"tracehound {found.repository}"
