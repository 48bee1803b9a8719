"""``triage token``: a token is printed once, named by an id, and revoked by it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.cli import cli
from bot.ports import RepositoryRef
from bot.store.databases.sqlite import SqliteStore


def triage(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ("token", *arguments))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIAGE_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()

    async def fill() -> None:
        store = SqliteStore(tmp_path / "data" / "store.db")
        await store.installations.add([RepositoryRef("github.com", 7, 9, "octo", "parser")])
        await store.aclose()

    asyncio.run(fill())
    return tmp_path / "data"


@pytest.mark.usefixtures("data")
def test_a_token_is_created_listed_and_revoked() -> None:
    tried = triage("create", "Octo/Parser", "--dry-run").stdout
    assert (tried, triage("list").stdout) == ("a token for octo/parser would be created\n", "")
    token = triage("create", "Octo/Parser", "--label", "dashboard").stdout.strip()
    assert token.startswith("thr_")
    (row,) = map(json.loads, triage("list", "--json").stdout.splitlines())
    assert (row["repository"], row["label"]) == ("octo/parser", "dashboard")
    listed = triage("list").stdout
    assert row["id"] in listed
    assert token not in listed
    assert triage("revoke", row["id"], "--dry-run").stdout == f"token {row['id']} would be revoked\n"
    assert triage("revoke", row["id"]).stdout == f"token {row['id']} is revoked\n"
    assert triage("list").stdout == ""
    again = triage("revoke", row["id"])
    assert (again.exit_code, "no token has the id" in again.stderr) == (2, True)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("octo/other",), "the App is not installed in octo/other", id="unknown"),
        pytest.param(("octo/parser", "--label", "a\nb"), "printable", id="label"),
    ],
)
def test_a_refusal_is_one_line(arguments: tuple[str, ...], says: str) -> None:
    done = triage("create", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
