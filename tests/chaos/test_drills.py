"""Short forms of the drills; ``python -m benchmarks.chaos.drills`` and ``…scenarios`` run them in full."""

from __future__ import annotations

import pytest

from benchmarks.chaos.drills import DRILLS
from benchmarks.chaos.scenarios import SCENARIOS, live


@pytest.mark.timeout(90)  # several processes are started
@pytest.mark.parametrize("name", ["partition", "frozen", "waiting", "flood"])
def test_nothing_is_lost_or_repeated(name: str) -> None:
    kept, summary = live({**DRILLS, **SCENARIOS}[name], short=True)
    assert kept, summary
    assert "tracebacks []" in summary
