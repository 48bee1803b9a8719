"""Notices of what waits for a person reach the operator's address once, signed or in the form of a chat service."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.errors import RetryableError
from bot.jobs import Notify
from bot.ports import IssueRef
from bot.worker import upkeep
from bot.worker.alerts import queue_notices, send
from bot.worker.publish.hook import Hook, chat_form
from bot.worker.tools import Tools
from tests.serve.test_crash_alerts import Receiver, received_posts
from tests.web.stored import PARSER, Ran, ask, job_for, known, ran
from tests.worker.test_upkeep import tools

SECRET = b"a-secret-of-the-operator"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with received_posts() as found:
        yield found


@pytest.fixture
async def told(tmp_path: Path, receiver: Receiver) -> AsyncIterator[Tools]:
    async with tools(tmp_path) as opened:
        await known(opened.store)
        yield replace(opened, hook=Hook(receiver.url, SECRET))


async def sent(tools: Tools) -> int:
    """Send all queued notices; return how many."""
    count = 0
    while (job := await tools.store.jobs.claim("control", "me")) is not None:
        assert isinstance(job.work, Notify)
        await send(job, job.work, tools)
        count += 1
    return count


async def test_each_thing_that_waits_is_sent_once_and_without_the_issues_text(told: Tools, receiver: Receiver) -> None:
    store = told.store
    asked = await ran(store, Ran(title="Private words", status="waiting"))
    await ask(store, asked)
    fresh = await ran(store, Ran(status="waiting"))
    await ask(store, fresh)
    old = "UPDATE questions SET asked_at = '2026-01-01T00:00:00Z' WHERE issue_key = ?"
    await store._database.do(lambda db: db.execute(old, (asked.key,)).rowcount)
    failed = await ran(store, Ran(title="Private words", status="failed", trace=()))
    await store.jobs.mark_dead(await job_for(store, failed), "GitHub answered 502 to ghp_" + "a1" * 20)
    await store.for_repository(PARSER).limited.note("permission.issues")
    effects, digest = store.for_repository(PARSER).effects, IssueRef("github.com", 7, 9, "octo", "parser", 3)
    await effects.set_wanted(digest.key, "digest", "2026-11-16", "h", "Private words")
    await effects.record_done(digest.key, "digest", "2026-11-16", "h", 5)
    assert await queue_notices(replace(told, hook=None)) == 0
    assert await queue_notices(told) == 5
    assert await queue_notices(told) == 0
    assert await sent(told) == 5
    events = {event["event"]: event for event in (json.loads(body) for _, body in receiver.received)}
    assert set(events) == {"question", "ended", "permission", "dead", "digest"}
    assert events["question"]["text"] == f"octo/parser#{asked.number}: a question has had no answer for a day"
    assert events["ended"]["text"].endswith("the run failed: GitHub answered 502 to [masked]")
    assert events["digest"]["link"] == "https://github.com/octo/parser/issues/3"
    assert "Issues (write)" in events["permission"]["text"]
    for headers, body in receiver.received:
        assert b"Private words" not in body
        assert b"ghp_" not in body
        assert headers["X-Tracehound-Signature-256"] == f"sha256={hmac.new(SECRET, body, hashlib.sha256).hexdigest()}"


async def test_what_waits_is_found_at_each_check_and_not_only_each_hour(
    told: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "CHECK_EVERY", 0.01)
    for lease in ("upkeep", "upkeep at start"):
        await told.store.leases.take(lease, 3_600.0)
    keeping = asyncio.create_task(upkeep.run_upkeep(told))
    await asyncio.sleep(0.05)
    failed = await ran(told.store, Ran(status="failed", trace=()))
    async with asyncio.timeout(30):
        while (job := await told.store.jobs.claim("control", "me")) is None:
            await asyncio.sleep(0.01)
    keeping.cancel()
    assert isinstance(job.work, Notify)
    assert job.work.issue == failed.number


async def test_a_receiver_that_fails_is_asked_again_and_one_that_refuses_is_not(
    told: Tools, receiver: Receiver
) -> None:
    await told.store.for_repository(PARSER).limited.note("permission.issues")
    await queue_notices(told)
    job = await told.store.jobs.claim("control", "me")
    assert job is not None
    assert isinstance(job.work, Notify)
    assert job.work.key not in (f"{PARSER.key}#0", PARSER.key)  # it delays no other job
    receiver.faults = 1
    with pytest.raises(RetryableError):
        await send(job, job.work, told)
    receiver.status = 404
    await send(job, job.work, told)
    assert len(receiver.received) == 2
    assert await told.store.jobs.counts() == {}


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://hooks.slack.com/services/T/B/x", ["text"]),
        ("https://discord.com/api/webhooks/1/x", ["content"]),
        ("https://octo.webhook.office.com/x", ["attachments", 0, "content", "body", 0, "text"]),
        ("https://prod-1.westeurope.logic.azure.com/workflows/x", ["attachments", 0, "content", "body", 0, "text"]),
        ("https://hooks.slack.com.example.org/x", None),
        ("https://alerts.example.org/hooks.slack.com", None),
    ],
)
def test_a_chat_service_receives_its_own_form(url: str, path: list[str | int] | None) -> None:
    form = chat_form(url)
    assert (form is None) == (path is None)
    if form is None or path is None:
        return
    found = body = json.loads(json.dumps(form("octo/parser#1 <!channel> @everyone")))
    for part in path:
        found = found[part]
    assert found.startswith("octo/parser#1")
    assert "<!channel>" not in found or "slack" not in url
    assert body.get("allowed_mentions", {"parse": []}) == {"parse": []}
