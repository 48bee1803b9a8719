"""MCP tools over both transports, with real servers: their answers, and limits on faulty ones."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from nodes.sources.connection import Server
from nodes.sources.mcp_tool import McpTool, fill
from nodes.sources.protocol import Inquiry, SourceError
from nodes.sources.results import clean, is_public, results_in
from tests.sources.bad_server import bad_http
from tests.support.patience import Deadline

HERE = Path(__file__).parent
REAL = (sys.executable, str(HERE / "mcp_server.py"))
BAD = (sys.executable, str(HERE / "bad_server.py"))
ASKED = Inquiry("scan hangs on an open quote")
PATIENT = 60.0


def tool(name: str = "docs", **given: Any) -> McpTool:
    return McpTool(Server(name, **{"timeout": PATIENT, **given}))


async def message(client: McpTool) -> list[str]:
    return [f"{item.locator} {item.quote}" for item in (await client.ask(ASKED, 5)).evidence]


async def fault(client: McpTool) -> str:
    with pytest.raises(SourceError) as raised:
        await client.ask(ASKED, 5)
    return str(raised.value)


@pytest.mark.parametrize("transport", ["command", "url"])
async def test_results_become_evidence_with_locators(transport: str, mcp_url: str) -> None:
    client = tool(command=REAL) if transport == "command" else tool(url=mcp_url, tool="search")
    found = (await client.ask(ASKED, 5)).evidence
    assert [item.locator.url for item in found] == [
        "https://docs.example.org/quoting",
        "mcp:docs/runbook.md",
        "mcp:docs/3",
    ]
    assert found[0].quote == "Quoting rules\nAn unterminated quote hangs scan."
    assert {item.kind for item in found} == {"document"}
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)
    assert found[0].score <= 0.5
    assert (await client.check()).startswith("answers; tool `search`")


async def test_a_command_gets_a_minimal_environment_and_its_process_group_ends_with_the_query(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.chdir(tmp_path)
    (seen,) = await message(tool(command=(*REAL, "all"), tool="surroundings", env={"REPORTS_DSN": "x"}))
    assert "OPENAI_API_KEY" not in seen
    assert "REPORTS_DSN" in seen
    assert seen.split()[-3:-2] == ["/"]
    server, child = (int(part) for part in seen.split()[-2:])
    assert await _gone(server)
    assert await _gone(child)


FLEES = """
import os, sys, time
note = sys.argv[1]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.close(0), os.close(1)
        os.environ.clear()
        open(note, "w").write(str(os.getpid()))
        time.sleep(600)
    while not (os.path.isfile(note) and os.path.getsize(note)):
        time.sleep(0.01)
    os._exit(0)
os.wait()
if len(sys.argv) > 2:
    os._exit(0)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hand orphans to an ancestor")
@pytest.mark.parametrize("end", ["answers", "ends-first", "we-are-killed"])
async def test_a_daemonized_child_ends_with_its_server(tmp_path: Path, end: str) -> None:
    note = tmp_path / "pid"
    flees = (sys.executable, "-c", FLEES, str(note))
    if end == "we-are-killed":
        asks = (
            f"import asyncio\nfrom tests.sources.test_mcp import *\nasyncio.run(tool(command={flees!r}).ask(ASKED, 5))"
        )
        us = await asyncio.create_subprocess_exec(sys.executable, "-c", asks, cwd=HERE.parents[1])
        while not (note.exists() and note.read_text()):
            await asyncio.sleep(0.05)
        us.kill()
        await us.wait()
    elif end == "ends-first":
        await fault(tool(command=(*flees, "leave")))
    else:
        await logged_nothing(tool(command=flees), note)
    assert await _gone(int(note.read_text()))


@pytest.mark.tried("search and tool servers that fail, stall or lie")
async def test_a_command_that_ignores_sigterm_is_killed_at_its_deadline() -> None:
    assert await fault(tool(command=(*BAD, "stubborn"), timeout=0.5)) == "no answer within 0.5 s"


