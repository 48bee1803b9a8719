"""Read submitted forms with limits on time and size."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

PATIENCE = 10.0
"""Seconds within which the whole form must arrive."""
_LARGEST = 16_384


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a small form. Of a repeated field, the last value is used.

    Raises:
        HTTPException: 400, not a form or more than 50 fields; 408, incomplete after ``PATIENCE``; 413, over 16 kB.
    """
    try:
        async with asyncio.timeout(PATIENCE):
            body = await _bounded(request)
    except (TimeoutError, ClientDisconnect) as error:
        raise HTTPException(408, headers={"connection": "close"}) from error
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=50))
    except ValueError as error:
        raise HTTPException(400) from error


async def _bounded(request: Request) -> bytes:
    body = bytearray()
    # Counted while it arrives, because a chunked request states no length.
    async for piece in request.stream():
        body += piece
        if len(body) > _LARGEST:
            raise HTTPException(413, headers={"connection": "close"})
    return bytes(body)
