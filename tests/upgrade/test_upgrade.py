"""Runs that waited for an answer during an upgrade are resumed by this release."""

from __future__ import annotations

import base64
import gzip
import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import ValidationError

from bot.errors import RetryableError
from bot.settings.environment import Settings
from bot.store.databases.checkpoints import open_saver
from bot.worker.runs.graph import _GraphRun
from nodes.evidence import Evidence
from nodes.graph import build_graph
from nodes.report import TriageReport
from nodes.run import advance, initial_state
from nodes.state import CURRENT_SCHEMA_VERSION, Answer, Finished, Waiting, checkpoints
from tests.support.fakes import SHA, FakeEvidence, ScriptedBrain, context, decide
from tests.upgrade.keep import THREAD, wait_in

KEPT = {path.name.removesuffix(".json.gz"): path for path in sorted((Path(__file__).parent / "kept").glob("*.gz"))}


def test_every_version_of_the_state_is_saved_for_both_databases() -> None:
    wanted = {(str(version), kind) for version in range(CURRENT_SCHEMA_VERSION + 1) for kind in ("sqlite", "postgres")}
    assert {tuple(name.split("-")[:2]) for name in KEPT} == wanted, "keep.py keeps today's"


@pytest.mark.parametrize("name", KEPT)
async def test_a_waiting_run_continues_after_the_upgrade(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kept = json.loads(gzip.decompress(KEPT[name].read_bytes()))
    on_postgres = name.split("-")[1] == "postgres"
    url = request.getfixturevalue("url") if on_postgres else None
    settings = Settings(triage_data_dir=tmp_path, database_url=url)
    async with open_saver(settings) as saver:
        await _put_back(saver, settings, kept["tables"])
    async with open_saver(settings) as saver:
        evidence = FakeEvidence()
        await evidence.put([Evidence.model_validate_json(body) for body in kept["evidence"].values()])
        given = context(ScriptedBrain([decide("critic"), decide("writer")]), evidence=evidence)
        start, graph = initial_state("another", "text", repository="o/r", sha=SHA), build_graph(saver)
        still = await advance(graph, given, THREAD, start)
        assert isinstance(still, Waiting)
        assert (still.exchange.question, still.exchange.question_id) == ("Which version?", kept["question"])
        answer = Answer(text="2", answered_by="rita")
        done = await advance(graph, given, THREAD, start, answer=answer, question_id=kept["question"])
    assert isinstance(done, Finished)
    assert (done.state.schema_version, done.state.issue_title) == (CURRENT_SCHEMA_VERSION, "scan hangs")
    assert [exchange.answer for exchange in done.state.human_exchanges] == ["2"]
    assert done.state.report is not None
    assert done.state.report.suspects


def test_a_stored_fact_of_a_kind_that_is_gone_is_read() -> None:
    says = "The unreleased part of `CHANGES.md` has this entry: “Fix `scan`”."
    stored = {"facts": [{"kind": "fixed_since", "says": says, "words": "scan", "path": "CHANGES.md", "line": 3}]}
    report = TriageReport.model_validate(stored)
    assert [(fact.says, fact.line) for fact in report.facts] == [(says, 3)]
    with pytest.raises(ValidationError):
        TriageReport.model_validate({"facts": [{"kind": [], "says": 1}]})


async def test_a_run_of_a_newer_release_is_not_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker of the previous release works together with those of this one; a new run would lose the answers."""
    async with open_saver(Settings(triage_data_dir=tmp_path)) as saver:
        await wait_in(saver, before_versions=False)
        monkeypatch.setattr(checkpoints, "CURRENT_SCHEMA_VERSION", CURRENT_SCHEMA_VERSION - 1)
        store = SimpleNamespace(thread=lambda _number: THREAD)
        issue_job: Any = SimpleNamespace(tools=SimpleNamespace(graph=build_graph(saver)), store=store)
        unread: Any = SimpleNamespace(number=1)
        with pytest.raises(RetryableError, match="saved by a newer release"):
            await _GraphRun(issue_job, unread, unread, unread, unread).advance()


async def _put_back(
    saver: BaseCheckpointSaver[Any], settings: Settings, tables: Mapping[str, list[dict[str, Any]]]
) -> None:
    if settings.database_url is None:
        await saver.aget_tuple({"configurable": {"thread_id": THREAD}})  # creates the tables
        db = sqlite3.connect(settings.triage_data_dir / "checkpoints.db")
        for table, rows in tables.items():
            for row in rows:
                db.execute(_insert(table, row, "?"), [_value(value) for value in row.values()])
        db.commit()
        db.close()
        return
    import psycopg
    from psycopg.types.json import Jsonb

    with psycopg.connect(settings.database_url.get_secret_value()) as connection:
        for table, rows in tables.items():
            for row in rows:
                values = [_value(value) for value in row.values()]
                given = [Jsonb(value) if isinstance(value, dict) else value for value in values]
                connection.execute(_insert(table, row, "%s").encode(), given)


def _insert(table: str, row: Mapping[str, Any], blank: str) -> str:
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join([blank] * len(row))})"


def _value(value: Any) -> Any:
    is_bytes = isinstance(value, dict) and set(value) == {"bytes"}
    return base64.b64decode(value["bytes"]) if is_bytes else value