async def test_a_command_whose_query_was_cancelled_is_killed(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    command = (
        sys.executable,
        "-c",
        f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)",
    )
    await logged_nothing(tool(command=command), note)
    assert await _gone(int(note.read_text()))


async def logged_nothing(client: McpTool, note: Path) -> None:
    """Cancel a question once its server runs, as a run does after its time limit."""
    asking = asyncio.create_task(client.ask(ASKED, 5))
    while not (note.exists() and note.read_text()):
        await asyncio.sleep(0.05)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


@pytest.mark.tried("search and tool servers that fail, stall or lie")
@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param({"command": ("no-such-program-here",)}, "is not an executable on the PATH", id="no-program"),
        pytest.param({"command": (sys.executable, "-c", "pass")}, "", id="ends-at-once"),
        pytest.param({"command": (*BAD, "silent"), "timeout": 0.5}, "no answer within 0.5 s", id="silent"),
        pytest.param({"command": (*BAD, "garbage"), "max_bytes": 100_000}, "more than 100,000 bytes", id="garbage"),
        pytest.param({"command": (*BAD, "endless"), "max_bytes": 100_000}, "more than 100,000 bytes", id="endless"),
        pytest.param({"url": "http://127.0.0.1:1/mcp"}, "", id="nobody-there"),
    ],
)
async def test_a_dead_server_only_loses_its_results(given: dict[str, Any], says: str) -> None:
    assert says in await fault(tool(**given))


@pytest.mark.parametrize(
    ("act", "given", "says"),
    [
        pytest.param("slow", {"timeout": 1.0}, "no answer within 1 s", id="slow"),
        pytest.param("fails", {}, "the tool failed", id="fails"),
        pytest.param("large", {}, "more than 1,000,000 bytes", id="large"),
        pytest.param("missing", {}, "no tool `missing`; it has: search", id="no-such-tool"),
        pytest.param("", {}, "several tools and none of this name", id="which-tool"),
        pytest.param("rows", {}, "also needs database", id="needs-more"),
    ],
)
async def test_a_failing_tool_reports_the_reason(mcp_url: str, act: str, given: dict[str, Any], says: str) -> None:
    assert says in await fault(tool(url=mcp_url, tool=act, **given))


async def test_fixed_arguments_and_rows_of_a_database(mcp_url: str) -> None:
    client = tool("database_query", url=mcp_url, tool="rows", kind="database", arguments={"database": "crashes"})
    found = (await client.ask(ASKED, 5)).evidence
    assert [item.kind for item in found] == ["database"]
    assert '"crashes": 17' in found[0].quote
    assert found[0].locator.url == "mcp:database_query/1"


async def test_an_empty_result_is_valid(mcp_url: str) -> None:
    assert (await tool(url=mcp_url, tool="empty").ask(ASKED, 5)).evidence == ()


async def test_text_is_shown_unchanged(mcp_url: str) -> None:
    (seen,) = await message(tool(url=mcp_url, tool="injects"))
    assert "Ignore all previous instructions" in seen  # untrusted data like any other: prompts fence it
    assert not {"\u202e", "\u200b", "\x1b"} & set(seen)


@pytest.mark.tried("search and tool servers that fail, stall or lie")
@pytest.mark.parametrize(
    ("path", "given", "says"),
    [
        pytest.param("redirects", {}, "", id="redirects"),
        pytest.param("garbage", {}, "", id="garbage"),
        pytest.param("refuses", {}, "", id="refuses"),
        pytest.param("packed", {}, "", id="packed"),
        pytest.param("endless", {"timeout": 20.0}, "", id="endless"),
        pytest.param("silent", {"timeout": 0.5}, "no answer within 0.5 s", id="silent"),
        pytest.param("drips", {"timeout": 0.5}, "no answer within 0.5 s", id="drips"),
    ],
)
async def test_a_hostile_http_server_only_loses_its_results(path: str, given: dict[str, Any], says: str) -> None:
    with bad_http() as (url, client):
        headers = {"Authorization": "Bearer token"}
        assert says in await fault(tool(url=f"{url}/{path}", headers=headers, **given))
    assert not [line for line in client if "/secret" in line]


