"""Requests for runs: which are accepted, once, and which are refused."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import jsonschema
import pytest

from bot.errors import JobTakenOverError
from bot.jobs import ApiRun
from bot.release import released
from bot.report.document import result_schema
from bot.server.api.routes import openapi
from bot.server.web.security import Shield
from bot.settings.operator import operator_schema
from bot.settings.repository import config_schema
from bot.store.runs.api_runs import MAX_UNFINISHED
from tests.api.conftest import ISSUE, TOKEN, Api
from tests.cli.process import ROOT

TEXT = {"repository": "Octo/FeedBox", "title": "parse_date fails", "body": "It does.", "max_retries": 0}


def check(document: dict[str, Any], name: str) -> None:
    schema = {"$ref": f"#/components/schemas/{name}", "components": openapi()["components"]}
    jsonschema.Draft202012Validator(schema).validate(document)


@pytest.mark.parametrize("body", [ISSUE, TEXT], ids=["an-issue", "a-text"])
async def test_a_run_is_stored_with_its_job_and_can_be_read(api: Api, body: dict[str, Any]) -> None:
    taken = await api.ask(body)
    assert (taken.status_code, len(api.woken)) == (202, 1)
    check(taken.json(), "Run")
    job = await api.store.jobs.claim("run", "w")
    assert job is not None
    assert isinstance(job.work, ApiRun)
    assert (await api.get(taken.headers["location"])).json()["state"] == "running"
    await api.store.api_runs.settle(taken.json()["id"], job, result=None, fault="no such issue")
    ended = (await api.get(taken.headers["location"])).json()
    check(ended, "Run")
    assert (ended["state"], ended["fault"]) == ("failed", "no such issue")
    with pytest.raises(JobTakenOverError):
        await api.store.api_runs.settle(taken.json()["id"], job, result=None, fault="again")


async def test_a_run_whose_job_is_dead_has_failed(api: Api) -> None:
    taken = await api.ask()
    job = await api.store.jobs.claim("run", "w")
    assert job is not None
    await api.store.jobs.mark_dead(job, "ValueError: bad")
    run = (await api.get(taken.headers["location"])).json()
    assert run["state"] == "failed"
    assert "failed after many attempts" in run["fault"]


async def test_the_same_idempotency_key_returns_the_same_run(api: Api) -> None:
    answers = await asyncio.gather(*(api.ask(key="k-1") for _ in range(3)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert (await api.store.jobs.counts())["todo"] == 1
    other = await api.ask(TEXT, key="k-1")
    assert other.status_code == 409
    assert (await api.ask()).json()["id"] != answers[0].json()["id"]


async def test_too_many_unfinished_runs_are_refused_for_a_while(api: Api) -> None:
    for _ in range(MAX_UNFINISHED):
        assert (await api.ask()).status_code == 202
    refused = await api.ask()
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        pytest.param(ISSUE, {"Authorization": ""}, 401, id="no-token"),
        pytest.param(ISSUE, {"Authorization": "Bearer another-token-of-somebody"}, 401, id="another-token"),
        pytest.param({**ISSUE, "repository": "octo/other"}, {}, 404, id="not-installed-there"),
        pytest.param({**ISSUE, "repository": "../etc"}, {}, 404, id="a-path-that-is-no-repository"),
        pytest.param({**ISSUE, "repository": "octo"}, {}, 422, id="no-repository"),
        pytest.param({**ISSUE, "issue": "7"}, {}, 422, id="a-number-as-text"),
        pytest.param({**ISSUE, "title": "t"}, {}, 422, id="both"),
        pytest.param({"repository": "octo/feedbox"}, {}, 422, id="neither"),
        pytest.param({**TEXT, "max_retries": 99}, {}, 422, id="too-many-retries"),
        pytest.param([], {}, 422, id="a-list"),
        pytest.param(ISSUE, {"Content-Type": "text/plain"}, 415, id="not-sent-as-json"),
        pytest.param(ISSUE, {"Idempotency-Key": "two words"}, 400, id="a-key-with-a-blank"),
    ],
)
async def test_an_invalid_request_gets_a_problem_and_stores_no_job(
    api: Api, body: Any, headers: dict[str, str], status: int
) -> None:
    answer = await api.ask(body, **headers)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    check(answer.json(), "Problem")
    assert await api.store.jobs.counts() == {}


async def test_a_request_without_a_token_gets_the_apis_401_behind_the_shield_of_the_pages(api: Api) -> None:
    transport = httpx.ASGITransport(Shield(api.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as http:
        answer = await http.post("/api/v1/runs", json=ISSUE)
        elsewhere = await http.post("/login", data={"token": "t"})
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
    assert elsewhere.status_code == 403


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/runs", 405),
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/api/v1/runs/nobody's", 404),
        ("GET", "/api/v1/a%0Ab", 404),
    ],
)
async def test_every_other_error_is_a_problem_document(api: Api, method: str, path: str, status: int) -> None:
    answer = await api.http.request(method, path, headers={"Authorization": f"Bearer {TOKEN}"})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")


@pytest.mark.parametrize("body", [b"{", b'{"repository": "\\ud800"}', b"\xff", b"[" * 100_000])
async def test_broken_json_is_refused_and_not_echoed(api: Api, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    answer = await api.http.post("/api/v1/runs", content=body, headers=headers)
    assert answer.status_code == 400
    assert len(answer.content) < 300


async def test_a_body_with_many_keys_is_refused_without_a_list_of_them(api: Api) -> None:
    response = await api.ask({f"key{number}": number for number in range(60_000)})
    assert (response.status_code, response.json()["detail"]) == (422, "the body has more than 50 keys")


async def test_a_body_that_is_too_large_is_not_read_to_its_end(api: Api) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    answer = await api.http.post("/api/v1/runs", content=b" " * 1_600_000, headers=headers)
    assert answer.status_code == 413


async def test_an_unexpected_error_reveals_nothing(api: Api) -> None:
    api.store.installations = None  # type: ignore[assignment]
    answer = await api.ask()
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "NoneType" not in answer.text


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("triage-result.json", result_schema()),
        ("triage.yml.json", config_schema()),
        ("operator.yml.json", operator_schema()),
    ],
)
def test_each_schema_has_an_id_of_the_release(name: str, schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"https://github.com/tracehound/tracehound/releases/download/v{released()}/{name}"
    # The release has the files of this folder, by their names.
    assert (ROOT / "docs" / "schema" / name).exists()
