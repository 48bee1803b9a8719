"""Limit the bytes read from a source: a counter, JSON over HTTP, and an HTTP client for MCP."""

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from typing import Any

import httpx
import httpx2

from nodes.sources.protocol import SourceError

_COMPRESSED = "a compressed response although none was requested; its decompressed size is unknown"


class ResponseTooLargeError(Exception):
    """A source sent more than its limit."""


class Meter:
    """Counts bytes up to a limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.exceeded = False
        self._read = 0

    async def through(self, stream: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """Yield a stream's chunks up to the limit, above which it raises ResponseTooLargeError."""
        async for chunk in stream:
            self._read += len(chunk)
            if self._read > self.limit:
                self.exceeded = True
                raise ResponseTooLargeError(f"more than {self.limit:,} bytes")
            yield chunk


async def fetch_json(
    method: str,
    url: str,
    *,
    timeout: float,  # noqa: ASYNC109  the operator's limit for this address
    max_bytes: int,
    headers: Mapping[str, str] | None = None,
    params: Mapping[str, str] | None = None,
    body: Any = None,
) -> Any:
    """Send a request and return the decoded answer.

    A redirect is an error: the server could redirect us, with the operator's headers, to a private address. So is an
    answer that is late, too long, not JSON, or an error status: each is a SourceError.
    """
    # Uncompressed: a compressed answer could expand to any size after it was counted.
    sent = {"Accept": "application/json", "Accept-Encoding": "identity", **(headers or {})}
    meter = Meter(max_bytes)
    try:
        async with (
            asyncio.timeout(timeout),  # for everything: a client's own limits apply to each chunk
            httpx.AsyncClient(timeout=timeout, follow_redirects=False) as client,
            client.stream(method, url, headers=sent, params=params, json=body) as response,
        ):
            # Before the body is read: a refused answer costs nothing.
            if response.is_redirect:
                raise SourceError("it redirects, and redirects are not followed: configure the final address")
            if response.headers.get("content-encoding", "identity") != "identity":
                raise SourceError(_COMPRESSED)
            if not response.is_success:
                raise SourceError(f"it answered {response.status_code}")
            content = b"".join([chunk async for chunk in meter.through(response.aiter_raw())])
        return json.loads(content)
    except TimeoutError as error:
        raise SourceError(f"no answer within {timeout:g} s") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SourceError(f"{url.partition('?')[0]} cannot be reached"[:200]) from error
    except ResponseTooLargeError as error:
        raise SourceError(f"it sent {error}") from error
    except (ValueError, RecursionError) as error:
        raise SourceError("its response is not JSON") from error


def http_client(headers: Mapping[str, str], timeout: float, meter: Meter) -> httpx2.AsyncClient:
    """Return a client with the operator's headers. By the SDK's rule, it follows no redirect to another server."""

    async def count(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise ResponseTooLargeError(_COMPRESSED)
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
