"""Some seconds of attacks; ``python -m benchmarks.chaos.attacks`` runs all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.chaos.attackers import ATTACKS
from benchmarks.chaos.attacks import DESCRIPTORS, attack


@pytest.mark.tried("endless heads, idle connections, large bodies and slow forms of strangers", each=9)
@pytest.mark.timeout(600)  # the start alone is slow on a busy machine
def test_attacks_do_not_prevent_deliveries(tmp_path: Path) -> None:
    outcome = attack(8.0, tmp_path, pause=0.1, patience=60.0)
    assert outcome.taken
    assert not outcome.failures
    assert outcome.lost == 0
    assert set(outcome.operator) <= {"200"}
    assert outcome.memory < 400 * 2**20
    assert outcome.descriptors < DESCRIPTORS
    assert outcome.tracebacks == 0
    assert all(outcome.connections[name] for name in ATTACKS)
    assert outcome.refusals
