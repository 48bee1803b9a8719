"""The webhook over real HTTP: accepted and refused requests, and availability."""

from __future__ import annotations

import asyncio
import json
import threading
import tracemalloc
from contextlib import AsyncExitStack
from urllib.parse import urlencode

import pytest

from bot.jobs import InstallationChanged
from bot.server.connections.bodies import MAX_TOTAL
from bot.server.webhook import endpoint
from bot.server.webhook.endpoint import MAX_DELIVERY
from tests.connections.callers import calling
from tests.servers.deliveries import comment_event, headers, issue_event, repository, sign
from tests.servers.github_world import World
from tests.webhook.conftest import OLD_SECRET, TOKEN, Receiver

PATH = "/webhooks/github"
OPERATOR = {"Authorization": f"Bearer {TOKEN}"}


SIGNED_LARGE = (
    b"POST /webhooks/github HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"X-Hub-Signature-256: sha256=" + b"0" * 64 + b"\r\n"
)


@pytest.fixture
def opened() -> bytes:
    world = World(url="https://github.example.org")
    repo = world.repository()
    return issue_event(world, repo, world.open_issue(repo)["number"], "opened")


async def jobs(receiver: Receiver) -> int:
    return sum((await receiver.store.jobs.counts()).values())


async def test_an_opened_issue_is_stored_before_it_is_acknowledged(receiver: Receiver, opened: bytes) -> None:
    answer = await receiver.http.post(PATH, content=opened, headers=headers("issues", opened))
    assert (answer.status_code, answer.json()) == (202, {"status": "queued"})
    job = await receiver.store.jobs.claim("run", "me")
    assert job is not None
    assert job.work.kind == "triage"
    assert job.work.key.startswith("github.example.org/")
    assert receiver.work.woken == [None]


async def test_a_form_leads_to_the_same_jobs_as_json(receiver: Receiver, opened: bytes) -> None:
    body = urlencode({"payload": opened.decode()}).encode()
    form = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
    answer = await receiver.http.post(PATH, content=body, headers=headers("issues", body) | form)
    assert answer.status_code == 202
    assert await jobs(receiver) == 1


async def test_a_repeated_delivery_is_stored_once(receiver: Receiver, opened: bytes) -> None:
    sent = headers("issues", opened, guid="same")
    answers = await asyncio.gather(*(receiver.http.post(PATH, content=opened, headers=sent) for _ in range(5)))
    assert {answer.status_code for answer in answers} == {202}
    assert sorted(answer.json()["status"] for answer in answers) == ["known"] * 4 + ["queued"]
    assert await jobs(receiver) == 1


async def test_deliveries_that_arrive_together_are_all_stored(receiver: Receiver, opened: bytes) -> None:
    bodies = [opened + b" " * number for number in range(40)]
    sent = [receiver.http.post(PATH, content=body, headers=headers("issues", body)) for body in bodies]
    assert {answer.status_code for answer in await asyncio.gather(*sent)} == {202}
    assert await jobs(receiver) == 40


async def test_a_delivery_that_cannot_be_stored_in_time_gets_a_503(
    receiver: Receiver, opened: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "DELIVERY_SECONDS", 0.3)
    freed = threading.Event()
    holding = asyncio.ensure_future(receiver.store._database.do(lambda _db: freed.wait(30)))
    answer = await receiver.http.post(PATH, content=opened, headers=headers("issues", opened))
    assert (answer.status_code, "redeliver" in answer.json()["error"]) == (503, True)
    freed.set()
    await holding
    monkeypatch.setattr(endpoint, "DELIVERY_SECONDS", 30.0)
    assert (await receiver.http.post(PATH, content=opened, headers=headers("issues", opened))).status_code == 202


async def test_both_secrets_are_accepted_during_rotation(receiver: Receiver, opened: bytes) -> None:
    sent = headers("issues", opened, secret=OLD_SECRET)
    assert (await receiver.http.post(PATH, content=opened, headers=sent)).status_code == 202


