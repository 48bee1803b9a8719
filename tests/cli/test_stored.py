"""Export and deletion of a repository's data from the command line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from bot.ports import IssueRef
from bot.settings.environment import load_settings
from bot.store.databases.checkpoints import open_saver
from bot.store.databases.sqlite import SqliteStore
from nodes.graph import build_graph
from nodes.run import advance, initial_state
from nodes.state import Waiting
from tests.cli.process import triage
from tests.support.fakes import SHA, ScriptedBrain, context, decide

REF = IssueRef("github.com", 7, 9, "octo", "Parser", 5)


async def _fill() -> None:
    """Store a run that waits for an answer, and a mirror."""
    settings = load_settings()
    store = SqliteStore(settings.triage_data_dir / "store.db")
    await store.installations.add([REF.repository])
    run = await store.for_issue(REF).runs.begin(())
    brain = ScriptedBrain([decide("human_input", question="Which version?")])
    async with open_saver(settings) as saver:
        start = initial_state("scan hangs", "open quote", repository="o/r", sha=SHA)
        thread = store.for_issue(REF).thread(run.number)
        assert isinstance(await advance(build_graph(saver), context(brain), thread, start), Waiting)
    await store.aclose()
    (settings.triage_data_dir / "repos" / "9" / "mirror").mkdir(parents=True)


def test_a_repositorys_data_is_exported_and_then_deleted(tmp_path: Path) -> None:
    asyncio.run(_fill())
    data = {"TRIAGE_DATA_DIR": str(tmp_path / "data")}
    printed = triage(tmp_path, "export", "--repository", "octo/parser", **data)
    rows = [json.loads(line) for line in printed.stdout.splitlines()]
    assert {row["table"] for row in rows} == {"repositories", "runs", "checkpoints", "mirror"}
    (waiting,) = (row for row in rows if row["table"] == "checkpoints")
    assert waiting["values"]["issue_title"] == "scan hangs"
    refused = triage(tmp_path, "forget", "--repository", "octo/parser", **data)
    assert (refused.returncode, "cannot be undone" in refused.stderr) == (1, True)
    assert (tmp_path / "data" / "repos" / "9").exists()
    tried = triage(tmp_path, "forget", "--repository", "octo/parser", "--dry-run", **data)
    assert (tmp_path / "data" / "repos" / "9").exists()
    done = triage(tmp_path, "forget", "--repository", "octo/parser", "--yes", **data)
    assert (tried.returncode, tried.stdout) == (0, done.stdout)
    assert (done.returncode, "1 runs' checkpoints" in done.stdout, "1 mirror" in done.stdout) == (0, True, True)
    assert not (tmp_path / "data" / "repos" / "9").exists()
    again = triage(tmp_path, "export", "--repository", "octo/parser", **data)
    assert (again.returncode, again.stderr) == (2, "triage: no data is stored for octo/parser\n")
