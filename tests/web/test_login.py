"""Nothing is shown before a login, and only the operator's token is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.responses import Response

from bot.server.web.auth.authentication import Authenticator
from bot.server.web.auth.sessions import Sessions
from bot.store.databases.sqlite import SqliteStore
from tests.web.conftest import FROM_HERE, TOKEN, Pages
from tests.web.requests import request

PATHS = ["/", "/runs", "/nothing", "/assets", "/login/other", "/jobs?a=b"]


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
@pytest.mark.parametrize("path", PATHS)
async def test_without_a_login_every_path_leads_to_the_form(pages: Pages, path: str) -> None:
    answer = await pages.http.get(path)
    assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/login")
    program = await pages.http.get(path, headers={"Accept": "application/json"})
    assert (program.status_code, program.json()) == (401, {"error": "Log in first."})


async def test_a_user_logs_in_with_the_operators_token(pages: Pages) -> None:
    answer = await pages.log_in(next="/runs?q=a")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs?q=a")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert TOKEN not in cookie
    assert (await pages.http.get("/runs")).status_code == 200
    assert (await pages.http.get("/nothing")).status_code == 404


async def test_a_program_sends_the_token_with_each_request(pages: Pages) -> None:
    for token, status in ((TOKEN, 200), ("another", 401), (TOKEN[:-1], 401)):
        answer = await pages.http.get("/runs", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == status or answer.headers["location"].startswith("/login"), token


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
async def test_a_wrong_token_is_refused(pages: Pages) -> None:
    for token in ("", "wrong", TOKEN + "x", TOKEN[:-1], "é"):
        answer = await pages.log_in(token)
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False), token
    assert (await pages.http.get("/runs")).status_code == 303


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
async def test_wrong_tokens_do_not_lock_out_other_users(pages: Pages, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(10):
        assert (await pages.log_in("wrong")).status_code == 403
    assert (await pages.log_in("wrong")).status_code == 429
    assert (await pages.http.get("/runs", headers={"Authorization": "Bearer wrong"})).status_code == 429
    assert (await pages.http.get("/runs", headers={"Authorization": f"Bearer {TOKEN}"})).status_code == 200
    assert (await pages.log_in()).status_code == 303
    assert len([record for record in caplog.records if "wrong token" in record.getMessage()]) == 1


async def test_logging_out_closes_the_pages(pages: Pages) -> None:
    await pages.log_in()
    assert (await pages.http.post("/logout", headers=FROM_HERE)).status_code == 303
    assert (await pages.http.get("/runs")).status_code == 303


async def test_a_copy_of_the_cookie_is_refused_after_logging_out(pages: Pages) -> None:
    answer = await pages.log_in()
    copy = {"Cookie": answer.headers["set-cookie"].partition(";")[0]}
    pages.http.cookies.clear()
    assert (await pages.http.get("/runs", headers=copy)).status_code == 200
    other = await pages.log_in()
    pages.http.cookies.clear()
    assert (await pages.http.post("/logout", headers=copy | FROM_HERE)).status_code == 303
    assert (await pages.http.get("/runs", headers=copy)).status_code == 303
    still = {"Cookie": other.headers["set-cookie"].partition(";")[0]}
    assert (await pages.http.get("/runs", headers=still)).status_code == 200


async def test_a_logout_survives_a_restart(tmp_path: Path) -> None:
    cookie_of, response = Sessions(b"secret", https=False), Response()
    store = SqliteStore(tmp_path / "store.db")
    authenticator = Authenticator(cookie_of, TOKEN, oauth_states=cookie_of, ended=store.ended_sessions)
    authenticator.log_in(request(), response)
    cookie = response.headers["set-cookie"].partition(";")[0]
    await authenticator.log_out(request(cookie=cookie), Response())
    await store.aclose()
    store = SqliteStore(tmp_path / "store.db")
    authenticator = Authenticator(cookie_of, TOKEN, oauth_states=cookie_of, ended=store.ended_sessions)
    assert await authenticator.viewer(request(cookie=cookie)) is None
    await store.aclose()


async def test_a_logout_that_cannot_be_stored_is_reported(pages: Pages) -> None:
    await pages.log_in()
    await pages.store._database.do(lambda db: db.execute("DROP TABLE ended_sessions").rowcount)
    assert (await pages.http.post("/logout", headers=FROM_HERE)).status_code == 503
    assert (await pages.http.get("/runs")).status_code == 503


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
@pytest.mark.parametrize("cookie", ["", "x", "eyJvcGVyYXRvciI6IHRydWV9.a.b", "." * 500])
async def test_a_forged_cookie_is_refused(pages: Pages, cookie: str) -> None:
    answer = await pages.http.get("/runs", headers={"Cookie": f"triage={cookie}"})
    assert answer.status_code == 303


async def test_a_cookie_ends_with_the_token_it_was_given_for() -> None:
    cookie_of = Sessions(b"secret", https=False)
    before, after = (
        Authenticator(cookie_of, token, oauth_states=cookie_of) for token in (TOKEN, "another-token-of-theirs")
    )
    response = Response()
    before.log_in(request(), response)
    cookie = response.headers["set-cookie"].partition(";")[0]
    assert await before.viewer(request(cookie=cookie)) is not None
    assert await after.viewer(request(cookie=cookie)) is None


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
@pytest.mark.parametrize(
    "wanted", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/\nx", ""]
)
async def test_a_login_redirects_only_to_own_pages(pages: Pages, wanted: str) -> None:
    assert (await pages.log_in(next=wanted)).headers["location"] == "/"
    await pages.http.post("/logout", headers=FROM_HERE)
    assert f'value="{wanted}"' not in (await pages.http.get("/login", params={"next": wanted})).text or not wanted


FOREIGN = [
    pytest.param({"Sec-Fetch-Site": "cross-site"}, id="another-site"),
    pytest.param({"Sec-Fetch-Site": "same-site"}, id="a-neighbour"),
    pytest.param({"Origin": "https://evil.example"}, id="another-origin"),
    pytest.param({"Origin": "null"}, id="an-origin-that-is-hidden"),
    pytest.param({}, id="no-word-of-it"),
]


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
@pytest.mark.parametrize("headers", FOREIGN)
async def test_a_form_of_another_site_is_refused(pages: Pages, headers: dict[str, str]) -> None:
    await pages.log_in()
    answer = await pages.http.post("/logout", headers=headers)
    assert answer.status_code == 403
    assert (await pages.http.get("/runs")).status_code == 200


async def test_a_request_with_only_an_origin_header_is_accepted(pages: Pages) -> None:
    answer = await pages.http.post("/login", data={"token": TOKEN}, headers={"Origin": pages.url})
    assert answer.status_code == 303


async def test_over_https_the_cookie_is_secure(pages: Pages) -> None:
    headers = FROM_HERE | {"X-Forwarded-Proto": "https"}
    cookie = (await pages.http.post("/login", data={"token": TOKEN}, headers=headers)).headers["set-cookie"]
    assert cookie.startswith("__Host-triage=")
    assert "Secure" in cookie


@pytest.mark.tried("pages asked for without a login, with another account, or from another site")
async def test_a_form_that_is_too_large_is_refused(pages: Pages) -> None:
    assert (await pages.log_in("x" * 20_000)).status_code == 413


class TestWithoutAToken:
    @pytest.fixture
    def given(self) -> dict[str, str]:
        return {"triage_admin_token": None}  # type: ignore[dict-item]

    async def test_without_accounts_or_token_the_form_states_why_no_login_is_possible(self, pages: Pages) -> None:
        assert "TRIAGE_ADMIN_TOKEN" in (await pages.http.get("/login")).text
        for token in ("", "None", "none"):
            assert (await pages.log_in(token)).status_code == 403
