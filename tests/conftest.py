"""No test sees the settings of the machine it runs on, nor writes outside its own folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import NoPostgresError, Postgres, serve_postgres


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a ranking be agreed on anew."""
    parser.addoption("--rewrite-ranking", action="store_true", help="write tests/ranking/golden.json anew")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "TRIAGE_")) or name in ("DATABASE_URL", "NO_COLOR"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TRIAGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A running server."""
    try:
        with serve_postgres() as server:
            yield server
    except NoPostgresError as error:
        pytest.skip(str(error))
