"""Access to /metrics, and its content for Prometheus."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from starlette.applications import Starlette

from bot.observability.metrics import metrics_route
from bot.settings.environment import Settings
from bot.store.databases.sqlite import SqliteStore

METRICS, ADMIN = "prometheus-reads-with-this", "the-operator-has-this"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "store.db")
    yield store
    await store.aclose()


async def ask(store: SqliteStore, authorization: str, **tokens: str) -> httpx.Response:
    given: dict[str, Any] = {name: SecretStr(value) for name, value in tokens.items()}
    settings = Settings(**given)
    app = Starlette(routes=[metrics_route(settings, store)])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        headers = {b"Authorization": authorization.encode()} if authorization else None
        return await client.get("/metrics", headers=headers)


@pytest.mark.parametrize(
    ("authorization", "tokens", "status"),
    [
        pytest.param("", {}, 401, id="no-token-set"),
        pytest.param("Bearer ", {}, 401, id="an-empty-token-where-none-is-set"),
        pytest.param("", {"triage_metrics_token": METRICS}, 401, id="no-token-shown"),
        pytest.param("Bearer x", {"triage_metrics_token": METRICS}, 401, id="another-token"),
        pytest.param(f"Basic {METRICS}", {"triage_metrics_token": METRICS}, 401, id="another-scheme"),
        pytest.param(f"Bearer {METRICS}\u00fc", {"triage_metrics_token": METRICS}, 401, id="not-ascii"),
        pytest.param(f"Bearer {METRICS}", {"triage_metrics_token": METRICS}, 200, id="the-metrics-token"),
        pytest.param(
            f"bearer {ADMIN}", {"triage_metrics_token": METRICS, "triage_admin_token": ADMIN}, 200, id="the-admin's"
        ),
    ],
)
async def test_the_metrics_page_requires_a_token(
    store: SqliteStore, authorization: str, tokens: dict[str, str], status: int
) -> None:
    answer = await ask(store, authorization, **tokens)
    assert answer.status_code == status
    assert ("tracehound" in answer.text) == (status == 200)


async def test_every_family_is_explained_and_can_be_parsed(store: SqliteStore) -> None:
    labels = (("kind", "triage"), ("outcome", "done"))
    buckets: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {
        ("tracehound_job_seconds_bucket", (("kind", "triage"), ("le", le))): 1.0 for le in ("+Inf", "10.0", "2.5")
    }
    await store.metrics.keep({**buckets, ("tracehound_jobs_total", labels): 3.0}, {})
    page = (await ask(store, f"Bearer {METRICS}", triage_metrics_token=METRICS)).text
    families = {family.name: family for family in text_string_to_metric_families(page)}
    assert all(family.documentation for family in families.values())
    assert families["tracehound_jobs"].samples[0].value == 3.0
    assert [sample.labels["le"] for sample in families["tracehound_job_seconds"].samples] == ["2.5", "10.0", "+Inf"]
    assert {"tracehound_deliveries", "tracehound_delivery_seconds", "tracehound_queue_oldest_seconds"} <= set(families)
    assert {sample.labels["result"] for sample in families["tracehound_outcomes"].samples} >= {"reports", "first"}
