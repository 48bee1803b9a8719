"""The emulator and the real server, started once for the tests of this folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import cast

import pytest

from tests.emulated.emulator import (
    APP_ID,
    CLIENT_ID,
    CLIENT_SECRET,
    SECRET,
    Emulator,
    emulating,
    free_port,
    installed,
)
from tests.serve.app import App
from tests.serve.conftest import FILES
from tests.servers.github_server import GitHubServer, private_key
from tests.support.repositories import make_repository

MISSING = "the emulator of GitHub is not installed: run .ci/emulate, which needs npm"


@pytest.fixture(scope="session")
def port() -> int:
    """Return the App's port, which the emulator must know before the App starts."""
    return free_port()


@pytest.fixture(scope="session")
def emulator(port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    if not installed():
        if os.environ.get("CI") and shutil.which("npm"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    folder = tmp_path_factory.mktemp("emulated")
    make_repository(folder / "origin", FILES)
    at = f"http://127.0.0.1:{port}"
    with emulating(folder, folder / "origin", private_key=private_key(), app=at) as emulator:
        yield emulator


@pytest.fixture(scope="session")
def app(emulator: Emulator, port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    settings = {
        "GITHUB_APP_ID": str(APP_ID),
        "GITHUB_WEBHOOK_SECRET": SECRET,
        "GITHUB_CLIENT_ID": CLIENT_ID,
        "GITHUB_CLIENT_SECRET": CLIENT_SECRET,
    }
    words = ("serve", "--host", "127.0.0.1", "--port", str(port))
    app = App(cast(GitHubServer, emulator), tmp_path_factory.mktemp("server") / "data", settings, words)
    try:
        app.start()
        yield app
    finally:
        app.kill()
