"""The output on a real terminal."""

from __future__ import annotations

import io
import os
import pty
import re
from pathlib import Path

import pytest

from bot.cli.local.repository import ProgressLine
from tests.cli.process import command, environment, triage
from tests.support.patience import patience
from tests.support.preloaded import Forked
from tests.support.repositories import make_repository

ASKED = ("run", "--repo", "app", "--text", "parse fails with KeyError: 'x'")
COLOUR = re.compile(r"\x1b\[\d+m")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    make_repository(tmp_path / "app", {"app.py": "def parse(text):\n    return text['x']\n"})
    return tmp_path


def test_the_report_is_laid_out_after_the_progress(place: Path) -> None:
    progress, _, report = on_a_terminal(place, *ASKED).rpartition("\r")
    assert "codebase_search: " in progress
    assert COLOUR.search(report)
    assert "def parse(text):" in re.sub(r"\x1b\[[\d;]+m", "", report)


def test_no_color_is_respected(place: Path) -> None:
    assert not COLOUR.search(on_a_terminal(place, *ASKED, NO_COLOR="1"))


def test_progress_fits_into_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.get_terminal_size", lambda _stream: os.terminal_size((30, 24)))
    shown = io.StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: True)
    monkeypatch.setattr(shown, "fileno", lambda: 2)
    monkeypatch.setattr("sys.stderr", shown)
    progress = ProgressLine()
    progress.node("codebase_search", "searching the code of a repository")
    progress.clear()
    assert {len(part) for part in shown.getvalue().split("\r")} == {0, 29}


def test_progress_in_a_pipe_is_plain_lines_and_only_on_request(place: Path) -> None:
    quiet, verbose = triage(place, *ASKED), triage(place, *ASKED, "--verbose")
    assert quiet.stderr == ""
    assert verbose.stdout == quiet.stdout
    assert "codebase_search: searching the code" in verbose.stderr.splitlines()
    assert "\r" not in verbose.stderr


def on_a_terminal(place: Path, *arguments: str, **settings: str) -> str:
    """Run it on a terminal that reports no columns, as in a container without a size; return its output."""
    ours, theirs = pty.openpty()
    with Forked(
        command(*arguments), cwd=place, env=environment(**settings), stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        while part := _read(ours):
            shown += part
        os.close(ours)
        assert process.wait(timeout=patience(30)) == 0, shown
    return shown.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux reports EIO where other systems report the end of the file.
        return b""