SIGNATURES = {
    "none": None,
    "empty": "",
    "no digest": "sha256=",
    "the old kind": "sha1=" + "0" * 40,
    "of something else": "sha256=" + "0" * 64,
    "another secret's": sign(b"{}", "another secret"),
    "not ASCII": "sha256=é",
}


@pytest.mark.tried("forged and malformed deliveries")
async def test_an_unsigned_delivery_is_refused(receiver: Receiver, opened: bytes) -> None:
    for name, signature in SIGNATURES.items():
        sent: dict[str, str | bytes] = {**headers("issues", opened)}
        del sent["X-Hub-Signature-256"]
        if signature is not None:
            sent["X-Hub-Signature-256"] = signature.encode()
        answer = await receiver.http.post(PATH, content=opened, headers=sent)  # type: ignore[arg-type]
        assert answer.status_code == 401, name
    assert await jobs(receiver) == 0


@pytest.mark.parametrize("signature", [None, "", "sha256=", "sha1=" + "0" * 40, "sha256=" + "g" * 64])
async def test_a_missing_signature_is_refused_before_the_body_is_read(
    receiver: Receiver, signature: str | None
) -> None:
    sent = b"POST /webhooks/github HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    sent += b"Content-Length: 26214400\r\n"
    if signature is not None:
        sent += b"X-Hub-Signature-256: " + signature.encode() + b"\r\n"
    async with calling(str(receiver.http.base_url)) as caller:
        await caller.send(sent + b"\r\n")
        assert await caller.status() == 401
        assert await caller.is_closed()


async def test_many_large_bodies_leave_room_for_usual_ones(
    receiver: Receiver, opened: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "DELIVERY_SECONDS", 4.0)
    head = SIGNED_LARGE + b"Content-Length: 26214400\r\n\r\n"
    tracemalloc.start()
    async with AsyncExitStack() as stack:
        url = str(receiver.http.base_url)
        callers = [await stack.enter_async_context(calling(url)) for _ in range(8)]
        for piece in (head, *[b"x" * 1_000_000] * 20):  # one object, so that the memory in use is the server's
            await asyncio.gather(*(caller.send(piece) for caller in callers))
        answer = await receiver.http.post(PATH, content=opened, headers=headers("issues", opened))
        assert answer.status_code == 202
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 110_000_000  # 160 MB were sent


async def test_a_body_that_arrives_too_slowly_is_refused(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "DELIVERY_SECONDS", 0.2)
    async with calling(str(receiver.http.base_url)) as caller:
        await caller.send(SIGNED_LARGE + b"Content-Length: 100\r\n\r\n{")
        assert await caller.status() == 408
        assert await caller.is_closed()


