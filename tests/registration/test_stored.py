"""The stored App applies if the environment sets none, and only its owner can read it."""

from __future__ import annotations

import base64
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.errors import UserError
from bot.server.registration import read_registration, store_registration
from bot.settings.environment import SettingsError
from bot.settings.server import NoAppError, load_server_settings

PEM = "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n"
APP = {
    "github_app_id": "12",
    "github_private_key": PEM,
    "github_webhook_secret": "kept secret",
    "triage_admin_token": "a kept token of the operator",
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_APP_ID", "GITHUB_PRIVATE_KEY", "GITHUB_PRIVATE_KEY_PATH", "GITHUB_WEBHOOK_SECRET"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "data"


def test_a_stored_app_is_read_at_the_start(data: Path) -> None:
    path = store_registration(data, APP)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in data.iterdir()] == ["app.json"]
    settings = load_server_settings()
    assert (settings.app_id, settings.private_key, settings.secrets) == (12, PEM, (b"kept secret",))
    assert settings.settings.triage_admin_token is not None


@pytest.mark.parametrize("form", [str, lambda pem: base64.encodebytes(pem.encode()).decode()], ids=["pem", "base64"])
def test_the_environment_takes_precedence(
    data: Path, monkeypatch: pytest.MonkeyPatch, form: Callable[[str], str]
) -> None:
    store_registration(data, APP)
    monkeypatch.setenv("GITHUB_WEBHOOK_SECRET", "another")
    key = data / "key.pem"
    key.write_text(form(PEM.replace("abc", "def")))
    monkeypatch.setenv("GITHUB_PRIVATE_KEY_PATH", str(key))
    settings = load_server_settings()
    assert (settings.app_id, settings.secrets) == (12, (b"another",))
    assert settings.private_key == PEM.replace("abc", "def")


def test_settings_of_two_apps_are_not_mixed(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store_registration(data, APP)
    monkeypatch.setenv("GITHUB_APP_ID", "13")
    with pytest.raises(SettingsError) as raised:
        load_server_settings()
    assert set(raised.value.faults) == {"github_private_key", "github_webhook_secret"}


def test_only_the_apps_settings_are_read_from_the_stored_file(data: Path) -> None:
    store_registration(data, {**APP, "openai_base_url": "http://evil.example", "triage_brain": "llm"})
    assert load_server_settings().settings.openai_base_url is None


def test_a_stored_app_is_never_overwritten(data: Path) -> None:
    store_registration(data, APP)
    with pytest.raises(UserError, match="an App exists already"):
        store_registration(data, {**APP, "github_app_id": "13"})
    assert read_registration(data)["github_app_id"] == "12"


@pytest.mark.parametrize("text", ["", "{", "[]", "\x00"])
def test_a_damaged_file_is_named(data: Path, text: str) -> None:
    data.mkdir()
    (data / "app.json").write_text(text)
    with pytest.raises(UserError, match=r"app\.json"):
        load_server_settings()


def test_a_start_with_faulty_settings_is_not_a_first_start(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoAppError, match="GITHUB_APP_ID: missing"):
        load_server_settings()
    for name, value in (("GITHUB_WEBHOOK_SECRET", "s"), ("GITHUB_APP_ID", "1"), ("PORT", "x")):
        monkeypatch.setenv(name, value)
        with pytest.raises(SettingsError) as raised:
            load_server_settings()
        monkeypatch.delenv(name)
        assert not isinstance(raised.value, NoAppError), name
    assert not data.exists()
