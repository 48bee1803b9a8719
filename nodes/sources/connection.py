"""A connection to an MCP server for one question, over streamable HTTP or a child's standard streams."""

import logging
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodes.evidence import EvidenceKind
from nodes.sources.meter import Meter
from nodes.sources.protocol import SourceError
from nodes.sources.results import clean

if TYPE_CHECKING:
    import mcp
    import mcp_types
    from mcp.client._transport import TransportStreams

_LISTED, _PAGES = 200, 10
"""The limits for a server's tools, and for the pages of its tool list."""
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
"""The only variables of our environment that a server receives; keys and tokens are not among them."""
_REASON = 200
"""Characters of the reason for which a server was ended."""
_REAPER = ("-I", "-S", str(Path(__file__).with_name("reaper.py")))
"""Python's options: ignore the environment and import nothing from site packages."""


@dataclass(frozen=True, slots=True)
class Server:
    """The address and the call of a tool. The operator sets every value."""

    name: str
    kind: EvidenceKind = "document"
    description: str = ""
    keywords: tuple[str, ...] = ()
    url: str = ""
    """The address of a streamable HTTP server; empty if ``command`` starts one."""
    headers: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    tool: str = ""
    """The server's name for the tool; if empty, the tool with our name, or the only tool, is used."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Sent with every question."""
    timeout: float = 20.0
    """Seconds for everything: start, connection, list, answer."""
    max_bytes: int = 1_000_000
    """The limit for all data from the server during one question."""


def load_library() -> None:
    """Import the SDK, which takes two seconds once and is outside the server's time limit; SourceError without it."""
    try:
        for name in ("mcp.client.stdio", "mcp.client.streamable_http"):
            import_module(name)
    except ImportError as error:
        says = "the package mcp is missing: install the extra `tools` (in a clone: make install EXTRAS=tools)"
        raise SourceError(says) from error
    # Faults of a server appear in the trace as one line, so the SDK's tracebacks are kept out of the log.
    for name in ("mcp", "client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


@asynccontextmanager
async def connect(server: Server, meter: Meter) -> "AsyncIterator[mcp.Client]":
    """Yield a client that is connected until the block ends; call `load_library` first."""
    import mcp  # noqa: PLC0415  already loaded

    if server.command:
        # Without the SDK's cache: nothing that a server sent may influence a later question.
        async with mcp.Client(serve_child(server), cache=None) as client:
            yield client
        return
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    from nodes.sources.meter import http_client  # noqa: PLC0415

    async with http_client(server.headers, server.timeout, meter) as http:
        streams = streamable_http_client(server.url, http_client=http, max_sse_event_size=server.max_bytes)
        async with mcp.Client(streams, cache=None) as client:
            yield client


async def listed(client: "mcp.Client") -> "list[mcp_types.Tool]":
    """Return the server's tools, up to a limit."""
    tools: list[mcp_types.Tool] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None or len(tools) >= _LISTED:
            break
    return tools[:_LISTED]


def choice(tools: "Sequence[mcp_types.Tool]", server: Server) -> "mcp_types.Tool":
    """Return the tool that the configuration names, the tool with our name, or the only tool; else SourceError."""
    named = next((tool for tool in tools if tool.name == (server.tool or server.name)), None)
    if named is not None:
        return named
    if not server.tool and len(tools) == 1:
        return tools[0]
    names = ", ".join(clean(tool.name)[:40] for tool in tools[:8]) or "none"
    problem = f"no tool `{server.tool}`" if server.tool else "several tools and none of this name; set `tool`"
    raise SourceError(f"{problem if tools else 'the server has no tools'}; it has: {names}")


@asynccontextmanager
async def serve_child(server: Server) -> "AsyncIterator[TransportStreams]":
    """Start a server below a reaper, which bounds what it sends and kills its processes, or raise SourceError."""
    from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415  already loaded

    program = shutil.which(server.command[0])
    if program is None:
        raise SourceError(f"`{server.command[0]}` is not an executable on the PATH")
    env = {**{name: os.environ[name] for name in INHERITED if name in os.environ}, **server.env}
    arguments = [*_REAPER, str(server.max_bytes), ",".join(env), program, *server.command[1:]]
    # Not our working directory: a checkout there could contain modules that the server would import.
    child = StdioServerParameters(command=sys.executable, args=arguments, env=env, cwd=os.sep)
    with tempfile.TemporaryFile("w+") as reasons:
        try:
            async with stdio_client(child, reasons) as streams:
                yield streams
        finally:
            reasons.seek(0)
            if reason := reasons.read(_REASON).strip():
                raise SourceError(reason)
