"""An HTTP client for MCP that counts response bytes while they arrive."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import httpx2

from nodes.sources.meter import Meter, ResponseTooLargeError


def http_client(headers: Mapping[str, str], timeout: float, meter: Meter) -> httpx2.AsyncClient:
    """Return a client with the operator's headers. By the SDK's rule, it follows no redirect to another server."""

    async def count(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ResponseTooLargeError(
                "a compressed response although none was requested; its decompressed size is unknown"
            )
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Counted(response.stream, meter)

    return httpx2.AsyncClient(
        headers={**headers, "Accept-Encoding": "identity"},
        timeout=httpx2.Timeout(timeout),
        follow_redirects=False,
        event_hooks={"response": [count]},
    )


class _Counted(httpx2.AsyncByteStream):
    """A response body that raises once it exceeds the limit."""

    def __init__(self, body: httpx2.AsyncByteStream, meter: Meter) -> None:
        self._body = body
        self._meter = meter

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._meter.through(self._body):
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()
