"""The read API: what each token reads, its pages and filters, and the export as JSON lines."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import jsonschema
import pytest

from bot.limits.ceilings import Amount, Scope
from bot.release import released
from bot.server.api.openapi import SCHEMAS, openapi
from bot.store.runs.outcomes import Verdict
from tests.api.conftest import Api
from tests.cli.process import ROOT
from tests.report.reports import FOUND, SHA
from tests.web.stored import PARSER, SECRET, Ran, known, ran

ONE = "/api/v1/repositories/octo/parser"
FEATURE = FOUND.model_copy(update={"kind": "feature", "root_cause": None, "facts": ()})


def check(document: Any, name: str) -> None:
    schema = {"$ref": f"#/components/schemas/{name}", "components": openapi()["components"]}
    jsonschema.Draft202012Validator(schema).validate(document)


async def items(api: Api, path: str) -> list[dict[str, Any]]:
    answer = await api.get(path)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


@pytest.fixture
async def filled(api: Api) -> Api:
    """An API over three finished runs, one failed one, and one of another repository."""
    await known(api.store)
    for number in (1, 2):
        await ran(api.store, Ran(title=f"scan hangs {number}", number=number))
    await ran(api.store, Ran(title="add a dark theme", number=10, report=FEATURE))
    await ran(api.store, Ran(title="it failed", number=11, status="failed"))
    await ran(api.store, Ran(title="a private plan", repository=SECRET, number=1))
    return api


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/api/v1/repositories", "RepositoryPage"),
        (f"{ONE}/runs", "RunPage"),
        (f"{ONE}/reports", "ReportPage"),
        (f"{ONE}/facts", "FactPage"),
        (f"{ONE}/outcomes", "OutcomePage"),
        (f"{ONE}/usage", "UsagePage"),
        (f"{ONE}/runs/1/1", "WholeRun"),
    ],
)
async def test_each_response_matches_its_description_and_needs_a_token(filled: Api, path: str, name: str) -> None:
    day = datetime.now(UTC).date().isoformat()
    await filled.store.usage.reserve([Scope("repository", PARSER.key, day)], Amount(calls=3, tokens=900, cost=20_000))
    answer = await filled.get(path)
    check(answer.json(), name)
    assert answer.json().get("items", [{}]), "the page is not empty"
    refused = await filled.http.get(path)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    check(refused.json(), "Problem")


async def test_a_run_contains_its_result(filled: Api) -> None:
    run = (await filled.get(f"{ONE}/runs/2/1")).json()
    assert (run["repository"], run["issue"], run["title"], run["commit"]) == ("octo/parser", 2, "scan hangs 2", SHA)
    assert run["result"]["report"]["suspects"][0]["path"] == "parser/lexer.py"
    for path in ("runs/2/9", "runs/99/1", "runs/0/1", "runs/x/1", f"runs/{'9' * 30}/1"):
        assert (await filled.get(f"{ONE}/{path}")).status_code == 404, path


@pytest.mark.parametrize(
    ("query", "issues"),
    [
        pytest.param("", [11, 10, 2, 1], id="all"),
        pytest.param("?status=finished", [10, 2, 1], id="status"),
        pytest.param("?kind=feature", [10], id="kind"),
        pytest.param("?claimed=false", [10], id="no-cause"),
        pytest.param("?issue=2", [2], id="issue"),
        pytest.param("?brain=gpt-4o", [], id="brain"),
        pytest.param("?until=2000-01-01", [], id="until"),
        pytest.param("?since=2000-01-01&until=9999-12-31", [11, 10, 2, 1], id="all-days"),
    ],
)
async def test_runs_are_filtered(filled: Api, query: str, issues: list[int]) -> None:
    assert [run["issue"] for run in await items(filled, f"{ONE}/runs{query}")] == issues


@pytest.mark.parametrize("what", ["runs", "reports", "outcomes"])
async def test_all_pages_together_contain_every_item(filled: Api, what: str) -> None:
    whole = await items(filled, f"{ONE}/{what}")
    assert len(whole) >= 3
    found, cursor = [], ""
    while True:
        page = (await filled.get(f"{ONE}/{what}?limit=1{cursor}")).json()
        found += page["items"]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert found == whole


async def test_facts_state_which_one_leads(filled: Api) -> None:
    facts = await items(filled, f"{ONE}/facts?issue=1")
    assert [fact["fact"]["says"] for fact in facts] == [fact.says for fact in FOUND.facts]
    assert [number for number, fact in enumerate(facts) if fact["leads"]] == [FOUND.headline]


async def test_outcomes_name_the_fix(filled: Api) -> None:
    ref = await ran(filled.store, Ran(title="closed", number=30))
    await filled.store.for_issue(ref).outcome.keep(Verdict("scored", 1, "f" * 40))
    (outcome,) = await items(filled, f"{ONE}/outcomes?state=scored")
    assert (outcome["issue"], outcome["rank"], outcome["fix"]) == (30, 1, "f" * 40)
    assert outcome["named"][0] == "parser/lexer.py"
    assert [one["issue"] for one in await items(filled, f"{ONE}/outcomes?state=open")] == [10, 2, 1]


async def test_usage_is_counted_by_day(filled: Api) -> None:
    for day, calls in (("2026-01-30", 1), ("2026-01-31", 3), ("2026-02-01", 5)):
        scopes = [Scope("repository", PARSER.key, day), Scope("repository", SECRET.key, day)]
        await filled.store.usage.reserve(scopes, Amount(calls=calls, tokens=10, cost=1_500_000))
    days = await items(filled, f"{ONE}/usage?since=2026-01-31&until=2026-02-01")
    assert [(day["day"], day["model_calls"], day["cost_dollars"]) for day in days] == [
        ("2026-02-01", 5, 1.5),
        ("2026-01-31", 3, 1.5),
    ]
    page = (await filled.get(f"{ONE}/usage?limit=2")).json()
    rest = (await filled.get(f"{ONE}/usage?limit=2&cursor={page['next']}")).json()
    assert [day["day"] for day in (*page["items"], *rest["items"])] == ["2026-02-01", "2026-01-31", "2026-01-30"]


async def test_json_lines_contain_all_pages(filled: Api) -> None:
    whole = await items(filled, f"{ONE}/runs")
    token = {"Authorization": filled.bearer, "Accept": "application/x-ndjson"}
    answer = await filled.http.get(f"{ONE}/runs?limit=1", headers=token)
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert [json.loads(line) for line in answer.text.splitlines()] == whole


async def test_a_token_reads_only_its_repository(filled: Api) -> None:
    token = await filled.store.api_tokens.create(PARSER.key, "dashboard")
    headers = {"Authorization": f"Bearer {token}"}
    mine = await filled.http.get(f"{ONE}/runs", headers=headers)
    assert (mine.status_code, len(mine.json()["items"])) == (200, 4)
    listed = (await filled.http.get("/api/v1/repositories", headers=headers)).json()["items"]
    assert [one["repository"] for one in listed] == ["octo/parser"]
    other = await filled.http.get("/api/v1/repositories/octo/secret-plans/runs", headers=headers)
    missing = await filled.http.get("/api/v1/repositories/octo/no-such/runs", headers=headers)
    assert (other.status_code, other.json()) == (missing.status_code, missing.json())
    assert other.status_code == 404
    ordered = await filled.http.post("/api/v1/runs", json={"repository": "octo/parser", "issue": 1}, headers=headers)
    assert ordered.status_code == 401, "it starts no run"
    (stored,) = await filled.store.api_tokens.all()
    assert await filled.store.api_tokens.revoke(stored.id)
    assert (await filled.http.get(f"{ONE}/runs", headers=headers)).status_code == 401


@pytest.mark.tried("requests to the read API that must be refused")
@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=101",
        "limit=1e9",
        "limit=99999999999999999999",
        "cursor=%00",
        "cursor=x",
        "cursor=1,2",
        "since=yesterday",
        "since=2026-13-01",
        "status=odd",
        "brain=%00",
        "issue=-1",
        "issue=1&issue=2",
        "repository=octo/secret-plans",
        "claimed=maybe",
    ],
)
async def test_parameters_are_checked(filled: Api, query: str) -> None:
    answer = await filled.get(f"{ONE}/runs?{query}")
    assert answer.status_code == 422
    check(answer.json(), "Problem")
    assert "secret-plans" not in answer.text


async def test_a_page_of_reports_is_small(filled: Api) -> None:
    assert (await filled.get(f"{ONE}/reports?limit=20")).status_code == 200
    assert (await filled.get(f"{ONE}/reports?limit=21")).status_code == 422


@pytest.mark.tried("requests to the read API that must be refused")
@pytest.mark.parametrize("path", ["octo/%00", "octo/pars%27er", "%2e%2e/parser", "octo/" + "a" * 200])
async def test_unknown_names_are_not_found(filled: Api, path: str) -> None:
    assert (await filled.get(f"/api/v1/repositories/{path}/runs")).status_code == 404


@pytest.mark.parametrize("name", SCHEMAS)
async def test_each_schema_is_served_with_an_id(api: Api, name: str) -> None:
    schema = (await api.http.get(f"/api/v1/schemas/{name}")).json()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"https://github.com/tracehound/tracehound/releases/download/v{released()}/{name}"
    # The release has the files of this folder, by their names.
    assert (ROOT / "docs" / "schema" / name).exists()
    assert len({made()["$id"] for made in SCHEMAS.values()}) == len(SCHEMAS)
    assert (await api.http.get("/api/v1/schemas/other.json")).status_code == 404
