"""Secrets in files, and the compact forms of settings as docs/settings.md describes them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bot.settings.environment import SECRETS, SettingsError, load_settings

TOKEN = "a-token-of-the-operator"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in SECRETS:
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize("ends", ["", "\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("name", SECRETS)
def test_each_secret_may_be_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, ends: str) -> None:
    (tmp_path / "secret").write_bytes(f"{TOKEN}{ends}".encode())
    monkeypatch.setenv(f"{name.upper()}_FILE", str(tmp_path / "secret"))
    assert getattr(load_settings(), name).get_secret_value() == TOKEN


def test_a_dot_env_may_name_the_file_and_the_environment_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"{TOKEN}-{name}")
    (tmp_path / ".env").write_text(f"TRIAGE_ADMIN_TOKEN_FILE={tmp_path / 'one'}\n")
    found = load_settings().triage_admin_token
    assert found is not None
    assert found.get_secret_value() == f"{TOKEN}-one"
    monkeypatch.setenv("TRIAGE_ADMIN_TOKEN_FILE", str(tmp_path / "two"))
    found = load_settings().triage_admin_token
    assert found is not None
    assert found.get_secret_value() == f"{TOKEN}-two"


@pytest.mark.parametrize(
    ("content", "variables", "says"),
    [
        pytest.param(TOKEN, {"TRIAGE_API_TOKEN": TOKEN}, "either TRIAGE_API_TOKEN or TRIAGE_API_TOKEN_FILE", id="both"),
        pytest.param(None, {}, "No such file", id="missing"),
        pytest.param("", {}, "empty", id="empty"),
        pytest.param("\n", {}, "empty", id="blank"),
        pytest.param(b"\xff\xfe", {}, "not text", id="binary"),
        pytest.param("x" * 70_000, {}, "larger than", id="large"),
        pytest.param("short", {}, "must have at least 16 characters", id="invalid"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: Any, variables: dict[str, str], says: str
) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    for name, value in {"TRIAGE_API_TOKEN_FILE": str(file), **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PORT", "zero")
    with pytest.raises(SettingsError) as raised:
        load_settings()
    assert set(raised.value.faults) == {"triage_api_token", "port"}, "all faults are reported together"
    assert says in raised.value.faults["triage_api_token"]
    assert "short" not in raised.value.faults["triage_api_token"]


def test_the_page_lists_each_secret() -> None:
    page = (
        (Path(__file__).parents[1] / "docs" / "settings.md")
        .read_text(encoding="utf-8")
        .partition("## Secrets in files")[2]
    )
    assert {name.upper() for name in SECRETS} <= set(re.findall(r"`([A-Z_]+)`", page.partition("### Other")[0]))
