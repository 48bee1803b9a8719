"""GitHub's own sample payloads: all are acknowledged and lead only to the intended jobs."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bot.server.webhook.payload import DistinctPayload, mismatch
from tests.servers.deliveries import headers
from tests.webhook.conftest import Receiver

EXAMPLES = Path(__file__).parents[2] / ".tools" / "webhooks" / "index.json"
STARTED = {
    ("installation", "installation"),
    ("installation_repositories", "installation"),
    ("repository", "repository"),
    ("issues", "triage"),
    ("issues", "edited"),
    ("issues", "ended"),
    ("issues", "labelled"),
    ("issue_comment", "reply"),
}
QUIET_ISSUE_ACTIONS = {
    "assigned",
    "unassigned",
    "milestoned",
    "demilestoned",
    "locked",
    "unlocked",
    "pinned",
    "unpinned",
}


@pytest.fixture(scope="module")
def examples() -> list[tuple[str, dict[str, Any]]]:
    if not EXAMPLES.exists():
        pytest.skip("GitHub's sample payloads are not installed: .ci/webhooks fetches them")
    events = json.loads(EXAMPLES.read_text())
    return [(event["name"], example) for event in events for example in event["examples"]]


async def test_every_sample_is_acknowledged(
    receiver: Receiver, examples: list[tuple[str, dict[str, Any]]], tmp_path: Path
) -> None:
    answers: Counter[tuple[str, int]] = Counter()
    quiet = []
    for event, payload in examples:
        body = json.dumps(payload).encode()
        answer = await receiver.http.post("/webhooks/github", content=body, headers=headers(event, body))
        answers[event, answer.status_code] += 1
        if answer.json()["status"] == "nothing to do":
            quiet.append((event, payload.get("action")))
    assert {status for _, status in answers} == {202}
    assert len(examples) > 300
    assert _started(tmp_path / "store.db") == STARTED
    assert {action for event, action in quiet if event == "issues"} == QUIET_ISSUE_ACTIONS


HARMLESS = {("public", None), ("watch", "started"), ("page_build", None), ("repository_import", None)}
"""Events that resemble `repository` but have actions that it lacks."""


@pytest.mark.tried("payloads of one event sent as another")
@pytest.mark.parametrize(
    "other", ["issues", "issue_comment", "installation", "installation_repositories", "repository"]
)
def test_no_sample_is_taken_as_another_event(examples: list[tuple[str, dict[str, Any]]], other: str) -> None:
    taken = {
        (event, payload.get("action"))
        for event, payload in examples
        if event != other and not mismatch(other, DistinctPayload.model_validate(payload))
    }
    assert taken <= (HARMLESS if other == "repository" else set())


def _started(store: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(store)) as db:
        rows = db.execute("SELECT event, json_extract(work, '$.kind') FROM jobs JOIN deliveries USING (guid)")
        return {(event, kind) for event, kind in rows}
