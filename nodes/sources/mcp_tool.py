"""A tool of an MCP server (https://modelcontextprotocol.io) as a source: its arguments and its results."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from nodes.sources.connection import Server, choice, connect, listed, load_library
from nodes.sources.meter import Meter
from nodes.sources.protocol import Inquiry, SourceAnswer, SourceError, SourceInfo
from nodes.sources.results import Received, as_evidence, clean, results_in

if TYPE_CHECKING:
    import mcp
    import mcp_types

_QUESTIONS = ("query", "question", "q", "search", "search_query", "text", "input", "prompt", "keywords", "term")
_COUNTS = frozenset({"limit", "max_results", "maxresults", "num_results", "top_k", "topk", "k", "n", "count", "size"})
T = TypeVar("T")


class McpTool:
    """Queries one tool. Every question opens its own connection, so nothing that a server does outlives it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._chosen: mcp_types.Tool | None = None
        self.info = SourceInfo(server.name, server.description, server.keywords)

    async def ask(self, inquiry: Inquiry, limit: int) -> SourceAnswer:
        """Send the question to the tool and convert its answer to evidence."""
        response = await self._within_bounds(lambda client: self._call(client, inquiry.text, limit))
        return SourceAnswer(as_evidence(results_of(response), self._server.kind, self.info.name, limit))

    async def check(self) -> str:
        """Connect, find the tool, and return a one-line summary; a SourceError names what is wrong."""
        self._chosen = None
        return await self._within_bounds(self._check_tool)

    async def _call(self, client: "mcp.Client", text: str, limit: int) -> "mcp_types.CallToolResult":
        import mcp_types  # noqa: PLC0415  only needed if a server is configured

        if self._chosen is None:
            self._chosen = choice(await listed(client), self._server)
        arguments = fill(self._chosen.input_schema, text, limit, given=self._server.arguments)
        params = mcp_types.CallToolRequestParams(name=self._chosen.name, arguments=arguments)
        # Not `client.call_tool`: it lists the tools again to check a schema that we do not use.
        return await client.session.send_request(mcp_types.CallToolRequest(params=params), mcp_types.CallToolResult)

    async def _check_tool(self, client: "mcp.Client") -> str:
        tools = await listed(client)
        chosen = choice(tools, self._server)
        fill(chosen.input_schema, "question", 1, given=self._server.arguments)
        return f"answers; tool `{clean(chosen.name)[:80]}`, of {len(tools)} tool{'s' * (len(tools) != 1)}"

    async def _within_bounds(self, act: "Callable[[mcp.Client], Awaitable[T]]") -> T:
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


def fill(schema: Mapping[str, Any], question: str, limit: int, *, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question, the limit and the operator's values as a tool's arguments; SourceError if it needs more."""
    properties = schema.get("properties")
    fields: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    required = [name for name in schema.get("required") or () if isinstance(name, str)]
    name = _question_of(fields, required, given)
    counts = {key: limit for key, field in fields.items() if key.lower() in _COUNTS and _is(field, "integer", "number")}
    # `given` comes last, so the operator's arguments win.
    filled = {**counts, name: question, **given}
    missing = [key for key in required if key not in filled]
    if missing:
        raise SourceError(f"the tool also needs {', '.join(missing[:5])[:120]}; give them under `arguments`")
    return filled


def results_of(response: "mcp_types.CallToolResult") -> list[Received]:
    """Return the results in an answer, in the tool's order; a failure that it reports is a SourceError."""
    texts = [content.text for content in response.content if content.type == "text"]
    if response.is_error:
        raise SourceError(f"the tool failed: {clean(' '.join(texts))[:200] or 'it gives no reason'}")
    if response.structured_content:
        return results_in(response.structured_content)
    found = [result for text in texts for result in _decoded(text)]
    links = (item for item in response.content if item.type == "resource_link")
    found += [Received(item.description or item.name, item.title or item.name, str(item.uri)) for item in links]
    inside = (item.resource for item in response.content if item.type == "resource")
    return [*found, *(Received(item.text, url=str(item.uri)) for item in inside if hasattr(item, "text"))]


def _question_of(fields: Mapping[str, Any], required: list[str], given: Mapping[str, Any]) -> str:
    texts = [name for name, field in fields.items() if _is(field, "string") and name not in given]
    needed = [name for name in texts if name in required]
    known = [name for name in _QUESTIONS if name in texts]
    # In this order: the only required text, a usual name, the only text at all.
    for names in (needed, known[:1], texts):
        if len(names) == 1:
            return names[0]
    raise SourceError("the tool has no argument that is clearly for the question; give the others under `arguments`")


def _is(field: Any, *types: str) -> bool:
    if not isinstance(field, Mapping):
        return False
    own = field.get("type")
    choices = [own, *(option.get("type") for option in field.get("anyOf") or () if isinstance(option, Mapping))]
    return any(kind in types for kind in choices if isinstance(kind, str))


def _decoded(text: str) -> list[Received]:
    """Decode a text that may contain JSON, as many servers send it."""
    with suppress(ValueError, RecursionError):
        if isinstance(value := json.loads(text), dict | list):
            return results_in(value)
    return [Received(text)]


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
