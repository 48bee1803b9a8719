"""Pictures of issues over real TLS: what is fetched, and everything that is refused."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from bot.github.reader import IssueReader
from bot.runs.pictures import RefusedAttachment, find_pictures, resolve_public
from bot.settings.operator import PicturesConfig
from tests.servers.github_server import serve_github
from tests.servers.github_world import GRANTED
from tests.sources.site import Site, redirect

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1"
HUGE_PNG = PNG[:16] + b"\0\1\0\0\0\1\0\0"
ASSET = "https://github.com/user-attachments/assets/1"
STORED = "https://github-production-user-asset-6210df.s3.amazonaws.com/1"


async def test_an_attachment_is_fetched_through_its_redirect_without_credentials(site: Site) -> None:
    site.pages = {"/user-attachments/assets/1": redirect(STORED), "/1": (200, {}, PNG)}
    found = await site.fetcher().fetch(f'It fails:\n<img width="3" src="{ASSET}">\n![again]({ASSET})')
    assert found.refused == ()
    assert [(picture.url, picture.data_url[:22]) for picture in found.fetched] == [(ASSET, "data:image/png;base64,")]
    assert [host for host, _, _ in site.asked] == ["github.com", STORED.split("/")[2]]
    names = {name.lower() for _, _, headers in site.asked for name in headers}
    assert not names & {"authorization", "cookie", "referer"}


async def test_a_private_repositorys_attachments_are_fetched_as_its_api_signs_them(site: Site) -> None:
    """GitHub's answers to an App: 404 for the attachment, and a signed address in the issue rendered as HTML."""
    others = [ASSET.replace("/1", f"/{name}") for name in ("a1b2", "c3d4", "e5f6")]
    signed = "https://private-user-images.githubusercontent.com/7/9-{}.png?jwt=ey.{}&amp;x=1"
    with serve_github() as github:
        repo = github.world.repository("octo/closed")
        github.world.tokens["t"] = {"repositories": [repo.id], "permissions": GRANTED}
        number = github.world.open_issue(repo, "It fails", f"![]({others[0]})")["number"]
        repo.issues[number]["body_html"] = f'<img src="{signed.format("a1b2", "one")}">'
        comment = github.world.comment(repo, number, f"![]({others[1]})")
        github.world.comments[comment["id"]]["body_html"] = f'<a href="{signed.format("c3d4", "two")}">'
        site.pages = {"/7/9-a1b2.png?jwt=ey.one&x=1": (200, {}, PNG), "/7/9-c3d4.png?jwt=ey.two&x=1": (200, {}, PNG)}
        reader = IssueReader("octo/closed", api_url=github.url, token="t")
        try:
            fetcher = site.fetcher().reading(lambda: reader.rendered(number))
            found = await fetcher.fetch(" ".join(f"![]({url})" for url in others))
            more = await fetcher.fetch(f"![]({others[0]}) ![]({others[1]})", earlier=2)
        finally:
            await reader.aclose()
        assert {call.authorization for call in github.asked("GET", "/issues/")} == {"Bearer t"}
    assert [picture.url for picture in found.fetched] == others[:2]
    assert found.refused == ("HTTP 404",)
    assert (len(more.fetched), more.refused) == (1, ("more pictures than the limit",))
    assert not any("Authorization" in headers or "Cookie" in headers for _, _, headers in site.asked)
    alone = await site.fetcher().fetch(f"![]({others[0]})")
    assert (alone.fetched, alone.refused) == ((), ("HTTP 404",))


