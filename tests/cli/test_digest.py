"""``triage digest`` with a server's store."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli import cli
from bot.store.databases.sqlite import SqliteStore
from tests.store.test_open_reports import ref, triaged


async def fill(path: Path) -> None:
    store = SqliteStore(path)
    await store.installations.add([ref(1).repository])
    await triaged(store, ref(1), "found")
    await triaged(store, ref(2), None)
    await store.aclose()


def test_it_prints_or_writes_the_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.run(fill(tmp_path / "store.db"))
    monkeypatch.setenv("TRIAGE_DATA_DIR", str(tmp_path))
    run = CliRunner().invoke
    page = tmp_path / "digest.md"
    assert run(cli, ["digest", "OCTO/parser9", "--output", str(page)]).stdout == ""
    text = page.read_text(encoding="utf-8")
    assert "1 open bug has a report, 1 of them since " in text
    assert "open by the last delivery" in text
    assert run(cli, ["digest", "octo/parser9"]).stdout == text
    retired = run(cli, ["digest", "octo/parser9", "--language", "de"])
    assert retired.stdout == text
    assert "It has no effect: the digest is in English." in retired.stderr
    document = json.loads(run(cli, ["digest", "octo/parser9", "--json", "--days", "1"]).stdout)
    assert (document["repository"], [one["number"] for one in document["questions"]]) == ("octo/parser9", [2])
    unknown = run(cli, ["digest", "octo/other"])
    assert (unknown.exit_code, "the App is not installed in octo/other" in unknown.stderr) == (2, True)
    refused = run(cli, ["digest", "octo/parser9", "--output", str(tmp_path / "no" / "digest.md")])
    assert (refused.exit_code, "cannot be written" in refused.stderr) == (2, True)
