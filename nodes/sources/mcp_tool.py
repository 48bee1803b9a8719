"""A tool of an MCP server (https://modelcontextprotocol.io), over streamable HTTP or a child's standard streams."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio

from nodes.evidence import EvidenceKind
from nodes.sources import Found, Inquiry, SourceError
from nodes.sources.arguments import fill
from nodes.sources.child import serve_child
from nodes.sources.meter import Meter
from nodes.sources.results import Result, as_evidence, clean, results_in

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


class McpTool:
    """Asks one tool; every question has a connection of its own, so that nothing a server does outlives it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._chosen: mcp_types.Tool | None = None

    @property
    def name(self) -> str:
        """As the configuration names it."""
        return self._server.name

    @property
    def description(self) -> str:
        """In the operator's words; what a server says of itself reaches no prompt."""
        return self._server.description

    @property
    def keywords(self) -> tuple[str, ...]:
        """Words of an issue that make rules ask it."""
        return self._server.keywords

    async def ask(self, inquiry: Inquiry, limit: int) -> Found:
        """Put the question to the tool and read its answer as evidence.

        Raises:
            SourceError: it is dead, slow, too talkative or speaks nonsense.
        """
        answer = await self._within_bounds(_Question(self, inquiry.text, limit))
        return Found(as_evidence(_results(answer), self._server.kind, self.name, limit))

    async def check(self) -> str:
        """Connect and look for the tool; say what was found, in one line.

        Raises:
            SourceError: it cannot be reached, or has no such tool, or one that takes no question.
        """
        self._chosen = None
        chosen = await self._within_bounds(_Look(self))
        return f"answers; tool `{clean(chosen.name)[:80]}`, of {chosen.of}"

    async def choose(self, client: mcp.Client) -> mcp_types.Tool:
        """The server's tool, listed once a process."""
        if self._chosen is None:
            self._chosen = _choice(await _listed(client), self._server)
        return self._chosen

    def forget(self) -> None:
        """List the tools again next time: what was known of them did not work."""
        self._chosen = None

    def fill(self, tool: mcp_types.Tool, text: str, limit: int) -> dict[str, Any]:
        """The arguments that put a question to the tool."""
        return fill(tool.input_schema, text, limit, given=self._server.arguments, argument=self._server.argument)

    async def _within_bounds(self, act: _Act) -> Any:
        """Connect, act, and close, all within the time and size that the operator allows."""
        server, meter = self._server, Meter(self._server.max_bytes)
        await asyncio.to_thread(_load_library)
        try:
            # An answer that is there counts, even where the server then hangs instead of closing.
            with anyio.move_on_after(server.timeout):
                async with _connect(server, meter) as client:
                    await act.on(client)
        except Exception as error:  # a hostile answer makes the client raise what it likes
            if act.answer is None:
                self.forget()
                raise SourceError(_why(error, server, meter)) from error
        if act.answer is None:
            self.forget()
            raise SourceError(_why(TimeoutError(), server, meter))
        return act.answer


class _Act:
    """Something to do on a connection, and what came of it."""

    answer: Any = None

    async def on(self, client: mcp.Client) -> None:
        raise NotImplementedError


class _Question(_Act):
    def __init__(self, tool: McpTool, text: str, limit: int) -> None:
        self._tool, self._text, self._limit = tool, text, limit

    async def on(self, client: mcp.Client) -> None:
        import mcp_types  # noqa: PLC0415  only where a server is configured

        chosen = await self._tool.choose(client)
        arguments = self._tool.fill(chosen, self._text, self._limit)
        params = mcp_types.CallToolRequestParams(name=chosen.name, arguments=arguments)
        # Not `client.call_tool`: it lists the tools anew to check a schema that we make no use of.
        self.answer = await client.session.send_request(
            mcp_types.CallToolRequest(params=params), mcp_types.CallToolResult
        )


@dataclass(frozen=True, slots=True)
class _Seen:
    name: str
    of: str


class _Look(_Act):
    def __init__(self, tool: McpTool) -> None:
        self._tool = tool

    async def on(self, client: mcp.Client) -> None:
        tools = await _listed(client)
        chosen = await self._tool.choose(client)
        self._tool.fill(chosen, "question", 1)
        self.answer = _Seen(chosen.name, f"{len(tools)} tool{'s' * (len(tools) != 1)}")


def _load_library() -> None:
    """Two seconds, once, that only those pay who configured a server; none of them off a server's time."""
    try:
        import mcp.client.streamable_http  # noqa: F401, PLC0415
    except ImportError as error:
        raise SourceError("the package mcp is missing: install tracehound[tools]") from error
    # What a server sends is said in the trace, in one line; it does not fill the log with tracebacks.
    for name in ("mcp", "client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


@asynccontextmanager
async def _connect(server: Server, meter: Meter) -> AsyncIterator[mcp.Client]:
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


async def _listed(client: mcp.Client) -> list[mcp_types.Tool]:
    tools: list[mcp_types.Tool] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None or len(tools) >= _LISTED:
            break
    return tools[:_LISTED]


def _choice(tools: Sequence[mcp_types.Tool], server: Server) -> mcp_types.Tool:
    named = next((tool for tool in tools if tool.name == (server.tool or server.name)), None)
    if named is not None:
        return named
    if not server.tool and len(tools) == 1:
        return tools[0]
    names = ", ".join(clean(tool.name)[:40] for tool in tools[:8]) or "none"
    wanted = f"no tool `{server.tool}`" if server.tool else "several tools and none of this name; set `tool`"
    raise SourceError(f"{wanted if tools else 'the server has no tools'}; it has: {names}")


def _results(answer: mcp_types.CallToolResult) -> list[Result]:
    texts = [content.text for content in answer.content if content.type == "text"]
    if answer.is_error:
        raise SourceError(f"the tool failed: {clean(' '.join(texts))[:200] or 'it does not say why'}")
    if answer.structured_content:
        return results_in(answer.structured_content)
    links = [
        Result(content.description or content.name, title=content.title or content.name, url=str(content.uri))
        for content in answer.content
        if content.type == "resource_link"
    ]
    inside = [
        Result(content.resource.text, url=str(content.resource.uri))
        for content in answer.content
        if content.type == "resource" and hasattr(content.resource, "text")
    ]
    return [*(result for text in texts for result in _decoded(text)), *links, *inside]


def _decoded(text: str) -> list[Result]:
    """Many servers put JSON into their text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [Result(text)]
    return results_in(value) if isinstance(value, dict | list) else [Result(text)]


def _why(error: BaseException, server: Server, meter: Meter) -> str:
    """One line on what went wrong; the cause is often wrapped in groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, SourceError):
        return str(error)
    if meter.exceeded:
        return f"it said more than {server.max_bytes:,} bytes"
    if isinstance(error, TimeoutError):
        return f"no answer within {server.timeout:g} s"
    said = clean(str(error)).replace("\n", " ")
    return f"{type(error).__name__}: {said}"[:200]
