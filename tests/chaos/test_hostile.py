"""One hostile repository next to a healthy one; ``python -m benchmarks.chaos.hostile`` runs all."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.chaos.hostile import effects


@pytest.mark.timeout(600)  # each of its starts is slow on a busy machine
def test_an_issue_is_answered_while_the_parser_of_another_repository_hangs(tmp_path: Path) -> None:
    (one,) = effects(["typescript.ts"], tmp_path)
    assert one.hostile < 300  # previously neither was ever answered
    assert one.healthy <= one.hostile + 60
