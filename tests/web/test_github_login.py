"""People log in with a GitHub account and see only what GitHub lets them see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from itsdangerous import URLSafeTimedSerializer

from bot.errors import RetryableError
from bot.github.registration import LoggedOutError, People
from bot.server.app import build_app
from bot.server.web.auth import authentication
from bot.server.web.auth.authentication import FRESH, STALE, Accounts
from bot.server.web.auth.sessions import Viewer
from bot.settings.environment import Settings
from bot.settings.server import ServerSettings
from tests.servers.github_pages import CLIENT_ID, CLIENT_SECRET
from tests.servers.github_server import RESET, Fault, GitHubServer, serve_github
from tests.servers.serving import NobodyWorks, serving
from tests.web.conftest import FROM_HERE, Pages, logins_at


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        server.world.signed_in = "rita"
        server.world.may_read["rita"] = {11, 12}
        yield server


@pytest.fixture
def given(github: GitHubServer) -> dict[str, str]:
    return logins_at(github)


async def go(pages: Pages, wanted: str = "/") -> str:
    """Begin a login on GitHub; return the address to which it redirects the browser."""
    begun = await pages.http.get("/login/github", params={"next": wanted})
    async with httpx.AsyncClient() as browser:
        return str((await browser.get(begun.headers["location"])).headers["location"])


async def test_a_user_logs_in_with_a_github_account(pages: Pages, github: GitHubServer) -> None:
    assert "Log in with GitHub" in (await pages.http.get("/login")).text
    answer = await pages.http.get(await go(pages, "/runs?q=a"))
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs?q=a")
    page = await pages.http.get("/runs")
    assert (page.status_code, "rita" in page.text) == (200, True)
    assert (await pages.http.post("/jobs/1/replay", headers=FROM_HERE)).status_code == 404  # the operator's
    assert not any(token in str(pages.http.cookies) for token in github.world.people)
    await pages.http.post("/logout", headers=FROM_HERE)
    assert (await pages.http.get("/runs")).status_code == 303


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
async def test_a_failed_login_at_github_opens_no_page(pages: Pages, github: GitHubServer) -> None:
    github.world.signed_in = ""
    answer = await pages.http.get(await go(pages))
    assert (answer.status_code, "GitHub did not log you in" in answer.text) == (403, True)
    assert (await pages.http.get("/runs")).status_code == 303


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
@pytest.mark.parametrize("other", [{"state": "another"}, {"state": ""}, {"code": "another"}, {"code": ""}], ids=str)
async def test_a_forged_callback_opens_no_page(pages: Pages, other: dict[str, str]) -> None:
    query = {name: values[0] for name, values in parse_qs(urlsplit(await go(pages)).query).items()}
    answer = await pages.http.get("/login/github/callback", params=query | other)
    assert answer.status_code in (400, 403)
    assert (await pages.http.get("/runs")).status_code == 303


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
async def test_a_callback_in_another_browser_opens_no_page(pages: Pages) -> None:
    back = await go(pages)
    async with httpx.AsyncClient() as other:
        assert (await other.get(back)).status_code == 400


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
async def test_a_callback_is_accepted_once(pages: Pages) -> None:
    back = await go(pages)
    assert (await pages.http.get(back)).status_code == 303
    await pages.http.post("/logout", headers=FROM_HERE)
    assert (await pages.http.get(back)).status_code == 400


async def test_an_outage_of_github_is_reported_as_such(pages: Pages, github: GitHubServer) -> None:
    back = await go(pages)
    github.fail("GET", "/user", RESET)
    assert (await pages.http.get(back)).status_code == 503


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def accounts(github: GitHubServer, clock: Clock) -> Accounts:
    github.world.people["ghu_rita"] = "rita"
    people = People(client_id=CLIENT_ID, client_secret=CLIENT_SECRET, server_url=github.url, api_url=github.url)
    return Accounts(people, "github.example", b"a", clock)


async def seen(accounts: Accounts, login: dict[str, str]) -> Viewer | None:
    return await accounts.viewer(login["account"], login["sealed"])


async def test_access_follows_github_within_a_minute(accounts: Accounts, github: GitHubServer, clock: Clock) -> None:
    login = await accounts.log_in("ghu_rita")
    viewer = await seen(accounts, login)
    assert viewer is not None
    assert (viewer.may_see("github.example/11"), viewer.may_see("github.example/13")) == (True, False)
    assert not viewer.may_see("other.example/11")
    assert not viewer.is_operator
    github.world.may_read["rita"] = set()
    clock.now = FRESH + 1
    viewer = await seen(accounts, login)
    assert viewer is not None
    assert not viewer.may_see("github.example/11")


async def test_every_page_of_the_list_is_read(accounts: Accounts, github: GitHubServer) -> None:
    github.world.may_read["rita"] = set(range(250))
    viewer = await seen(accounts, await accounts.log_in("ghu_rita"))
    assert viewer is not None
    assert all(viewer.may_see(f"github.example/{number}") for number in range(250))


async def test_a_revoked_token_ends_the_session(accounts: Accounts, github: GitHubServer, clock: Clock) -> None:
    login = await accounts.log_in("ghu_rita")
    del github.world.people["ghu_rita"]
    clock.now = FRESH + 1
    assert await seen(accounts, login) is None
    assert await seen(accounts, login) is None


async def test_access_is_retained_for_ten_minutes_of_an_outage(
    accounts: Accounts, github: GitHubServer, clock: Clock
) -> None:
    login = await accounts.log_in("ghu_rita")
    github.fault = lambda call: Fault(status=502) if call.path.startswith("/user") else None
    clock.now = FRESH + 1
    assert await seen(accounts, login) is not None
    clock.now = STALE + 1
    with pytest.raises(RetryableError):
        await seen(accounts, login)


async def test_an_unknown_token_is_refused(accounts: Accounts) -> None:
    with pytest.raises(LoggedOutError):
        await accounts.log_in("ghu_nobody")
    assert await accounts.viewer("no such key", "") is None


@pytest.mark.parametrize("status", [403, 404])
async def test_a_refused_list_is_not_an_empty_one(
    pages: Pages, accounts: Accounts, github: GitHubServer, clock: Clock, status: int
) -> None:
    login = await accounts.log_in("ghu_rita")
    back = await go(pages)
    github.fault = lambda call: Fault(status=status) if call.path.endswith("/user/installations") else None
    assert (await pages.http.get(back)).status_code == 503
    clock.now = FRESH + 1
    viewer = await seen(accounts, login)
    assert viewer is not None
    assert viewer.may_see("github.example/11")


class TestSharedSecret:
    @pytest.fixture
    def given(self, github: GitHubServer) -> dict[str, str]:
        ours = {"triage_session_secret": "one for all servers", "triage_public_url": "http://triage.test"}
        return logins_at(github) | ours

    async def test_any_server_continues_and_ends_a_login(
        self, pages: Pages, github: GitHubServer, given: dict[str, str], tmp_path: Path
    ) -> None:
        settings = Settings(**{"triage_data_dir": tmp_path / "other", **given})  # type: ignore[arg-type]
        other = build_app(ServerSettings(settings, 4711, "", (b"secret",)), pages.store, NobodyWorks())
        async with serving(other) as url:
            back = urlsplit(await go(pages, "/runs"))
            answer = await pages.http.get(f"{url}{back.path}?{back.query}")
            assert (answer.status_code, answer.headers["location"]) == (303, "/runs")
            for server in (pages.url, url):
                answer = await pages.http.get(f"{server}/runs")
                assert (answer.status_code, "rita" in answer.text) == (200, True)
            cookie = pages.http.cookies["triage"]
            shown = str(URLSafeTimedSerializer("").loads_unsafe(cookie)[1])
            assert "sealed" in shown
            assert not [secret for secret in (*github.world.people, "rita") if secret in shown]
            await pages.http.post(f"{url}/logout", headers=FROM_HERE)
            pages.http.cookies.clear()
            copy = {"Cookie": f"triage={cookie}"}
            for server in (pages.url, url):
                assert (await pages.http.get(f"{server}/runs", headers=copy)).status_code == 303
            back = urlsplit(await go(pages))
            await pages.http.get(f"{back.path}?{back.query}")
            revoked = dict(github.world.people)
            github.world.people.clear()
            assert (await pages.http.get(f"{url}/runs")).status_code == 303
            github.world.people.update(revoked)
            assert (await pages.http.get("/runs")).status_code == 303  # no server asks GitHub about it again


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
async def test_a_cookie_sealed_with_another_secret_is_refused(
    accounts: Accounts, github: GitHubServer, clock: Clock
) -> None:
    login = await accounts.log_in("ghu_rita")
    assert await seen(Accounts(accounts.people, "github.example", b"b", clock), login) is None
    again = Accounts(accounts.people, "github.example", b"a", clock)
    viewer = await seen(again, login)
    assert viewer is not None
    assert (viewer.name, viewer.may_see("github.example/11")) == ("rita", True)
    del github.world.people["ghu_rita"]
    assert await seen(Accounts(accounts.people, "github.example", b"a", clock), login) is None


class TestWrongSecret:
    @pytest.fixture
    def given(self, github: GitHubServer) -> dict[str, str]:
        return logins_at(github) | {"github_client_secret": "not-the-client-secret"}

    async def test_a_wrong_client_secret_is_logged(self, pages: Pages, caplog: pytest.LogCaptureFixture) -> None:
        assert (await pages.http.get(await go(pages))).status_code == 403
        assert "check GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET" in caplog.text
        assert "not-the-client-secret" not in caplog.text


async def test_a_flood_of_logins_displaces_no_other_user(
    accounts: Accounts, github: GitHubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authentication, "MAX_CACHED", 30)
    rita = await accounts.log_in("ghu_rita")
    for number in range(35):
        github.world.people[f"ghu_{number}"] = f"throwaway-{number}"
        await accounts.log_in(f"ghu_{number}")
    assert len(accounts._known) == 30
    viewer = await seen(accounts, rita)
    assert viewer is not None
    assert viewer.may_see("github.example/11")


async def test_a_flood_of_unfinished_logins_ends_no_session(pages: Pages, github: GitHubServer) -> None:
    assert (await pages.http.get(await go(pages))).status_code == 303
    for _ in range(50):
        async with httpx.AsyncClient(base_url=pages.url) as stranger:
            assert (await stranger.get("/login/github")).status_code == 303
    assert (await pages.http.get("/runs")).status_code == 200
