"""The page that registers the App: only with the token in the log, once, and closed afterwards."""

from __future__ import annotations

import html
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from bot.server.first_start import setup_pages
from bot.server.registration import read_registration
from bot.server.web.pages import setup as setup_of
from bot.server.web.pages.setup import SetupPages, setup_app
from bot.settings.environment import Settings
from tests.servers.browserless import form_of, on_github
from tests.servers.github_server import Fault, GitHubServer, serve_github
from tests.servers.serving import serving
from tests.support.patience import patience
from tests.web.conftest import FROM_HERE, PAGE


@dataclass
class FirstStart:
    http: httpx.AsyncClient
    setup: SetupPages
    github: GitHubServer
    data: Path

    async def accept_token(self) -> None:
        answer = await self.http.get("/setup", params={"token": self.setup.pending.token})
        assert (answer.status_code, answer.headers["location"]) == (303, "/setup")

    async def on_github(self, **fields: str) -> str:
        """Complete the steps up to GitHub's redirect; return its target."""
        return await on_github(self.http, **fields)


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@pytest.fixture
async def first(tmp_path: Path, github: GitHubServer) -> AsyncIterator[FirstStart]:
    settings = Settings(github_server_url=github.url, github_api_url=github.url, triage_data_dir=tmp_path)
    setup = setup_pages(settings)
    async with (
        serving(setup_app(setup)) as url,
        httpx.AsyncClient(base_url=url, timeout=patience(30), headers=PAGE) as http,
    ):
        yield FirstStart(http, setup, github, tmp_path)


async def test_without_an_app_deliveries_get_a_503(first: FirstStart) -> None:
    assert (await first.http.get("/healthz")).status_code == 200
    assert (await first.http.get("/readyz")).status_code == 503
    answer = await first.http.post("/webhooks/github", headers={"Authorization": "x"})
    assert (answer.status_code, "no App is configured" in answer.text) == (503, True)
    assert (await first.http.post("/webhooks/github")).status_code == 503
    assert (await first.http.get("/")).status_code == 200
    assert (await first.http.get("/runs")).status_code == 404


async def test_without_the_token_nothing_is_shown_or_made(first: FirstStart) -> None:
    for answer in (
        await first.http.get("/setup"),
        await first.http.get("/setup", params={"token": "wrong"}),
        await first.http.post("/setup", data={"token": "wrong"}, headers=FROM_HERE),
        await first.http.get("/setup", headers={"Cookie": "triage-setup=wrong"}),
    ):
        assert answer.status_code in (401, 403)
        assert "manifest" not in answer.text
    state = first.setup.pending.state(first.setup.defaults.filled("http://x", {}))
    answer = await first.http.get("/setup/callback", params={"code": "c", "state": state})
    assert answer.status_code == 400
    assert first.github.asked("POST", "conversions") == []


async def test_wrong_tokens_do_not_lock_out_other_users(first: FirstStart) -> None:
    for _ in range(10):
        await first.http.get("/setup", params={"token": "wrong"})
    assert (await first.http.get("/setup", params={"token": "wrong"})).status_code == 429
    assert (await first.http.get("/setup", params={"token": first.setup.pending.token})).status_code == 303


async def test_the_app_is_stored_and_the_page_closed(first: FirstStart) -> None:
    await first.accept_token()
    answer = await first.http.get(await first.on_github())
    assert (answer.status_code, "tracehound is running" in answer.text) == (200, True)
    assert "triage=" in answer.headers["set-cookie"]
    kept = read_registration(first.data)
    assert (kept["github_app_id"], kept["github_api_url"]) == ("4711", first.github.url)
    assert kept["github_private_key"] not in answer.text
    assert first.setup.done.is_set()
    for path in ("/setup", f"/setup?token={first.setup.pending.token}", "/setup/callback?code=c&state=s"):
        assert (await first.http.get(path)).status_code == 410, path
    assert len(first.github.asked("POST", "conversions")) == 1


