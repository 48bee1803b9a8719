"""The resources that jobs share, and those of each job."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings.repository import RepositoryConfig
from bot.worker.tools import Brains, Engines
from nodes.brains.calls.budget import RunLimits
from nodes.brains.calls.models import Models, ModelSettings
from nodes.brains.rules import RulesBrain
from nodes.context.brain import Case, ModelError
from nodes.issue.facts import IssueFacts
from nodes.judgements import Investigation
from nodes.state import BugTriageState
from tests.servers.model_server import says, serve
from tests.support.repositories import make_repository

CASE = Case(state=BugTriageState(iterations=1), title="It fails", body="", facts=IssueFacts(), evidence=())


async def test_runs_have_separate_budgets() -> None:
    with serve() as server:
        server.script = [says(Investigation(problem="It fails.", hypothesis="", confidence=0.2).model_dump())]
        models = Models(ModelSettings(base_url=server.url, limits=RunLimits(calls=1), calls_per_minute=6_000))
        brains = Brains(RulesBrain(), models)
        first = brains.for_run(RepositoryConfig())
        await first.investigate(CASE)
        with pytest.raises(ModelError, match="budget"):
            await first.investigate(CASE)
        await brains.for_run(RepositoryConfig()).investigate(CASE)
        assert len(server.requests) == 2
        await models.aclose()


async def test_a_repository_can_disable_models() -> None:
    brains = Brains(RulesBrain(), Models(ModelSettings()))
    assert brains.for_run(RepositoryConfig(brain="rules")) is brains.rules
    assert Brains(RulesBrain()).for_run(RepositoryConfig()).name == "rules"


def test_engines_are_reused_while_memory_lasts(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("a", "b", "c")]
    for folder in folders:
        make_repository(folder, {"a.py": "x = 1\n"})
    first = Engines().of(folders[0])
    first.warm("HEAD")
    engines = Engines(largest=2 * first.memory)
    first = engines.of(folders[0])
    assert engines.of(folders[0]) is first
    for folder in folders:
        engines.of(folder).warm("HEAD")
    assert engines.of(folders[2]) is engines.of(folders[2])
    assert engines.of(folders[0]) is not first
