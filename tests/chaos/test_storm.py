"""A short run of the fault test; ``python -m benchmarks.chaos.storm`` runs it in full."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.chaos.storm import storm

KILLS = 2


@pytest.mark.tried("kills of the server and its workers while issues arrive", each=KILLS)
@pytest.mark.timeout(90)  # each of its starts is slow on a busy machine
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_despite_kills_and_failures_every_issue_gets_one_report(
    request: pytest.FixtureRequest, tmp_path: Path, database: str
) -> None:
    shared = database == "postgres"
    settings = {"DATABASE_URL": request.getfixturevalue("postgres").migrated()} if shared else {}
    outcome = storm(6, KILLS, folder=tmp_path, rate=0.1, **settings)
    assert outcome.reports == {1: 6}
    assert outcome.blind == 0
    assert not outcome.states
