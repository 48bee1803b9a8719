"""A connection to an MCP server for one question, over streamable HTTP or a child's standard streams."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from nodes.evidence import EvidenceKind
from nodes.sources import SourceError
from nodes.sources.meter import Meter
from nodes.sources.results import clean

if TYPE_CHECKING:
    import mcp
    import mcp_types
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

_LISTED, _PAGES = 200, 10
"""The limits for a server's tools, and for the pages of its tool list."""
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
"""The only variables of our environment that a server receives; keys and tokens are not among them."""
_GRACE = 0.5
"""Seconds for a server to exit after its input was closed."""
_KILL = 15.0
"""Seconds to wait until every process of a server is killed."""
_CHUNK = 65_536
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
    """Import the SDK. This takes two seconds once, only if a server is configured, and outside the server's time limit.

    Raises:
        SourceError: the SDK is not installed.
    """
    try:
        import mcp.client.streamable_http  # noqa: F401, PLC0415
    except ImportError as error:
        raise SourceError(
            "the package mcp is missing: install the extra `tools` (in a clone: make install EXTRAS=tools)"
        ) from error
    # Faults of a server appear in the trace as one line, so the SDK's tracebacks are kept out of the log.
    for name in ("mcp", "client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


@asynccontextmanager
async def connect(server: Server, meter: Meter) -> AsyncIterator[mcp.Client]:
    """Yield a client that is connected until the block ends; call `load_library` first."""
    import mcp  # noqa: PLC0415  already loaded

    if server.command:
        transport = serve_child(server.command, env=server.env, meter=meter)
        # Without the SDK's cache: nothing that a server sent may influence a later question.
        async with mcp.Client(transport, cache=None) as client:
            yield client
        return
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    from nodes.sources.meter import http_client  # noqa: PLC0415

    async with http_client(server.headers, server.timeout, meter) as http:
        streams = streamable_http_client(server.url, http_client=http, max_sse_event_size=server.max_bytes)
        async with mcp.Client(streams, cache=None) as client:
            yield client


async def listed(client: mcp.Client) -> list[mcp_types.Tool]:
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


def choice(tools: Sequence[mcp_types.Tool], server: Server) -> mcp_types.Tool:
    """Return the tool that the configuration names, the tool with our name, or the only tool.

    Raises:
        SourceError: no such tool exists.
    """
    named = next((tool for tool in tools if tool.name == (server.tool or server.name)), None)
    if named is not None:
        return named
    if not server.tool and len(tools) == 1:
        return tools[0]
    names = ", ".join(clean(tool.name)[:40] for tool in tools[:8]) or "none"
    problem = f"no tool `{server.tool}`" if server.tool else "several tools and none of this name; set `tool`"
    raise SourceError(f"{problem if tools else 'the server has no tools'}; it has: {names}")


@asynccontextmanager
async def serve_child(
    command: Sequence[str], *, env: Mapping[str, str], meter: Meter
) -> AsyncIterator[TransportStreams]:
    """Start a server; at the end, kill it and every process that it started.

    Raises:
        SourceError: the server cannot be started.
    """
    process, lifeline = await _start(command, env)
    output, stdin = process.stdout, process.stdin
    # Never the case with pipes; the check is for the type checker.
    if output is None or stdin is None:
        raise SourceError("the server's standard streams are missing")
    read_in, read_out = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
    write_in, write_out = anyio.create_memory_object_stream["SessionMessage"](0)
    try:
        async with anyio.create_task_group() as tasks, read_in, read_out, write_in, write_out:
            tasks.start_soon(_read, output, read_in.clone(), meter)
            tasks.start_soon(_write, stdin, write_out.clone())
            read_in.close()
            try:
                yield read_out, write_in
            finally:
                tasks.cancel_scope.cancel()
    finally:
        # Shielded, so that a cancelled run still ends its server.
        with anyio.CancelScope(shield=True):
            await _end(process, stdin, lifeline)


async def _start(command: Sequence[str], env: Mapping[str, str]) -> tuple[asyncio.subprocess.Process, int]:
    """Start a server below a reaper; return the reaper, and the descriptor whose closing makes it kill all of them."""
    program = shutil.which(command[0])
    if program is None:
        raise SourceError(f"`{command[0]}` is not an executable on the PATH")
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    # The reaper reads this pipe and kills all processes when our end closes, even if this process dies.
    reaper_end, lifeline = os.pipe()
    process = None
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *_REAPER,
            str(reaper_end),
            program,
            *command[1:],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**inherited, **env},
            # Not our working directory: a checkout there could contain modules that the server would import.
            cwd=os.sep,
            # A session of its own, so that `_end` can kill the whole process group without this process.
            start_new_session=True,
            pass_fds=[reaper_end],
        )
    except OSError as error:
        raise SourceError(f"`{command[0]}` cannot be started: {error.strerror or type(error).__name__}") from error
    finally:
        os.close(reaper_end)
        if process is None:
            os.close(lifeline)
    return process, lifeline


async def _read(
    output: asyncio.StreamReader,
    to: MemoryObjectSendStream[SessionMessage | Exception],
    meter: Meter,
) -> None:
    """Forward messages; lines that are not messages, such as a greeting, are skipped."""
    import mcp_types  # noqa: PLC0415  only needed if a server is configured
    from mcp.shared.message import SessionMessage  # noqa: PLC0415

    pending = b""
    async with to:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            while meter.takes(chunk := await output.read(_CHUNK)):
                # Messages are lines of JSON. The meter bounds ``pending``, so a line without an end cannot fill the
                # memory.
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    with suppress(ValueError):
                        await to.send(SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line)))


async def _write(
    to: asyncio.StreamWriter,
    messages: MemoryObjectReceiveStream[SessionMessage],
) -> None:
    async with messages:
        with suppress(OSError):
            async for message in messages:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                to.write(line.encode() + b"\n")
                await to.drain()


async def _end(process: asyncio.subprocess.Process, stdin: asyncio.StreamWriter, lifeline: int) -> None:
    """Close the server's input, wait briefly, then have it killed with every process that it started."""
    stdin.close()
    exited = asyncio.ensure_future(_wait_for_exit(process))
    await asyncio.wait([exited], timeout=_GRACE)
    # Only after the grace period, so that a server may end by itself.
    os.close(lifeline)
    await asyncio.wait([exited], timeout=_KILL)
    exited.cancel()
    # Without a subreaper, the process group is all that can be found and killed.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), _GRACE)
    # asyncio's Process has no public method that closes its pipes.
    transport = process._transport  # type: ignore[attr-defined]
    transport.close()


async def _wait_for_exit(process: asyncio.subprocess.Process) -> None:
    # `process.wait` also waits for pipes that a child of the server may still hold open.
    while process.returncode is None:  # noqa: ASYNC110  no event signals the exit alone
        await asyncio.sleep(0.01)
