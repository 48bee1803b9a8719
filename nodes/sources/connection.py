"""A connection to an MCP server, over streamable HTTP or a child's standard streams, for one question."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nodes.evidence import EvidenceKind
from nodes.sources import SourceError
from nodes.sources.child import serve_child
from nodes.sources.meter import Meter
from nodes.sources.results import clean

if TYPE_CHECKING:
    import mcp
    import mcp_types

_LISTED, _PAGES = 200, 10
"""Tools of a server that are looked at, and pages of its list."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where a tool is and how it is asked: the operator's words, never anybody else's."""

    name: str
    kind: EvidenceKind = "document"
    description: str = ""
    keywords: tuple[str, ...] = ()
    url: str = ""
    """Of a streamable HTTP server; empty where ``command`` starts one."""
    headers: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    tool: str = ""
    """The server's own name for the tool; empty means the one of our name, or the only one."""
    argument: str = ""
    """The argument that takes the question; empty means the one that the tool's schema suggests."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Sent along with every question."""
    timeout: float = 20.0
    """Seconds for everything: start, connection, list, answer."""
    max_bytes: int = 1_000_000
    """Of everything the server says during one question."""


def load_library() -> None:
    """Import the SDK: two seconds, once, that only those pay who configured a server, and no server's time.

    Raises:
        SourceError: it is not installed.
    """
    try:
        import mcp.client.streamable_http  # noqa: F401, PLC0415
    except ImportError as error:
        raise SourceError("the package mcp is missing: install tracehound[tools]") from error
    # What a server sends is said in the trace, in one line; it does not fill the log with tracebacks.
    for name in ("mcp", "client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


@asynccontextmanager
async def connect(server: Server, meter: Meter) -> AsyncIterator[mcp.Client]:
    """A client that is connected, until the block ends; `load_library` comes first."""
    import mcp  # noqa: PLC0415  loaded by now

    if server.command:
        transport = serve_child(server.command, env=server.env, cwd=server.cwd, meter=meter)
        async with mcp.Client(transport, cache=None) as client:
            yield client
        return
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    from nodes.sources.metered_http import http_client  # noqa: PLC0415

    async with http_client(server.headers, server.timeout, meter) as http:
        streams = streamable_http_client(server.url, http_client=http, max_sse_event_size=server.max_bytes)
        async with mcp.Client(streams, cache=None) as client:
            yield client


async def listed(client: mcp.Client) -> list[mcp_types.Tool]:
    """The server's tools, a bounded number of them."""
    tools: list[mcp_types.Tool] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None or len(tools) >= _LISTED:
            break
    return tools[:_LISTED]


def choice(tools: Sequence[mcp_types.Tool], server: Server) -> mcp_types.Tool:
    """The tool that the configuration names, the one of our name, or the only one.

    Raises:
        SourceError: there is none such.
    """
    named = next((tool for tool in tools if tool.name == (server.tool or server.name)), None)
    if named is not None:
        return named
    if not server.tool and len(tools) == 1:
        return tools[0]
    names = ", ".join(clean(tool.name)[:40] for tool in tools[:8]) or "none"
    wanted = f"no tool `{server.tool}`" if server.tool else "several tools and none of this name; set `tool`"
    raise SourceError(f"{wanted if tools else 'the server has no tools'}; it has: {names}")
