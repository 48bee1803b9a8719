"""The API conforms to its OpenAPI description for any request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.server.api.routes import api_routes
from bot.settings.environment import Settings
from bot.store.databases.sqlite import SqliteStore
from bot.store.tables import Store
from tests.api.conftest import REPO, TOKEN


def served(store: Store) -> Starlette:
    return Starlette(routes=[api_routes(Settings(triage_api_token=SecretStr(TOKEN)), store, lambda: None)])


answering: list[ASGIApp] = [served(cast(Any, None))]
"""The description is read when tests are collected, before a store exists."""


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    await answering[-1](scope, receive, send)


async def description() -> dict[str, Any]:
    transport = httpx.ASGITransport(application)
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
        return (await client.get("/api/v1/openapi.json")).json()


# ``from_asgi`` would leave a thread running, which the processes that --cores forks would miss.
described = schemathesis.openapi.from_dict(asyncio.run(description()))
described.app, described.location = application, "/api/v1/openapi.json"
described.config.checks.negative_data_rejection.expected_statuses = ["4xx"]  # a body may also be too large or too slow


@pytest.fixture(scope="module", autouse=True)
def _stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    store = SqliteStore(tmp_path_factory.mktemp("fuzzed") / "store.db")
    asyncio.run(store.installations.add([REPO]))
    answering.append(served(store))
    yield
    answering.pop()
    asyncio.run(store.aclose())


@described.parametrize()
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_every_response_matches_its_description(case: schemathesis.Case) -> None:
    response = case.call(headers={"Authorization": f"Bearer {TOKEN}"})
    case.validate_response(response)
