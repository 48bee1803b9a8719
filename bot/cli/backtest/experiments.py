"""Send a backtest's results to LangSmith as experiments, one for each judge, if its key is set."""

import json
import os
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from bot.cli.backtest.run import Case, Found, Judge
from bot.cli.backtest.table import figures
from nodes.trust.secrets import mask

_PATH = "/datasets/upload-experiment"
"""For experiments that ran elsewhere: https://docs.langchain.com/langsmith/upload-existing-experiments."""


def send(found: Found, *, text: bool) -> str:
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
            client.request_with_retries("POST", _PATH, data=body, timeout=30.0).raise_for_status()
    except (LangSmithError, OSError) as error:  # those of requests are OSErrors
        return f"LangSmith did not accept the experiment: {' '.join(mask(str(error)).split())[:200]}"
    finally:
        client.close()
    return f"sent to LangSmith: the dataset `{_dataset(found)}`, {len(found.judges[0].cases)} issues by each judge"


def experiment(found: Found, judge: Judge, *, text: bool) -> dict[str, Any]:
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


def _row(found: Found, case: Case, *, text: bool) -> dict[str, Any]:
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


def _dataset(found: Found) -> str:
    return f"tracehound {found.repository}"
