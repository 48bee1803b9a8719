"""A tool of an MCP server (https://modelcontextprotocol.io) as a source."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from nodes.sources import Found, Inquiry, SourceError
from nodes.sources.arguments import fill
from nodes.sources.connection import Server, choice, connect, listed, load_library
from nodes.sources.mcp_results import results_of
from nodes.sources.meter import Meter
from nodes.sources.results import as_evidence, clean

if TYPE_CHECKING:
    import mcp
    import mcp_types

T = TypeVar("T")


class McpTool:
    """Queries one tool. Every question opens its own connection, so nothing that a server does outlives it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._chosen: mcp_types.Tool | None = None

    @property
    def name(self) -> str:
        """The name in the configuration."""
        return self._server.name

    @property
    def description(self) -> str:
        """The operator's description; a server's own description reaches no prompt."""
        return self._server.description

    @property
    def keywords(self) -> tuple[str, ...]:
        """Words in an issue that make rules query the tool."""
        return self._server.keywords

    async def ask(self, inquiry: Inquiry, limit: int) -> Found:
        """Send the question to the tool and convert its answer to evidence.

        Raises:
            SourceError: the server is unreachable, too slow, too verbose, or returns invalid data.
        """
        answer = await self._within_bounds(lambda client: self._call(client, inquiry.text, limit))
        return Found(as_evidence(results_of(answer), self._server.kind, self.name, limit))

    async def check(self) -> str:
        """Connect, find the tool, and return a one-line summary.

        Raises:
            SourceError: the server is unreachable, lacks the tool, or the tool takes no question.
        """
        self._chosen = None
        return await self._within_bounds(self._look)

    async def _call(self, client: mcp.Client, text: str, limit: int) -> mcp_types.CallToolResult:
        import mcp_types  # noqa: PLC0415  only needed if a server is configured

        if self._chosen is None:
            self._chosen = choice(await listed(client), self._server)
        arguments = self._filled(self._chosen, text, limit)
        params = mcp_types.CallToolRequestParams(name=self._chosen.name, arguments=arguments)
        # Not `client.call_tool`: it lists the tools again to check a schema that we do not use.
        return await client.session.send_request(mcp_types.CallToolRequest(params=params), mcp_types.CallToolResult)

    async def _look(self, client: mcp.Client) -> str:
        tools = await listed(client)
        chosen = choice(tools, self._server)
        self._filled(chosen, "question", 1)
        return f"answers; tool `{clean(chosen.name)[:80]}`, of {len(tools)} tool{'s' * (len(tools) != 1)}"

    def _filled(self, tool: mcp_types.Tool, text: str, limit: int) -> dict[str, Any]:
        return fill(tool.input_schema, text, limit, given=self._server.arguments, argument=self._server.argument)

    async def _within_bounds(self, act: Callable[[mcp.Client], Awaitable[T]]) -> T:
        """Connect, act and close within the operator's time and size limits."""
        server, meter = self._server, Meter(self._server.max_bytes)
        await asyncio.to_thread(load_library)
        answers: list[T] = []
        fault: Exception = TimeoutError()
        try:
            with anyio.move_on_after(server.timeout):
                async with connect(server, meter) as client:
                    answers.append(await act(client))
        except Exception as error:
            fault = error
        # A received answer counts even if the server then hangs or fails while closing.
        if answers:
            return answers[0]
        self._chosen = None  # the remembered choice of a tool may be outdated
        raise SourceError(_why(fault, server, meter)) from fault


def _why(error: BaseException, server: Server, meter: Meter) -> str:
    """Describe a failure in one line; the cause is often wrapped in exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, SourceError):
        return str(error)
    if meter.exceeded:
        return f"it sent more than {server.max_bytes:,} bytes"
    if isinstance(error, TimeoutError):
        return f"no answer within {server.timeout:g} s"
    message = clean(str(error)).replace("\n", " ")
    return f"{type(error).__name__}: {message}"[:200]
