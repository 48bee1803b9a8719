"""Attached logs over real TLS: what is read of them, where it is put, and everything that is refused."""

from __future__ import annotations

import io
import random
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bot.runs.logs import ATTACHMENT_LIMITS, EXCERPT, LOG_HOSTS, LogReader, RefusedAttachment, excerpt
from bot.settings.operator import LogsConfig
from tests.graph.rules_run import run_by_rules
from tests.limits.test_admission import staged
from tests.serve.conftest import BODY
from tests.servers.github_server import serve_github
from tests.sources.site import Site, redirect

FILES = "https://github.com/user-attachments/files/17"
TRACE = (
    'Traceback (most recent call last):\n  File "app/reader.py", line 3, in read\n    return open(path).size\n'
    "AttributeError: '_io.TextIOWrapper' object has no attribute 'size'"
)
PADDING = "2026-11-25 10:00:00 INFO request served in 12 ms\n"


def reader(site: Site, *, enabled: bool = True, **limits: Any) -> LogReader:
    own = ATTACHMENT_LIMITS._replace(**limits)
    return LogReader(LogsConfig(enabled=enabled), "https://github.com", limits=own, resolve=site.here, tls=site.tls)


def packed(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def link(name: str) -> str:
    return f"It fails.\n\n[{name}]({FILES}/{name})\n\nThanks"


def serve(site: Site, name: str, content: bytes) -> str:
    site.pages[f"/user-attachments/files/17/{name}"] = (200, {}, content)
    return link(name)


async def test_the_certificates_of_the_machine_are_trusted(
    site: Site, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    own = LogReader(LogsConfig(), "https://github.com", resolve=site.here)
    assert [item.text for item in (await own.read(serve(site, "app.log", TRACE.encode()))).attached] == [TRACE]


async def test_a_log_is_read_below_its_link_through_a_redirect_without_credentials(site: Site) -> None:
    site.pages["/user-attachments/files/17/app.log"] = redirect(f"https://{LOG_HOSTS[0]}/stored?token=x")
    site.pages["/stored?token=x"] = (200, {}, (PADDING * 900 + TRACE + "\n" + PADDING * 40).encode())
    found = await reader(site).read(link("app.log"))
    assert "/app.log)\n\n```\n2026" in found.body
    assert TRACE in found.body
    assert len(found.body) < EXCERPT + 200
    assert (found.attached[0].name, found.notes) == ("app.log", ())
    assert found.attached[0].text in found.body
    names = {name.lower() for _, _, headers in site.asked for name in headers}
    assert not names & {"authorization", "cookie", "referer"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("crash.json", TRACE.encode(), id="json"),
        pytest.param("crash.txt", TRACE.encode("utf-16"), id="utf-16"),
        pytest.param("logs.zip", packed({"a.png": b"x", "deep/app.log": TRACE.encode()}), id="archive"),
        pytest.param("Mein%20Log.log", TRACE.encode(), id="escaped-name"),
    ],
)
async def test_texts_and_archives_are_read(site: Site, name: str, content: bytes) -> None:
    found = await reader(site).read(serve(site, name, content))
    assert TRACE in found.body
    assert not set("%/[]`") & set(found.attached[0].name)


def with_false_size() -> bytes:
    """Return an archive that states one byte for a megabyte."""
    content = bytearray(packed({"a.log": b"A" * 1_000_000}))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = content.index(signature) + offset
        content[at : at + 4] = (1).to_bytes(4, "little")
    return bytes(content)


@pytest.mark.tried("attached files that are no text, too large, bombs, or damaged")
@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        pytest.param("a.log", b"error\n" * 20_000, "too large", id="large"),
        pytest.param("a.log", b"\x7fELF\0\0error", "not a text", id="binary"),
        pytest.param("a.log", PADDING.encode() * 200, "nothing in it", id="without-a-failure"),
        pytest.param("a.zip", packed({"a.log": b"\0" * 9_000_000}), "too large when unpacked", id="bomb"),
        pytest.param("a.zip", packed({"a.log": b"e" * 5_000_000}), "too large when unpacked", id="ratio"),
        pytest.param("a.zip", with_false_size(), "archive|unpacked", id="false-size"),
        pytest.param("a.zip", packed({"a.log": b"e"}, zipfile.ZIP_LZMA), "unusual method", id="lzma"),
        pytest.param("a.zip", packed({f"{n}.log": b"" for n in range(1_100)}), "too many files|too large", id="many"),
        pytest.param("a.zip", packed({"b.zip": packed({"a.log": b"error"})}), "nothing in it", id="nested"),
        pytest.param("a.zip", b"PK\x03\x04" + random.Random(1).randbytes(900), "not a readable archive", id="damaged"),
    ],
)
async def test_other_files_are_refused_with_the_reason(site: Site, name: str, content: bytes, why: str) -> None:
    body = serve(site, name, content)
    found = await reader(site, max_bytes=100_000).read(body)
    assert (found.body, found.attached) == (body, ())
    assert any(one in found.notes[0] for one in why.split("|")), found.notes
    assert f"`{name}` was not read" in found.notes[0]


