"""Headers of every response, and what a response hides from an unauthenticated client."""

from __future__ import annotations

import re

import pytest

from tests.web.conftest import Pages


@pytest.mark.parametrize("path", ["/login", "/nothing", "/healthz", "/assets/x/site.css"])
async def test_a_page_loads_nothing_from_other_hosts(pages: Pages, path: str) -> None:
    headers = (await pages.http.get(path)).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'; script-src 'self';")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"


async def test_assets_have_hashed_names_and_are_cached(pages: Pages) -> None:
    page = (await pages.http.get("/login")).text
    found = re.findall(r'(?:href|src)="(/assets/[^"]+)"', page)
    assert found
    for address in found:
        answer = await pages.http.get(address)
        assert (answer.status_code, "immutable" in answer.headers["cache-control"]) == (200, True), address
        assert (await pages.http.get(re.sub(r"/[0-9a-f]{16}/", "/0000000000000000/", address))).status_code == 404


@pytest.mark.parametrize("name", ["../__init__.py", "%2e%2e%2f__init__.py", "base.html", ""])
async def test_only_assets_are_served(pages: Pages, name: str) -> None:
    answer = await pages.http.get(f"/assets/x/{name}")
    assert answer.status_code in (303, 404)


async def test_an_internal_error_reveals_no_details(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_given: object) -> None:
        raise RuntimeError("octo/secret-repository")

    await pages.log_in()
    monkeypatch.setattr("bot.server.web.auth.authentication.Authenticator.viewer", fails)
    for accept, kind in (("text/html", "<h1>500</h1>"), ("application/json", '"error"')):
        answer = await pages.http.get("/runs", headers={"Accept": accept})
        assert answer.status_code == 500
        assert kind in answer.text
        assert "secret" not in answer.text
        assert "content-security-policy" in answer.headers
