"""The manifest matches app.yml, with addresses that GitHub can reach."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from bot.server.registration import RequestedApp, api_of, installation_address, is_local
from tests.servers.github_pages import manifest_fault

WISH = RequestedApp(
    server_url="https://github.com",
    api_url="https://api.github.com",
    here="https://triage.example.org",
    public_url="https://triage.example.org",
    webhook_url="https://triage.example.org/webhooks/github",
    name="hound",
)


def requested(**other: str) -> RequestedApp:
    return RequestedApp(**{name: getattr(WISH, name) for name in WISH.__slots__} | other)


def test_permissions_and_events_are_those_of_app_yml() -> None:
    registered = yaml.safe_load((Path(__file__).parents[2] / "app.yml").read_text())
    manifest = json.loads(WISH.manifest())
    assert manifest["default_permissions"] == registered["default_permissions"]
    assert manifest["default_events"] == registered["default_events"]
    assert manifest["hook_attributes"] == {"url": "https://triage.example.org/webhooks/github", "active": True}
    assert manifest["redirect_url"] == "https://triage.example.org/setup/callback"
    assert manifest["callback_urls"] == ["https://triage.example.org/login/github/callback"]
    assert manifest_fault(manifest) == ""


def test_the_manifest_is_sent_to_the_chosen_account_and_server() -> None:
    assert WISH.address("s&") == "https://github.com/settings/apps/new?state=s%26"
    named = requested(owner="octo-org", server_url="https://ghe.example.org/")
    assert named.address("s") == "https://ghe.example.org/organizations/octo-org/settings/apps/new?state=s"


@pytest.mark.parametrize(
    ("server", "api", "apps"),
    [
        ("https://github.com", "https://api.github.com", "https://github.com/apps"),
        ("https://octo.ghe.com", "https://api.octo.ghe.com", "https://octo.ghe.com/apps"),
        ("https://ghe.example.org", "https://ghe.example.org/api/v3", "https://ghe.example.org/github-apps"),
        (
            "https://ghe.example.org:8443/",
            "https://ghe.example.org:8443/api/v3",
            "https://ghe.example.org:8443/github-apps",
        ),
    ],
)
def test_each_github_has_its_own_addresses(server: str, api: str, apps: str) -> None:
    assert api_of(server) == api
    assert installation_address(server, "hound") == f"{apps}/hound/installations/new"


@pytest.mark.parametrize(
    "other",
    [
        {"server_url": "javascript:alert(1)"},
        {"server_url": "https://"},
        {"server_url": "https://github.com; script-src *"},
        {"server_url": "https://user:pass@github.com"},
        {"server_url": "https://[::1"},
        {"webhook_url": "ftp://example.org"},
        {"owner": "../settings"},
        {"owner": "octo/org"},
        {"name": ""},
        {"name": "x" * 35},
    ],
    ids=str,
)
def test_an_invalid_request_for_an_app_is_reported(other: dict[str, str]) -> None:
    assert requested(**other).fault()
    assert WISH.fault() == ""


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True),
        ("127.0.0.1:3000", True),
        ("[::1]:3000", True),
        ("192.168.1.4", True),
        ("triage", True),
        ("triage.local", True),
        ("triage.example.org", False),
        ("140.82.112.3", False),
    ],
)
def test_addresses_that_github_cannot_reach_are_reported(host: str, *, local: bool) -> None:
    assert is_local(f"http://{host}/webhooks/github") is local
    assert requested(webhook_url=f"http://{host}/").unreachable is local
    assert not requested(webhook_url=f"http://{host}/", server_url="http://ghe.local").unreachable
