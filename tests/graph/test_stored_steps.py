"""How often the state of a run is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from nodes.context.ports import ExternalSources
from tests.graph.rules_run import run_by_rules
from tests.support.fakes import FakeWeb

FILES = {"app/load.py": "def load(key):\n    return {}[key]\n"}
HANDBOOK = FakeWeb((), name="handbook", description="the handbook", keywords=("handbook",))


@pytest.mark.parametrize(
    ("outside", "often"),
    [
        pytest.param(ExternalSources(), False, id="repeated-for-nothing"),
        pytest.param(ExternalSources(None, {"handbook": HANDBOOK}), True, id="with-calls"),
    ],
)
async def test_only_steps_that_may_cost_a_call_are_stored_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outside: ExternalSources, often: bool
) -> None:
    stored, put = [], InMemorySaver.aput

    async def counted(saver: InMemorySaver, *given: Any) -> Any:
        stored.append(given)
        return await put(saver, *given)

    monkeypatch.setattr(InMemorySaver, "aput", counted)
    await run_by_rules(tmp_path / "app", FILES, "`load` raises a KeyError", "It fails.", outside=outside)
    assert (len(stored) > 3) == often