async def test_bodies_are_dropped_until_the_others_fit(
    receiver: Receiver, opened: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "DELIVERY_SECONDS", 600.0)  # none is refused for being slow
    head = SIGNED_LARGE + b"Content-Length: 26214400\r\n\r\n"
    url, begun = str(receiver.http.base_url), b"x" * (MAX_TOTAL // 60)
    async with AsyncExitStack() as stack:
        callers = [await stack.enter_async_context(calling(url)) for _ in range(70)]
        await asyncio.gather(*(caller.send(head + begun) for caller in callers))
        answers = [asyncio.create_task(caller.status()) for caller in callers]
        answered, waiting = await asyncio.wait(answers, return_when=asyncio.FIRST_COMPLETED)
        for one in waiting:
            one.cancel()
        assert {one.result() for one in answered} == {503}
        answer = await receiver.http.post(PATH, content=opened, headers=headers("issues", opened))
        assert answer.status_code == 202


@pytest.mark.tried("forged and malformed deliveries")
async def test_a_captured_body_has_no_effect_under_another_id(receiver: Receiver, opened: bytes) -> None:
    sent = headers("issues", opened)
    statuses = []
    for guid in ("first", "second", "third"):
        answer = await receiver.http.post(PATH, content=opened, headers=sent | {"X-GitHub-Delivery": guid})
        statuses.append((answer.status_code, answer.json()["status"]))
    assert statuses == [(202, "queued"), (202, "known"), (202, "known")]
    assert await jobs(receiver) == 1


@pytest.mark.tried("forged and malformed deliveries")
async def test_a_captured_body_is_not_accepted_as_another_event(receiver: Receiver) -> None:
    world = World(url="https://github.example.org")
    repo = world.repository()
    number = world.open_issue(repo)["number"]
    comment = world.comment(repo, number, "/triage")
    about = {"repository": repository(world, repo), "installation": {"id": 7, "account": {"login": "octo"}}}
    bodies = {
        "issues": [issue_event(world, repo, number, action) for action in ("deleted", "transferred", "opened")],
        "issue_comment": [comment_event(world, repo, number, comment, action) for action in ("created", "deleted")],
        "label": [json.dumps({"action": "deleted", "label": {"name": "a"}, **about}).encode()],
        "star": [json.dumps({"action": "deleted", "starred_at": None, **about}).encode()],
        "repository_dispatch": [json.dumps({"action": "deleted", "client_payload": {}, **about}).encode()],
        "installation": [json.dumps({"action": "deleted", "installation": about["installation"]}).encode()],
        "repository": [json.dumps({"action": "deleted", **about}).encode()],
    }
    for event, sent in bodies.items():
        for other in {"issues", "issue_comment", "installation", "installation_repositories", "repository"} - {event}:
            for body in sent:
                answer = await receiver.http.post(PATH, content=body, headers=headers(other, body))
                assert answer.status_code == 400, (event, other, body[:60])


ODD = {
    "changes": {"body": True, "title": 3, "old_issue": "x"},
    "label": 7,
    "sender": "rita",
    "organization": [],
    "repositories": "none",
}


async def test_an_invalid_field_that_is_not_needed_is_ignored(receiver: Receiver, opened: bytes) -> None:
    payload = json.loads(opened)
    payload["issue"]["user"] = {"login": 5, "id": "x", "type": []}
    payload["repository"] |= {"private": "perhaps", "owner": 1, "archived": {}}
    for name, odd in ODD.items():
        body = json.dumps(payload | {name: odd}).encode()
        answer = await receiver.http.post(PATH, content=body, headers=headers("issues", body))
        assert (answer.status_code, answer.json()) == (202, {"status": "queued"}), name


async def test_valid_items_of_a_list_count(receiver: Receiver) -> None:
    about = {"id": 7, "account": {"login": "octo"}}
    added = [{"id": 1, "full_name": "octo/a"}, {"id": None}, 3, {"id": 2, "full_name": "octo/b"}]
    body = json.dumps({"action": "added", "installation": about, "repositories_added": added}).encode()
    sent = headers("installation_repositories", body)
    assert (await receiver.http.post(PATH, content=body, headers=sent)).json() == {"status": "queued"}
    job = await receiver.store.jobs.claim("control", "me")
    assert isinstance(job and job.work, InstallationChanged)
    assert [ref.id for ref in job.work.added] == [1, 2]


MALFORMED = {
    "empty": b"",
    "cut off": b"{",
    "a list": b"[]",
    "null": b"null",
    "not UTF-8": b"\xff\xfe",
    "very deep": b"[" * 100_000,
}
MISSHAPEN = {
    "no issue": b'{"action": "opened"}',
    "no number": b'{"action": "opened", "issue": {"number": "x"}, "repository": {"id": 1}}',
    "the issue is a number": b'{"action": "opened", "issue": 1, "repository": {"id": 1}}',
    "half a character": b'{"action": "\\ud800"}',
}


@pytest.mark.tried("forged and malformed deliveries")
async def test_an_invalid_payload_is_refused(receiver: Receiver) -> None:
    cases = [(event, *case) for event in ("issues", "star") for case in MALFORMED.items()]
    for event, name, body in [*cases, *(("issues", *case) for case in MISSHAPEN.items())]:
        answer = await receiver.http.post(PATH, content=body, headers=headers(event, body))
        assert answer.status_code == 400, (event, name)
    assert await jobs(receiver) == 0
    assert (await receiver.http.get("/healthz")).status_code == 200


@pytest.mark.tried("forged and malformed deliveries")
@pytest.mark.parametrize("missing", ["X-GitHub-Event", "X-GitHub-Delivery"])
async def test_a_delivery_without_its_headers_is_refused(receiver: Receiver, opened: bytes, missing: str) -> None:
    sent = headers("issues", opened)
    del sent[missing]
    assert (await receiver.http.post(PATH, content=opened, headers=sent)).status_code == 400


@pytest.mark.tried("forged and malformed deliveries")
async def test_a_form_without_a_payload_is_refused(receiver: Receiver) -> None:
    for body in (b"other=1", b"%", b"payload", b""):
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = await receiver.http.post(PATH, content=body, headers=headers("issues", body) | form)
        assert answer.status_code == 400, body


@pytest.mark.tried("forged and malformed deliveries")
async def test_other_types_are_refused(receiver: Receiver, opened: bytes) -> None:
    for kind in ("text/plain", "application/xml", "application/jsonp", ""):
        sent = headers("issues", opened) | {"Content-Type": kind}
        assert (await receiver.http.post(PATH, content=opened, headers=sent)).status_code == 415, kind


@pytest.mark.tried("forged and malformed deliveries")
async def test_a_body_that_is_too_large_is_refused_by_its_content_length(receiver: Receiver) -> None:
    async with calling(str(receiver.http.base_url)) as caller:
        await caller.send(SIGNED_LARGE + b"Content-Length: 40000000\r\n\r\n")
        assert await caller.status() == 413
    assert (await receiver.http.get("/readyz")).status_code == 200


async def test_a_chunked_body_is_refused_once_it_is_too_large(receiver: Receiver) -> None:
    async with calling(str(receiver.http.base_url)) as caller:
        await caller.send(SIGNED_LARGE + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(26):
            await caller.send(b"100000\r\n" + b"x" * 0x100000 + b"\r\n")
        assert await caller.status() == 413
    assert (await receiver.http.get("/readyz")).status_code == 200


async def test_a_large_body_within_the_bound_is_read(receiver: Receiver, opened: bytes) -> None:
    filler = {"filler": "x" * (MAX_DELIVERY - len(opened) - 100)}
    body = json.dumps(json.loads(opened) | filler).encode()
    assert (await receiver.http.post(PATH, content=body, headers=headers("issues", body))).status_code == 202


async def test_unused_events_are_acknowledged_and_not_stored(receiver: Receiver) -> None:
    for event in ("star", "push", "pull_request", "ping", "an_event_of_tomorrow"):
        answer = await receiver.http.post(PATH, content=b"{}", headers=headers(event, b"{}"))
        assert (answer.status_code, answer.json()) == (202, {"status": "nothing to do"}), event
    assert await jobs(receiver) == 0


async def test_only_post_requests_are_deliveries(receiver: Receiver) -> None:
    assert (await receiver.http.get(PATH)).status_code == 405
    assert (await receiver.http.post("/nothing")).status_code == 403


async def test_readyz_needs_a_working_worker(receiver: Receiver) -> None:
    assert (await receiver.http.get("/readyz")).status_code == 200
    receiver.work.fault = "the worker is starting"
    answer = await receiver.http.get("/readyz", headers=OPERATOR)
    assert (answer.status_code, answer.json()["faults"]) == (503, ["the worker is starting"])


async def test_readyz_gives_details_only_with_a_token(receiver: Receiver, opened: bytes) -> None:
    await receiver.http.post(PATH, content=opened, headers=headers("issues", opened))
    assert (await receiver.http.get("/readyz")).json() == {"ready": True}
    assert (await receiver.http.get("/readyz", headers=OPERATOR)).json()["jobs"] == {"todo": 1}
    receiver.work.fault = "the worker has given no sign of life for 21 seconds"
    await receiver.store._database.do(lambda db: db.execute("DROP TABLE jobs").rowcount)
    for sent in ({}, {"Authorization": "Bearer wrong"}):
        answer = await receiver.http.get("/readyz", headers=sent)
        assert (answer.status_code, answer.json()) == (503, {"ready": False})
