"""Limit the bytes read from a source while they are read."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator


class ResponseTooLargeError(Exception):
    """A source sent more than its limit."""


class Meter:
    """Counts bytes up to a limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.exceeded = False
        self._read = 0

    def takes(self, chunk: bytes) -> bool:
        """Count a chunk; False at the end of the stream, and as soon as the limit is exceeded."""
        self._read += len(chunk)
        self.exceeded = self._read > self.limit
        return bool(chunk) and not self.exceeded

    async def through(self, stream: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """Yield a stream's chunks up to the limit.

        Raises:
            TooMuchError: the stream exceeds the limit.
        """
        async for chunk in stream:
            self._read += len(chunk)
            if self._read > self.limit:
                self.exceeded = True
                raise ResponseTooLargeError(f"more than {self.limit:,} bytes")
            yield chunk