@pytest.mark.tried("pictures that must not be fetched or read")
@pytest.mark.parametrize(
    ("url", "page", "why"),
    [
        pytest.param("http://github.com/user-attachments/assets/1", None, "not a plain https", id="http"),
        pytest.param("https://github.com:8443/user-attachments/assets/1", None, "not a plain https", id="port"),
        pytest.param("https://a:b@github.com/user-attachments/assets/1", None, "not a plain https", id="credentials"),
        pytest.param("https://evil.example/1.png", None, "host is not allowed", id="other-host"),
        pytest.param("https://github.com.evil.example/1", None, "host is not allowed", id="lookalike"),
        pytest.param("https://127.0.0.1/1.png", None, "host is not allowed", id="loopback"),
        pytest.param("https://[::1]/1.png", None, "host is not allowed", id="loopback-v6"),
        pytest.param("https://github.com/logout", None, "not an attachment", id="page-of-github"),
        pytest.param(ASSET, redirect("https://evil.example/1.png"), "host is not allowed", id="redirect-elsewhere"),
        pytest.param(ASSET, redirect("http://169.254.169.254/"), "not a plain https", id="redirect-inside"),
        pytest.param(ASSET, redirect("/settings"), "not an attachment", id="redirect-to-a-page"),
        pytest.param(ASSET, redirect(ASSET), "too many redirects", id="redirect-loop"),
        pytest.param(ASSET, (200, {}, b"<svg onload='x'/>"), "not a PNG", id="svg"),
        pytest.param(ASSET, (200, {"Content-Type": "image/png"}, b"<html>"), "not a PNG", id="page-called-picture"),
        pytest.param(ASSET, (200, {}, b""), "not a PNG", id="empty"),
        pytest.param(ASSET, (200, {}, PNG + b"\0" * 20_000), "too large", id="large"),
        pytest.param(ASSET, (200, {}, HUGE_PNG), "too many pixels", id="bomb"),
        pytest.param(ASSET, (404, {}, PNG), "HTTP 404", id="gone"),
        pytest.param(ASSET, (200, {"Content-Encoding": "gzip"}, b"\x1f\x8b" + PNG), "not a PNG", id="compressed"),
    ],
)
async def test_any_other_picture_is_refused_and_the_rest_are_read(
    site: Site, url: str, page: tuple[int, dict[str, str], bytes] | None, why: str
) -> None:
    site.pages = {"/2": (200, {}, PNG)} | ({"/user-attachments/assets/1": page} if page else {})
    other = "https://user-images.githubusercontent.com/2"
    found = await site.fetcher(max_bytes=10_000).fetch(f"![a]({url}) ![b]({other})")
    assert len(found.refused) == 1
    assert why in found.refused[0]
    assert [picture.url for picture in found.fetched] == [other]
    assert all("example" not in host for host, _, _ in site.asked)


async def test_a_slow_host_times_out_and_the_number_of_pictures_is_limited(site: Site) -> None:
    site.delay = 1.0
    body = "".join(f"![]({ASSET}{n})\n" for n in range(6))
    found = await site.fetcher(number=1, seconds=0.2).fetch(body)
    assert (found.fetched, len(site.asked)) == ((), 1)
    assert sorted(set(found.refused)) == ["more pictures than the limit", "not reachable (ReadTimeout)"] or sorted(
        set(found.refused)
    ) == ["more pictures than the limit", "not received in time"]


@pytest.mark.tried("pictures that must not be fetched or read")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "10.1.2.3", "169.254.169.254", "0.0.0.0"])
async def test_a_host_with_a_private_address_is_refused(host: str) -> None:
    with pytest.raises(RefusedAttachment, match="private address"):
        await resolve_public(host)


async def test_a_certificate_of_another_host_is_refused(site: Site) -> None:
    fetcher = site.fetcher(PicturesConfig(hosts=("other.example",)))
    found = await fetcher.fetch("![](https://other.example/1)")
    assert (found.fetched, found.refused, site.asked) == ((), ("not reachable",), [])


@pytest.mark.parametrize(
    ("body", "found"),
    [
        pytest.param(f"![a]({ASSET})", (ASSET,), id="markdown"),
        pytest.param(f'![a](<{ASSET}> "title")', (ASSET,), id="markdown-with-title"),
        pytest.param(f"<IMG alt='x' SRC={ASSET} />", (ASSET,), id="html-without-quotes"),
        pytest.param(f"```\n![a]({ASSET})\n```\n![b]({STORED})", (STORED,), id="not-in-code"),
        pytest.param(f"~~~\n```\n![a]({ASSET})\n~~~", (), id="nested-fences"),
        pytest.param(f"[a]({ASSET}) {ASSET}", (), id="links"),
        pytest.param("![a](file:///etc/passwd) ![b](data:image/png;base64,x)", (), id="other-schemes"),
    ],
)
def test_only_pictures_that_the_issue_shows_are_found(body: str, found: tuple[str, ...]) -> None:
    assert find_pictures(body) == found


def test_finding_pictures_takes_linear_time() -> None:
    slow: list[Callable[[int], str]] = [
        lambda n: "![" * n,
        lambda n: "<img " * n,
        lambda n: "![](https://" * n,
        lambda n: "`" * n,
    ]
    for text in slow:
        started = time.process_time()
        find_pictures(text(200_000))
        assert time.process_time() - started < 5
