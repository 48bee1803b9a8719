"""Fetch JSON over HTTP from a configured address: without redirects, within a time and size limit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import httpx

from nodes.sources import SourceError
from nodes.sources.meter import Meter, ResponseTooLargeError


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

    A redirect is an error: the server could redirect us, with the operator's headers, to a private address.

    Raises:
        SourceError: the answer is late, too long, not JSON, or an error status.
    """
    # Uncompressed: a compressed answer could expand to any size after it was counted.
    sent = {"Accept": "application/json", "Accept-Encoding": "identity", **(headers or {})}
    meter = Meter(max_bytes)
    try:
        async with (
            asyncio.timeout(timeout),  # for everything: a client's own limits apply to each chunk
            httpx.AsyncClient(timeout=timeout, follow_redirects=False) as client,
            client.stream(method, url, headers=sent, params=params, json=body) as answer,
        ):
            _refuse(answer)
            whole = b"".join([chunk async for chunk in meter.through(answer.aiter_raw())])
        return json.loads(whole)
    except TimeoutError as error:
        raise SourceError(f"no answer within {timeout:g} s") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SourceError(f"{type(error).__name__}: {error}"[:200]) from error
    except ResponseTooLargeError as error:
        raise SourceError(f"it said {error}") from error
    except (ValueError, RecursionError) as error:
        raise SourceError("its response is not JSON") from error


def _refuse(answer: httpx.Response) -> None:
    if answer.is_redirect:
        raise SourceError("it redirects, and redirects are not followed: configure the final address")
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise SourceError("a compressed response although none was requested; its decompressed size is unknown")
    if not answer.is_success:
        raise SourceError(f"it answered {answer.status_code}")
