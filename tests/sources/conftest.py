"""One real MCP server over HTTP for all tests here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.app import HTTP
from tests.sources.site import certificate, site
from tests.support.patience import wait_for

__all__ = ["certificate", "mcp_url", "site"]

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def mcp_url() -> Iterator[str]:
    """Yield the server's address."""
    with subprocess.Popen(
        [sys.executable, str(HERE / "mcp_server.py"), "http"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        _wait(url)
        yield url
        server.kill()


def _wait(url: str) -> None:
    wait_for(lambda: bool(HTTP.get(url, timeout=30)) or True, 60.0)
