"""The server stays available whatever an unauthenticated client sends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, cast

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.server.app import build_app
from bot.server.connections import bodies, registry
from bot.server.connections.bodies import LARGE_AT_ONCE, USUAL, Bodies, Turns
from bot.server.connections.protocol import AHEAD
from bot.server.connections.registry import PHASE_SECONDS, Connections, Phase, Refusals, address_group
from bot.settings.environment import Settings
from bot.settings.server import ServerSettings
from bot.store.databases.sqlite import SqliteStore
from tests.connections.callers import Caller, calling
from tests.servers.deliveries import SECRET, headers
from tests.servers.serving import NobodyWorks, serving
from tests.support.patience import until

if TYPE_CHECKING:
    from bot.server.connections.registry import OpenConnection

QUICK: Mapping[Phase, float] = {**PHASE_SECONDS, "head": 0.5, "body": 0.5, "idle": 0.5}
GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
BODY = b'{"action": "none"}'


@pytest.fixture
def connections() -> Connections:
    return Connections(40)


@pytest.fixture
async def url(tmp_path: Path, connections: Connections) -> AsyncIterator[str]:
    store = SqliteStore(tmp_path / "store.db")
    given = Settings(triage_data_dir=tmp_path)
    app = build_app(ServerSettings(given, 4711, "", (SECRET.encode(),)), store, NobodyWorks())
    async with serving(app, connections=connections) as url:
        yield url
    await store.aclose()


async def deliver(url: str, body: bytes = BODY) -> int:
    """Send a signed delivery over a separate connection; return its status."""
    async with httpx.AsyncClient(timeout=30) as http:
        answer = await http.post(f"{url}/webhooks/github", content=body, headers=headers("star", body))
    return answer.status_code


async def longest_pause(stop: asyncio.Event) -> float:
    """Return the longest time in seconds for which the event loop was blocked."""
    longest, before = 0.0, time.monotonic()
    while not stop.is_set():
        await asyncio.sleep(0.01)
        now = time.monotonic()
        longest, before = max(longest, now - before), now
    return longest


@pytest.mark.tried("endless heads, idle connections, large bodies and slow forms of strangers")
async def test_an_endless_header_is_refused_early(url: str) -> None:
    stop = asyncio.Event()
    pause = asyncio.create_task(longest_pause(stop))
    async with calling(url) as caller:
        await caller.send(GET + b"X: ")
        for _ in range(100):
            await caller.send(b"x" * 1_000_000)
        assert await caller.status() in (431, 0)
        assert await caller.is_closed()
    stop.set()
    assert await pause < 5.0  # was 18 seconds before
    assert await deliver(url) == 202


@pytest.mark.tried("endless heads, idle connections, large bodies and slow forms of strangers")
async def test_a_head_that_is_too_large_gets_a_431(url: str) -> None:
    heads = {
        "one header": GET + b"X: " + b"x" * 90_000 + b"\r\n\r\n",
        "many headers": GET + b"a:b\r\n" * 200 + b"\r\n",
        "a line": b"GET /" + b"x" * 90_000 + b" HTTP/1.1\r\n\r\n",
    }
    for name, head in heads.items():
        async with calling(url) as caller:
            await caller.send(head)
            assert await caller.status() == 431, name
            assert await caller.is_closed(), name


async def test_usual_heads_are_read_in_any_pieces(url: str) -> None:
    head = GET + b"".join(b"X-%d: %s\r\n" % (n, b"x" * 300) for n in range(80)) + b"\r\n"
    async with calling(url) as caller:
        for start in range(0, len(head), 997):
            await caller.send(head[start : start + 997])
            await asyncio.sleep(0)
        assert await caller.status() == 200


@pytest.mark.tried("endless heads, idle connections, large bodies and slow forms of strangers")
async def test_pipelined_requests_are_limited(url: str) -> None:
    async with calling(url) as caller:
        await caller.send((GET + b"\r\n") * 3)
        assert [await _answer(caller) for _ in range(3)] == [200] * 3
    async with calling(url) as caller:
        await caller.send((GET + b"\r\n") * 5_000)
        assert await caller.is_closed()


async def test_few_pipelined_requests_are_answered(url: str) -> None:
    async with calling(url) as caller:
        await caller.send((GET + b"\r\n") * 200)
        answers = b""
        with contextlib.suppress(ConnectionError):
            while read := await caller.reader.read(65_536):
                answers += read
    assert answers.count(b"HTTP/1.1 200") <= AHEAD + 1


async def _answer(caller: Caller) -> int:
    status = await caller.status()
    await caller.reader.readexactly(3)
    return status


class TestDeadlines:
    @pytest.fixture
    def connections(self) -> Connections:
        return Connections(40, patience=QUICK)

    @pytest.mark.parametrize(
        "sent",
        [
            pytest.param(b"", id="nothing"),
            pytest.param(GET, id="half-a-head"),
            pytest.param(b"POST /healthz HTTP/1.1\r\nContent-Length: 9\r\n\r\n1", id="half-a-body"),
            pytest.param(GET + b"\r\n" + GET, id="half-of-the-next-head"),
        ],
    )
    async def test_a_caller_that_stops_is_disconnected(self, url: str, sent: bytes) -> None:
        async with calling(url) as caller:
            await caller.send(sent)
            assert await caller.is_closed()

    async def test_a_caller_that_sends_slowly_is_disconnected(self, url: str) -> None:
        async with calling(url) as caller:
            await caller.send(GET)
            closed = asyncio.create_task(caller.is_closed())
            while not closed.done():
                await caller.send(b"X: y\r\n")
                await asyncio.sleep(0.05)
            assert closed.result()

    async def test_late_requests_are_logged(self, url: str, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING, "bot.server.connections.registry"):
            async with calling(url) as caller:
                await caller.send(GET)
                assert await caller.is_closed()
        assert "refused: head that took too long: 1; most from 127.0.0.1 (1)" in caplog.text


@pytest.mark.tried("endless heads, idle connections, large bodies and slow forms of strangers")
@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="silent"),
        pytest.param(GET, id="half-a-head"),
        pytest.param(
            b"POST /webhooks/github HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n"
            b"X-Hub-Signature-256: sha256=" + b"0" * 64 + b"\r\n\r\n1",
            id="half-a-delivery",
        ),
        pytest.param(b"POST /login HTTP/1.1\r\nContent-Length: 9\r\nSec-Fetch-Site: same-origin\r\n\r\n1", id="a-form"),
    ],
)
async def test_half_open_requests_leave_room_for_deliveries(
    url: str, connections: Connections, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with AsyncExitStack() as stack:
        for number in range(150):
            caller = await stack.enter_async_context(calling(url))
            await caller.send(sent)
            if number % 30 == 29:
                assert await deliver(url) == 202
        assert len(connections) <= connections.most
    connections.refusals.flush()
    assert "at the limit of connections" in caplog.text


@pytest.mark.tried("endless heads, idle connections, large bodies and slow forms of strangers")
async def test_the_address_with_the_most_connections_loses_one() -> None:
    def other(address: str, since: float, phase: Phase = "head", *, protected: bool = False) -> Fake:
        return Fake(address, since, phase, protected)

    connections = Connections(8)
    capped_confidence = [other("10.0.0.1", 0.0), other("10.0.0.2", 1.0)]
    crowd = [other("10.0.0.9", 2.0, protected=True), *(other("10.0.0.9", 2.0 + n) for n in range(1, 6))]
    for one in (*capped_confidence, *crowd, newest := other("10.0.0.3", 9.0)):
        connections.add(cast("OpenConnection", one))
    assert [one.ended for one in (*capped_confidence, newest)] == [False] * 3
    assert [one.ended for one in crowd] == [False, True, False, False, False, False]


def holding(begun: list[str], go_on: asyncio.Event) -> ASGIApp:
    """Return an application that reads each request and answers when the test allows it."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        await receive()
        begun.append(scope["path"])
        await go_on.wait()
        await send({"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    return app


@pytest.mark.tried("endless heads, idle connections, large bodies and slow forms of strangers")
async def test_a_delivery_that_arrived_is_not_closed_for_requests_that_came_later() -> None:
    begun: list[str] = []
    go_on = asyncio.Event()
    async with serving(holding(begun, go_on), connections=Connections(4)) as url, AsyncExitStack() as stack:
        first = await stack.enter_async_context(calling(url))
        await first.send(b"POST /webhooks/github HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
        await until(lambda: begun == ["/webhooks/github"])
        for number in range(1, 9):
            other = await stack.enter_async_context(calling(url))
            await other.send(GET + b"\r\n")
            await until(lambda number=number: len(begun) == 1 + number)
        go_on.set()
        assert await first.status() == 202


@pytest.mark.tried("endless heads, idle connections, large bodies and slow forms of strangers")
async def test_a_caller_that_does_not_read_its_response_is_disconnected(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def endless(scope: Scope, _receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            while connections:
                await send({"type": "http.response.body", "body": b"x" * 1_000_000, "more_body": True})

    monkeypatch.setattr(registry, "STALLED_SECONDS", 0.2)
    connections = Connections(4)
    async with serving(endless, connections=connections) as url, calling(url) as caller:
        await caller.send(GET + b"\r\n")
        await until(lambda: len(connections) == 1, 5.0)
        await until(lambda: len(connections) == 0, 5.0)
    assert "response that was not read" in caplog.text


async def test_large_bodies_are_read_a_few_at_a_time() -> None:
    bodies, read = Bodies(), 0

    async def one(done: asyncio.Event) -> None:
        nonlocal read
        with bodies.one() as body:
            async with body.reading(asyncio.get_running_loop().time() + 600):
                await body.hold(USUAL + 1)
                read += 1
                await done.wait()

    ends = [asyncio.Event() for _ in range(LARGE_AT_ONCE + 1)]
    tasks = [asyncio.create_task(one(end)) for end in ends]
    for _ in range(20):
        await asyncio.sleep(0)
    assert read == LARGE_AT_ONCE
    for end in ends:
        end.set()
    await asyncio.gather(*tasks)
    assert read == len(ends)


async def test_few_requests_start_in_one_iteration_of_the_event_loop() -> None:
    begun = 0

    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        nonlocal begun
        begun += 1

    turns = Turns(app)
    tasks = [asyncio.create_task(turns({}, None, None)) for _ in range(20)]  # type: ignore[arg-type]
    await asyncio.sleep(0)
    assert 0 < begun <= 4
    await asyncio.gather(*tasks)
    assert begun == 20


class Fake:
    stalled_since = None

    def __init__(self, address: str, since: float, phase: Phase, protected: bool) -> None:
        self.address, self.since, self.phase, self.protected = address, since, phase, protected
        self.ended = False

    def end(self, reason: str) -> None:
        self.ended = True

    def is_closing(self) -> bool:
        return self.ended


@pytest.mark.tried("endless heads, idle connections, large bodies and slow forms of strangers")
def test_an_ipv6_network_counts_as_one_caller() -> None:
    assert address_group("192.0.2.7") == "192.0.2.7"
    assert address_group("2001:db8::1") == address_group("2001:db8::ffff:1") != address_group("2001:db8:0:1::1")
    assert address_group("::ffff:192.0.2.7") == "192.0.2.7"
    assert address_group("fe80::1%eth0") == "fe80::"


SLOW_FORM = b"POST /login HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 100\r\n\r\ntoken="


@pytest.mark.tried("endless heads, idle connections, large bodies and slow forms of strangers")
async def test_a_slow_form_gets_a_408(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(bodies, "FORM_SECONDS", 0.2)
    async with calling(url) as caller:
        await caller.send(SLOW_FORM)
        assert await caller.status() == 408
        assert await caller.is_closed()
    assert "Traceback" not in caplog.text


@pytest.mark.tried("endless heads, idle connections, large bodies and slow forms of strangers")
async def test_a_form_that_is_cut_off_logs_no_traceback(url: str, caplog: pytest.LogCaptureFixture) -> None:
    async with calling(url) as caller:
        await caller.send(SLOW_FORM)
    await asyncio.sleep(0.2)
    assert await deliver(url) == 202
    assert "Traceback" not in caplog.text


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_refusals_are_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    refusals = Refusals(clock)
    refusals.count("bad request", "10.0.0.1")
    for number in range(1_000):
        refusals.count("bad request", f"10.0.0.{number % 3}")
    assert len(caplog.records) == 1
    clock.now += 61
    refusals.count("slow request", "10.0.0.1")
    assert len(caplog.records) == 2
    assert "refused: bad request: 1000, slow request: 1; most from 10.0.0." in caplog.text


async def test_the_counts_of_a_minute_are_logged_even_if_nothing_follows(caplog: pytest.LogCaptureFixture) -> None:
    refusals = Refusals(period=0.1)
    for _ in range(3):
        refusals.count("bad request")
    await _until(lambda: asyncio.sleep(0.01, len(caplog.records) == 2))
    assert "bad request: 2" in caplog.text


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await holds():
            pass
