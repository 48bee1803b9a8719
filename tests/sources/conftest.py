"""One real MCP server over HTTP for all tests here."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def mcp_url() -> Iterator[str]:
    """Its address."""
    with subprocess.Popen(
        [sys.executable, str(HERE / "mcp_server.py"), "http"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        _wait(url)
        yield url
        server.kill()


def _wait(url: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            httpx.get(url, timeout=30)
        except httpx.TransportError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return
