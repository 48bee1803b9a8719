"""After a run nothing holds its engine, although connections that it opened hold its context variables."""

from __future__ import annotations

import gc
from pathlib import Path

from bot.runs.code import EngineCode
from tests.limits.test_admission import staged
from tests.serve.conftest import BODY, TITLE
from tests.servers.github_server import serve_github


async def test_no_run_holds_its_engine_when_it_has_ended(tmp_path: Path) -> None:
    with serve_github() as github:
        async with staged(github, tmp_path) as stage:
            number = await stage.opened(title=TITLE, body=BODY)
            assert github.world.reports(stage.repo, number)
            codes = [code for code in gc.get_objects() if isinstance(code, EngineCode)]
            assert [code for code in codes if hasattr(code, "_engine")] == []
            del codes
