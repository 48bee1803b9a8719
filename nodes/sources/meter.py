"""How much a source may say, counted while it is read."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator


class TooMuchError(Exception):
    """A source said more than it may."""


class Meter:
    """Counts bytes up to a limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.exceeded = False
        self._read = 0

    def takes(self, chunk: bytes) -> bool:
        """Count a chunk; false at the end, and from the one on that is too much."""
        self._read += len(chunk)
        self.exceeded = self._read > self.limit
        return bool(chunk) and not self.exceeded

    async def through(self, stream: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """A stream's chunks, until there are too many.

        Raises:
            TooMuchError: there are.
        """
        async for chunk in stream:
            self._read += len(chunk)
            if self._read > self.limit:
                self.exceeded = True
                raise TooMuchError(f"more than {self.limit:,} bytes")
            yield chunk
