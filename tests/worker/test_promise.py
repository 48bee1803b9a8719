"""A repository states how often a claim has to be right: the bound follows from its outcomes, in a real store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.runs.promise import NEVER, promise_of
from bot.settings.repository import read_config
from bot.store.runs.outcomes import Reported, Verdict
from tests.limits.test_admission import Stage, staged
from tests.servers.github_server import serve_github
from tests.store.test_outcomes import report

GOOD = [(0.9, True)] * 12 + [(0.7, False)] * 12


@pytest.mark.parametrize(
    ("wanted", "outcomes", "bound", "says"),
    [
        pytest.param("", GOOD, 0.65, "", id="not-asked"),
        pytest.param("precision: 0.9", [], 0.9, "shipped calibration", id="no-outcomes"),
        pytest.param("precision: 0.9", GOOD[:19], 0.9, "fewer than 20 fixes", id="too-few"),
        pytest.param("precision: 0.9", GOOD, 0.9, "12 of 12 known fixes were right (wanted 90%)", id="own"),
        pytest.param("precision: 0.5", GOOD, 0.7, "12 of 24 known fixes were right", id="lower"),
        pytest.param("precision: 0.9", [(0.9, False)] * 30, NEVER, "Nothing is claimed here", id="cannot-be-kept"),
    ],
)
def test_the_bound(wanted: str, outcomes: Sequence[tuple[float, bool]], bound: float, says: str) -> None:
    found = promise_of(read_config(wanted), outcomes)
    assert found.claim_from == pytest.approx(bound)
    assert says in found.note if says else not found.note


async def settle(stage: Stage, outcomes: Sequence[tuple[float, bool]]) -> None:
    """Store scored reports of the repository."""
    store = stage.worker.store
    await store.installations.add([stage.ref(1).repository])
    for number, (confidence, right) in enumerate(outcomes, 1_000):
        await report(store, stage.ref(number), Reported(claimed=True, confidence=confidence, named=("a.py",)))
        await store.for_issue(stage.ref(number)).outcome.keep(Verdict("scored", 1 if right else 0))


async def test_a_report_follows_the_promise_and_says_when_it_cannot_be_kept(tmp_path: Path) -> None:
    with serve_github() as github:
        async with staged(github, tmp_path) as stage:
            first = stage.reported(await stage.opened())
            stage.repo.files[".github/triage.yml"] = "precision: 0.9\n"
            shipped = stage.reported(await stage.opened())
            await settle(stage, [(0.99, False)] * 20)
            broken = stage.reported(await stage.opened())
    assert "shipped calibration: fewer" not in first
    assert "A claim needs a confidence of 90% here, by the shipped calibration" in shipped
    assert "Nothing is claimed here: no confidence reached 90% right first files in 20 known fixes." in broken
    assert "The fix is probably" not in broken
