"""Several processes on one Postgres; ``python -m benchmarks.chaos.many`` runs the full test."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.chaos.many import storm
from tests.servers.postgres import serve_postgres

ISSUES = 15
KILLS = 5


@pytest.mark.tried("kills of the server and its workers while issues arrive", each=KILLS)
@pytest.mark.timeout(90)  # each of its starts is slow on a busy machine
def test_after_any_kill_every_issue_gets_its_one_report_in_its_order(tmp_path: Path) -> None:
    with serve_postgres() as postgres:
        outcome = storm(ISSUES, KILLS, folder=tmp_path, postgres=postgres, freeze=8.0, restarts=1, latency=0.1)
    assert outcome.reports == {1: ISSUES}
    assert (outcome.blind, outcome.disordered) == (0, 0)
    assert not outcome.states
    assert not outcome.tracebacks
