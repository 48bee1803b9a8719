"""LangSmith receives a run's structure, and texts only if the operator allows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.process import triage
from tests.servers.collector import collecting
from tests.support.repositories import make_repository

TEXT = "parse_orders fails with KeyError on an empty file of orders"
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def place(tmp_path: Path) -> Path:
    make_repository(tmp_path / "app", {"orders.py": "def parse_orders(text):\n    return text['lines']\n"})
    return tmp_path


@pytest.mark.parametrize("allowed", [False, True])
def test_text_is_sent_only_if_allowed(place: Path, allowed: bool) -> None:
    with collecting() as collector:
        settings = {
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_API_KEY": "lsv2_x",
            "LANGSMITH_ENDPOINT": collector.url,
            "LANGSMITH_DISABLE_RUN_COMPRESSION": "true",
            "TRIAGE_TRACE_TEXT": str(allowed).lower(),
        }
        done = triage(place, "run", "--repo", "app", "--text", f"{TEXT} {TOKEN}", **settings)
        sent = collector.everything()
    assert done.returncode == 0, done.stderr
    assert "codebase_search" in sent
    # The supervisor's steps and their confidence are sent in any case (PRD section 7).
    assert ("supervisorRouting" in sent) == (not allowed)
    assert ("supervisor_confidence" in sent) == allowed
    assert ("parse_orders" in sent) == allowed
    assert TOKEN not in sent


def test_nothing_is_sent_without_a_configuration(place: Path) -> None:
    with collecting() as collector:
        triage(place, "run", "--repo", "app", "--text", TEXT, LANGSMITH_ENDPOINT=collector.url, LANGSMITH_API_KEY="x")
        assert collector.bodies == []
