"""HTTP clients that violate the protocol, over plain sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass
class Caller:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        """Send as much as possible before the server closes the connection."""
        try:
            self.writer.write(data)
            await self.writer.drain()
        except ConnectionError:
            pass

    async def status(self) -> int:
        """Return the status of the next response; 0 if the connection ends without one."""
        try:
            head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 30)
        except (asyncio.IncompleteReadError, ConnectionError):
            return 0
        return int(head.split(b" ", 2)[1])

    async def is_closed(self, seconds: float = 30.0) -> bool:
        """Return whether the server closes the connection within this many seconds."""
        try:
            async with asyncio.timeout(seconds):
                while await self.reader.read(65_536):
                    pass
        except TimeoutError:
            return False
        except ConnectionError:
            pass
        return True


@asynccontextmanager
async def calling(url: str) -> AsyncIterator[Caller]:
    """Open a connection for the duration of a block."""
    split = urlsplit(url)
    reader, writer = await asyncio.open_connection(split.hostname, split.port)
    try:
        yield Caller(reader, writer)
    finally:
        writer.close()
