"""``langgraph.json`` opens the graph for langgraph's own server, which triages an issue, asks and resumes, offline."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph.types import Command

from bot.cli.studio import checkpoints, graph
from tests.support.patience import patience, wait_for
from tests.support.repositories import make_repository

ROOT = Path(__file__).parents[2]
SERVER = ROOT / ".tools" / "langgraph" / "bin" / "langgraph"
VAGUE = {"issue_title": "It fails", "issue_body": "It does not work"}
ANSWER = {"text": "parse_orders raises KeyError", "answered_by": "rita"}


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("TRIAGE_DATA_DIR", str(tmp_path / "data"))
    make_repository(tmp_path / "app", {"orders.py": "def parse_orders(text):\n    return text['lines']\n"})
    return {"repository": str(tmp_path / "app")}


async def run(given: Any, clone: Any) -> dict[str, Any]:
    """Run the graph with JSON values, as the server does."""
    async with checkpoints() as saver:
        opened: Any = graph.copy({"checkpointer": saver})
        found: dict[str, Any] = await opened.ainvoke(given, {"configurable": {"thread_id": "t"}}, context=clone)
        return found


async def test_a_run_asks_and_resumes_from_its_checkpoint(clone: dict[str, str]) -> None:
    asked = await run(VAGUE, clone)
    assert asked["__interrupt__"][0].value.question
    state = await run(Command(resume=ANSWER), clone)
    assert state["report"].suspects[0].path == "orders.py"
    assert state["human_exchanges"][0].answered_by == "rita"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Run langgraph's server; without the command, the test is skipped."""
    if not SERVER.exists():
        pytest.skip("langgraph-cli is not installed: run .ci/langgraph")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # The server writes into its folder, so it gets one with the same content.
    for name in ("langgraph.json", "bot", "nodes", "prompts"):
        (folder / name).symlink_to(ROOT / name)
    command = (
        SERVER,
        "dev",
        "--config",
        str(ROOT / "langgraph.json"),
        "--no-browser",
        "--no-reload",
        "--port",
        str(port),
    )
    settings = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env={**os.environ, **settings}, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(lambda: answers(url) or process.poll() is not None, 120.0)
            assert process.poll() is None, (folder / "log").read_text(errors="replace")[-2_000:]
            yield url
        finally:
            process.terminate()
            process.wait(patience(30))


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ok").status_code == 200
    except httpx.HTTPError:
        return False


def test_the_development_server_triages_an_issue(clone: dict[str, str], tmp_path: Path) -> None:
    with served(tmp_path) as url, httpx.Client(base_url=url, timeout=patience(120)) as http:
        assistant = http.post("/assistants/search", json={"graph_id": "triage"}).json()[0]
        drawn = http.get(f"/assistants/{assistant['assistant_id']}/graph").json()
        assert {"supervisor", "codebase_search", "writer"} <= {node["id"] for node in drawn["nodes"]}
        schemas = http.get(f"/assistants/{assistant['assistant_id']}/schemas").json()
        assert set(schemas["context_schema"]["properties"]) == {"repository", "rev"}
        thread = http.post("/threads", json={}).json()["thread_id"]
        runs, asks = f"/threads/{thread}/runs/wait", {"assistant_id": "triage", "context": clone}
        asked = http.post(runs, json={**asks, "input": VAGUE}).json()
        assert asked["__interrupt__"][0]["value"]["question"], asked
        state = http.post(runs, json={**asks, "command": {"resume": ANSWER}}).json()
        assert state["report"]["suspects"][0]["path"] == "orders.py", json.dumps(state)[:500]
        assert len(http.get(f"/threads/{thread}/history", params={"limit": 50}).json()) > 5
