"""Send signed deliveries over a few keep-alive connections as fast as they are answered, in a separate process."""

from __future__ import annotations

import asyncio
import json
import sys
import time
import uuid
from urllib.parse import urlsplit

from tests.servers.deliveries import sign


async def main() -> None:
    """Read the deliveries from standard input and print the results."""
    given = json.load(sys.stdin)
    split = urlsplit(given["url"])
    until = time.perf_counter() + given["seconds"]
    sent = [_sender(split, given, until) for _ in range(given["connections"])]
    taken = sorted(took for one in await asyncio.gather(*sent) for took in one)
    print(
        json.dumps(
            {
                "rate": len(taken) / given["seconds"],
                "p50": 1000 * taken[len(taken) // 2],
                "p99": 1000 * taken[int(len(taken) * 0.99)],
                "worst": 1000 * taken[-1],
            }
        )
    )


async def _sender(split, given, until):
    reader, writer = await asyncio.open_connection(split.hostname, split.port)
    head = f"POST {split.path} HTTP/1.1\r\nHost: {split.netloc}\r\n" + "".join(
        f"{name}: {value}\r\n" for name, value in given["headers"].items()
    )
    taken = []
    while time.perf_counter() < until:
        guid = uuid.uuid4()
        body = _unlike_others(given["body"], guid)
        own = f"X-GitHub-Delivery: {guid}\r\nContent-Length: {len(body)}\r\nX-Hub-Signature-256: {sign(body)}\r\n\r\n"
        started = time.perf_counter()
        writer.write(f"{head}{own}".encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        if not answer.split(b" ", 2)[1].startswith(b"2"):
            raise SystemExit(answer.decode())
        length = next(
            int(line.split(b":")[1]) for line in answer.split(b"\r\n") if line.lower().startswith(b"content-length")
        )
        await reader.readexactly(length)
        taken.append(time.perf_counter() - started)
    writer.close()
    return taken


def _unlike_others(body: str, guid: uuid.UUID) -> bytes:
    """Return the same JSON as different bytes, because a repeated body leads to no work."""
    return (body + f"{guid.int:0128b}".replace("0", " ").replace("1", "\t")).encode()


asyncio.run(main())