@pytest.mark.tried("addresses of attached files that are not GitHub's, or lead elsewhere")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(redirect("https://example.org/app.log"), id="another-host"),
        pytest.param(redirect("http://169.254.169.254/app.log"), id="private"),
        pytest.param(redirect("https://[::1]/app.log"), id="loopback"),
        pytest.param(redirect("https://a:b@github.com/user-attachments/files/17/app.log"), id="credentials"),
        pytest.param(redirect("https://github.com:8443/user-attachments/files/17/app.log"), id="port"),
        pytest.param(redirect("http://github.com/user-attachments/files/17/app.log"), id="without-tls"),
        pytest.param(redirect("https://github.com/octo/app/raw/main/app.log"), id="a-page"),
        pytest.param(redirect(f"{FILES}/app.log"), id="loop"),
        pytest.param((404, {}, b""), id="not-shown"),
    ],
)
async def test_redirects_are_checked(site: Site, page: Any) -> None:
    site.pages["/user-attachments/files/17/app.log"] = page
    found = await reader(site).read(link("app.log"))
    assert found.attached == ()
    assert "was not read" in found.notes[0]
    assert len(site.asked) <= 3


@pytest.mark.parametrize(
    "body",
    [
        "https://example.org/user-attachments/files/17/app.log",
        "http://github.com/user-attachments/files/17/app.log",
        "https://github.com/octo/app/blob/main/app.log",
        "https://github.com.example.org/user-attachments/files/17/app.log",
        "https://github.com/user-attachments/files/17/app.exe",
        f"```\n{FILES}/app.log\n```",
        "https://[user-attachments/files/17/app.log",
    ],
)
async def test_other_addresses_are_not_requested(site: Site, body: str) -> None:
    assert (await reader(site).read(body)).notes == ()
    assert site.asked == []


@pytest.mark.tried("addresses of attached files that are not GitHub's, or lead elsewhere")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "10.1.2.3", "169.254.169.254", "0.0.0.0"])
async def test_a_host_with_a_private_address_is_refused(host: str) -> None:
    with pytest.raises(RefusedAttachment, match="private address"):
        await LogReader(LogsConfig(), "https://github.com").resolve(host)


async def test_a_certificate_of_another_host_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.runs.logs.LOG_HOSTS", ("other.example",))
    site.pages["/user-attachments/files/17/app.log"] = redirect("https://other.example/app.log")
    found = await LogReader(LogsConfig(), "https://github.com", resolve=site.here, tls=site.tls).read(link("app.log"))
    assert (found.attached, len(site.asked)) == ((), 1)
    assert "not reachable" in found.notes[0]


async def test_private_addresses_are_refused_except_that_of_the_operators_own_server() -> None:
    with pytest.raises(RefusedAttachment, match="private"):
        await LogReader(LogsConfig(), "https://github.com").resolve("localhost")
    _, port = await LogReader(LogsConfig(), "https://localhost").resolve("localhost")
    assert port == 443


async def test_settings_turn_it_off_and_bound_it(site: Site) -> None:
    body = "\n".join(serve(site, f"{n}.log", TRACE.encode()) for n in range(3))
    assert (await reader(site, enabled=False).read(body)).body == body
    assert (await reader(site).read(body, allowed=False)).body == body
    assert site.asked == []
    found = await reader(site, number=2).read(body)
    assert len(found.attached) == 2
    assert found.notes == ("Only the first 2 of 3 attached files were read.",)
    site.delay = 0.5
    slow = await reader(site, seconds=0.1, number=1).read(link("0.log"))
    assert "not received in time" in slow.notes[0]


def test_an_excerpt_has_no_secrets_and_closes_no_block() -> None:
    token = "ghp_" + "a1B2" * 9
    assert token not in excerpt(f"error: refused {token}\n" + PADDING * 500, EXCERPT)
    assert excerpt("x" * 10_000, EXCERPT) == "x" * 500


async def test_the_comment_names_the_log_that_the_finding_is_from(site: Site, tmp_path: Path) -> None:
    files = {"app/reader.py": "import os\ndef read(path):\n    return open(path).size\n", "app/other.py": "x = 1\n"}
    text = await reader(site).read(serve(site, "app.log", TRACE.encode()))
    state = await run_by_rules(tmp_path / "repo", files, "Reading fails", text.body, attached=text.attached)
    assert state.report is not None
    assert state.report.attached == ("app.log",)
    assert "- These words are from the attached `app.log`." in state.report.github_comment


async def test_facts_of_an_attached_log_reach_the_posted_comment(site: Site, tmp_path: Path) -> None:
    log = re.search(r"Traceback.*?(?=\n```)", BODY, re.DOTALL)
    assert log
    with serve_github() as github:
        async with staged(github, tmp_path) as stage:
            stage.worker._tools.sources.logs = reader(site)
            found = stage.reported(await stage.opened(body=serve(site, "app.log", log[0].encode())))
    assert "`parse_date` raises `ValueError` on this line" in found
    assert "- These words are from the attached `app.log`." in found
