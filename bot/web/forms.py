"""What a form sends."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

_LARGEST = 16_384


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a small form; of a repeated one the last.

    Raises:
        HTTPException: it is none, or larger than 16 kB.
    """
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _LARGEST:
            raise HTTPException(413)
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=50))
    except ValueError as error:
        raise HTTPException(400) from error
