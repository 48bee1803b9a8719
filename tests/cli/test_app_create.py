"""`triage app create` registers an App and stores or prints its secrets."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from bot.server.registration import read_registration, store_registration
from tests.cli.process import command, environment, triage
from tests.servers.browserless import on_github
from tests.servers.github_server import GitHubServer, serve_github
from tests.support.patience import patience
from tests.support.preloaded import Forked

PUBLIC = "https://triage.example.org"


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


async def created(github: GitHubServer, cwd: Path, *options: str) -> tuple[int, str]:
    """Run the command and submit the forms; return its exit code and output."""
    settings = {"GITHUB_SERVER_URL": github.url, "GITHUB_API_URL": github.url, "TRIAGE_DATA_DIR": str(cwd / "data")}
    words = command("app", "create", "--no-browser", "--public-url", PUBLIC, *options)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Forked(words, cwd=cwd, env=environment(**settings), text=True, **pipes) as process:  # type: ignore[call-overload]
        address = process.stderr.readline().removeprefix("Open ").strip()
        base = address.partition("/setup")[0]
        async with httpx.AsyncClient(base_url=base, timeout=patience(30), follow_redirects=True) as http:
            assert (await http.get(address)).status_code == 200
            done = await http.get(await on_github(http))
        assert (done.status_code, "You can close this page" in done.text) == (200, True)
        printed, _ = process.communicate(timeout=patience(30))
    return process.returncode, printed


async def test_the_app_is_stored_for_the_server(github: GitHubServer, tmp_path: Path) -> None:
    code, printed = await created(github, tmp_path, "--org", "octo-org", "--name", "hound")
    kept = read_registration(tmp_path / "data")
    assert (code, kept["github_app_id"], kept["triage_public_url"]) == (0, "4711", PUBLIC)
    assert kept["github_webhook_secret"] not in printed
    assert "tracehound/installations/new" in printed
    assert github.world.registered[0]["hook_attributes"]["url"] == f"{PUBLIC}/webhooks/github"


async def test_the_app_is_printed_for_a_secret_store(github: GitHubServer, tmp_path: Path) -> None:
    code, printed = await created(github, tmp_path, "--show", "--webhook-url", "https://smee.example/channel")
    assert (code, read_registration(tmp_path / "data")) == (0, {})
    assert re.search(r"^GITHUB_PRIVATE_KEY=-----BEGIN PRIVATE KEY-----\\n.+-----\\n$", printed, re.MULTILINE)
    assert github.world.registered[0]["hook_attributes"]["url"] == "https://smee.example/channel"


def test_missing_and_conflicting_settings_are_reported_before_a_request_to_github(tmp_path: Path) -> None:
    done = triage(tmp_path, "app", "create", "--no-browser")
    assert (done.returncode, "--public-url" in done.stderr) == (2, True)
    tried = json.loads(triage(tmp_path, "app", "create", "--dry-run").stdout)
    assert (tried["default_permissions"]["issues"], "issues" in tried["default_events"]) == ("write", True)
    store_registration(tmp_path / "data", {"github_app_id": "1"})
    done = triage(tmp_path, "app", "create", "--no-browser", "--public-url", PUBLIC)
    assert (done.returncode, "an App exists already" in done.stderr) == (2, True)
