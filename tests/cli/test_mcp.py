"""``triage mcp`` with the official client: over its pipes and over HTTP."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import mcp
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.cli.process import environment
from tests.support.patience import wait_for
from tests.support.preloaded import Forked
from tests.support.repositories import make_repository

PARSER = "def parse(text):\n    if not text:\n        raise ValueError('the order has no lines')\n    return text\n"
ISSUE = """Import stops on an order without lines

Since this morning the nightly import stops as soon as one order of the customer has no lines at all:

Traceback (most recent call last):
  File "/srv/app/parser.py", line 3, in parse
    raise ValueError('the order has no lines')
ValueError: the order has no lines
"""
EARLIER = {
    "number": 7,
    "title": "Import stops on an order without lines",
    "body": ISSUE,
    "state": "open",
    "url": "https://example.org/issues/7",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    make_repository(tmp_path / "app", {"app/parser.py": PARSER, "README.md": "# Orders\n"})
    make_repository(tmp_path / "lib", {"lib/mail.py": "def send(text):\n    print(text)\n"})
    others = [{"number": n, "title": f"Chapter {n}", "body": f"Something about item{n}."} for n in range(20, 29)]
    (tmp_path / "old.jsonl").write_text("\n".join(map(json.dumps, (*others, EARLIER))))
    return tmp_path


@asynccontextmanager
async def served(place: Path, *words: str) -> AsyncIterator[mcp.Client]:
    """Yield a client that talks to a server over pipes."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "bot", "mcp", *words], env=environment(TRIAGE_DATA_DIR=str(place / "data"))
    )
    # Not pytest's stderr, which it replaces at each test while the client still has the old one as its default.
    with (place / "log").open("w") as log:
        async with mcp.Client(stdio_client(server, errlog=log)) as client:
            yield client


async def test_an_agent_gets_checked_lines_of_the_repository_that_it_names(place: Path) -> None:
    words = ("--repo", str(place / "app"), "--repo", f"mail={place / 'lib'}", "--issues", str(place / "old.jsonl"))
    async with served(place, *words) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())
        found = await client.call_tool("locate", {"issue": ISSUE, "repository": "app"})
        assert found.structured_content["files"][0]["path"] == "app/parser.py"
        facts = await client.call_tool("facts", {"issue": ISSUE, "repository": "app"})
        assert ("app/parser.py", 3) in {(fact["path"], fact["line"]) for fact in facts.structured_content["result"]}
        report = (await client.call_tool("triage_issue", {"issue": ISSUE, "repository": "app"})).structured_content
        assert report["report"]["suspects"][0]["path"] == "app/parser.py"
        same = await client.call_tool("duplicates", {"issue": ISSUE, "repository": "app"})
        assert [one["reference"] for one in same.structured_content["result"]] == ["#7"]
        text = await client.call_tool("brief", {"issue": ISSUE, "repository": "app"})
        assert "app/parser.py:3" in text.content[0].text
        known = await client.call_tool("who_knows", {"issue": ISSUE, "repository": "app"})
        assert known.structured_content["owners"]
        changes = await client.call_tool("suspect_changes", {"issue": ISSUE, "repository": "app"})
        assert changes.structured_content["inconclusive"]
        assert set(tools) == {
            *("triage_issue", "locate", "facts", "duplicates", "suspect_changes", "who_knows", "brief")
        }


INVALID = {
    "name one of the repositories: app, lib": {"issue": ISSUE},
    "name one of the repositories": {"issue": ISSUE, "repository": "/etc"},
    "the issue is empty": {"issue": " ", "repository": "app"},
    "ref": {"issue": ISSUE, "repository": "lib", "ref": "v1"},  # the argument is called `rev`
    "nope": {"issue": ISSUE, "repository": "app", "rev": "nope"},
}


async def test_an_invalid_call_gets_the_reason_and_the_server_continues(place: Path) -> None:
    async with served(place, "--repo", str(place / "app"), "--repo", str(place / "lib")) as client:
        for says, arguments in INVALID.items():
            refused = await client.call_tool("locate", arguments)
            assert refused.is_error
            assert says in refused.content[0].text
        assert not (await client.call_tool("locate", {"issue": ISSUE, "repository": "lib"})).is_error


async def test_the_same_tools_are_served_over_http(place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "bot", "mcp", "--repo", str(place / "app"), "--http", str(port)]
    server = Forked(words, env=environment(TRIAGE_DATA_DIR=str(place / "data")), stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: _accepts(port), 60.0)
        async with mcp.Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp")) as client:
            found = await client.call_tool("locate", {"issue": ISSUE})
        assert found.structured_content["files"][0]["path"] == "app/parser.py"
    finally:
        server.terminate()
        server.wait()


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return not probe.connect_ex(("127.0.0.1", port))