async def test_a_state_is_valid_once_and_a_code_is_sent_once(first: FirstStart) -> None:
    await first.accept_token()
    back = await first.on_github()
    first.github.fail("POST", "conversions", Fault(status=502, after=True))
    answer = await first.http.get(back)
    assert (answer.status_code, "GitHub answered 502" in answer.text) == (502, True)
    assert (await first.http.get(back)).status_code == 400
    assert len(first.github.asked("POST", "conversions")) == 1
    assert read_registration(first.data) == {}
    assert (await first.http.get(await first.on_github())).status_code == 200


@pytest.mark.parametrize("other", [{"state": "another"}, {"state": ""}, {"code": "../../user"}, {"code": ""}])
async def test_an_unrequested_callback_is_refused(first: FirstStart, other: dict[str, str]) -> None:
    await first.accept_token()
    query = {name: values[0] for name, values in parse_qs(urlsplit(await first.on_github()).query).items()}
    answer = await first.http.get("/setup/callback", params=query | other)
    assert answer.status_code in (400, 502)
    assert first.github.asked("POST", "conversions") == []
    assert read_registration(first.data) == {}


async def test_secrets_are_shown_once_for_a_secret_store(first: FirstStart) -> None:
    await first.accept_token()
    back = await first.on_github(keep="no", owner="octo-org", name="hound")
    answer = await first.http.get(back)
    assert "GITHUB_WEBHOOK_SECRET=" in answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert (await first.http.get(back)).status_code == 410
    assert read_registration(first.data) == {}
    assert not first.setup.done.is_set()
    assert "restart it" in (await first.http.get("/")).text


async def test_changed_fields_are_sent_to_github(first: FirstStart) -> None:
    await first.accept_token()
    fields = {"owner": "octo-org", "server_url": "https://ghe.example.org", "webhook_url": "https://hook.example.org/w"}
    action, manifest = form_of((await first.http.get("/setup", params=fields)).text)
    assert action.startswith("https://ghe.example.org/organizations/octo-org/settings/apps/new?state=")
    assert json.loads(html.unescape(manifest))["hook_attributes"]["url"] == "https://hook.example.org/w"


async def test_requests_that_github_would_refuse_are_not_sent(first: FirstStart) -> None:
    await first.accept_token()
    for fields, status in (
        ({"server_url": "https://github.com"}, 200),
        ({"owner": "a b"}, 422),
        ({"name": "x" * 40}, 422),
    ):
        answer = await first.http.get("/setup", params=fields)
        assert (answer.status_code, "Create the App on GitHub" in answer.text) == (status, False), fields
        assert 'role="alert"' in answer.text


async def test_any_server_of_a_database_continues_a_registration(
    github: GitHubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = {"github_server_url": github.url, "github_api_url": github.url, "triage_data_dir": tmp_path}
    shared = {"triage_session_secret": "one for all servers", "database_url": "postgresql://db/triage"}
    others = shared | {"triage_session_secret": "another for all servers"}
    first, second, third = (
        setup_pages(Settings(triage_public_url="http://triage.test", **given, **more))  # type: ignore[arg-type]
        for more in (shared, shared, others)
    )
    assert first.pending.token == second.pending.token != third.pending.token
    async with (
        serving(setup_app(first)) as url,
        serving(setup_app(second)) as other,
        httpx.AsyncClient(base_url=url, timeout=patience(30), headers=PAGE) as http,
    ):
        await http.get("/setup", params={"token": first.pending.token})
        back = urlsplit(await on_github(http))
        answer = await http.get(f"{other}{back.path}?{back.query}")
        assert (answer.status_code, "GITHUB_WEBHOOK_SECRET=" in answer.text) == (200, True)
        assert read_registration(tmp_path) == {}
        state = parse_qs(back.query)["state"][0]
        assert third.pending.take(state) is None
        assert first.pending.take(f"{state}x") is None
        monkeypatch.setattr(setup_of, "_STATE_LASTS", -1)
        assert first.pending.take(state) is None
