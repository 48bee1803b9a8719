"""After a run nothing holds its engine, although connections that it opened hold its context variables."""

from __future__ import annotations

import gc
from pathlib import Path

from bot.runs.code import EngineCode
from tests.limits.test_admission import staged
from tests.serve.conftest import BODY, TITLE
from tests.servers.github_server import serve_github


async def test_no_run_holds_its_engine_when_it_has_ended(tmp_path: Path) -> None:
    # The code that a backtest of another test read in this process may still wait for the garbage collection.
    earlier = {id(code): code for code in _codes()}
    with serve_github() as github:
        async with staged(github, tmp_path) as stage:
            number = await stage.opened(title=TITLE, body=BODY)
            assert github.world.reports(stage.repo, number)
            assert [code for code in _codes() if hasattr(code, "_engine") and id(code) not in earlier] == []


def _codes() -> list[EngineCode]:
    return [code for code in gc.get_objects() if isinstance(code, EngineCode)]