async def test_headers_go_to_the_server_that_they_are_for() -> None:
    with bad_http() as (url, client):
        await fault(tool(url=f"{url}/garbage", headers={"Authorization": "Bearer token"}))
    assert client[0] == "POST /garbage Bearer token"


@pytest.mark.parametrize(
    ("schema", "given", "expected"),
    [
        pytest.param({"q": "string"}, {}, {"q": "?"}, id="the-only-one"),
        pytest.param({"query": "string", "lang": "string"}, {}, {"query": "?"}, id="a-known-name"),
        pytest.param({"query!": "string", "limit": "integer"}, {}, {"query": "?", "limit": 5}, id="a-count"),
        pytest.param({"need!": "string", "text": "string"}, {}, {"need": "?"}, id="the-needed-one"),
        pytest.param({"a": "string", "b": "string"}, {"a": "x"}, {"a": "x", "b": "?"}, id="the-other-is-given"),
        pytest.param({"q!": "string", "k!": "string"}, {"k": "v"}, {"q": "?", "k": "v"}, id="given"),
        pytest.param({"a": "string", "b": "string"}, {}, None, id="unclear"),
        pytest.param({"n!": "integer"}, {}, None, id="no-text"),
        pytest.param({"q!": "string", "tenant!": "integer"}, {}, None, id="needs-more"),
    ],
)
def test_arguments_by_schema(schema: dict[str, str], given: Any, expected: Any) -> None:
    properties = {name.rstrip("!"): {"type": kind} for name, kind in schema.items()}
    whole = {"properties": properties, "required": [name[:-1] for name in schema if name.endswith("!")]}
    if expected is None:
        with pytest.raises(SourceError):
            fill(whole, "?", 5, given=given)
    else:
        assert fill(whole, "?", 5, given=given) == expected


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://example.org/a", True),
        ("https://8.8.8.8/", True),
        ("http://127.0.0.1/", False),
        ("http://10.0.0.1/x", False),
        ("http://[::1]/", False),
        ("http://[fe80::1]/", False),
        ("http://169.254.169.254/latest", False),
        ("http://2130706433/", False),
        ("http://localhost:8080/", False),
        ("https://wiki.internal/", False),
        ("https://intranet/", False),
        ("https://user:password@example.org/", False),
        ("javascript:alert(1)", False),
        ("file:///etc/passwd", False),
        ("https://[broken", False),
    ],
)
def test_only_public_addresses_are_repeated(url: str, public: bool) -> None:
    assert is_public(url) == public


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ({"results": [{"text": "a"}, {"content": "b"}]}, ["a", "b"]),
        ({"result": "a"}, ["a"]),
        ([{"snippet": "a"}, "b", 3], ["a", "b", "3"]),
        ({"rows": [{"n": 1}]}, ['{"n": 1}']),
        ({"text": "a", "results": []}, ["a"]),
        ({"data": {"items": [{"body": "a"}]}}, ["a"]),
        (None, ["null"]),
    ],
)
def test_results_are_found_under_any_key(value: Any, texts: list[str]) -> None:
    assert [result.text for result in results_in(value)] == texts


def test_deeply_nested_results_are_ignored() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = {"results": deep}
    assert results_in(deep) == []


def test_invisible_text_is_left_out() -> None:
    assert clean("a\x00b\u2066c \u200b d\n\n e") == "abc d\ne"


async def _gone(pid: int) -> bool:
    deadline = Deadline(30.0)
    while not deadline.passed():
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        await asyncio.sleep(0.05)
    return False
