"""``triage stats`` with a server's store."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli.group import cli
from bot.jobs import Triage
from bot.ports import IssueRef
from bot.store.databases.sqlite import SqliteStore
from bot.store.jobs.deliveries import Arrival
from bot.store.runs.issue_runs import Settlement
from bot.store.runs.outcomes import Reported, Verdict


async def fill(path: Path, count: int) -> None:
    """Store reports with a confidence of 90 %, of which every second one named the fixed file."""
    store = SqliteStore(path)
    for number in range(1, count + 1):
        ref = IssueRef("github.com", 7, 9, "octo", "parser", number)
        await store.installations.add([ref.repository])
        await store.inbox.accept(Arrival(ref.key, "issues", b"", (Triage(ref=ref, why="opened"),)))
        job = await store.jobs.claim("run", "me")
        assert job is not None
        issue = store.for_issue(ref)
        run = await issue.runs.begin(())
        reported = Reported(claimed=True, confidence=0.9, named=("a.py",))
        await issue.runs.settle(run.number, Settlement("finished", reported=reported), job)
        await issue.outcome.keep(Verdict("scored", number % 2))
        await issue.control.labelled("bug", "rita", added=False)
    await store.aclose()


@pytest.mark.parametrize(
    ("count", "by", "expected"),
    [
        pytest.param(4, "shipped", "the shipped calibration, because fewer than 30 fixes are known", id="few"),
        pytest.param(30, "this repository", "its 30 known fixes", id="enough"),
    ],
)
def test_it_prints_counts_and_the_calibration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, by: str, expected: str
) -> None:
    asyncio.run(fill(tmp_path / "store.db", count))
    monkeypatch.setenv("TRIAGE_DATA_DIR", str(tmp_path))
    text = CliRunner().invoke(cli, ["stats"]).stdout
    assert expected in text
    assert f"{count // 2}/{count}" in text
    assert f"Feedback by people: {count} labels removed." in text
    (document,) = json.loads(CliRunner().invoke(cli, ["stats", "--json"]).stdout)
    assert document["repository"] == "octo/parser"
    assert (document["reports"], document["scored"], document["first"]) == (count, count, count // 2)
    assert document["confidence_words_by"] == by
    assert document["feedback"]["labels_removed"] == count
    assert json.loads(CliRunner().invoke(cli, ["stats", "octo/other", "--json"]).stdout) == []
