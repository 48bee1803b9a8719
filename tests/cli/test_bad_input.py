"""Bad input leads to exit code 2 and one line on stderr that says what to fix; stdout stays empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.cli.local.issue_text import read_issue
from tests.cli.process import triage
from tests.support.repositories import git, make_repository
from tests.support.small_disk import filled, make_read_only, small_disk

TEXT = ("--text", "KeyError in parse() on empty input")
BIG = 40_000_000


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with a valid repository, ``app``, and invalid ones."""
    make_repository(tmp_path / "app", {"app.py": "def parse(text):\n    return text['x']\n"})
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "--quiet")
    (tmp_path / "plain").mkdir()
    git(tmp_path / "app", "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{tmp_path / 'app'}", "partial")
    (tmp_path / "blank.md").write_text(" \n\n")
    (tmp_path / "binary.md").write_bytes(b"\x7fELF\0\0\1")
    return tmp_path


@pytest.mark.parametrize("name", ["run", "locate"])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("--repo", "nowhere", *TEXT), "nowhere", id="no-such-path"),
        pytest.param(("--repo", "plain", *TEXT), "plain", id="not-a-repository"),
        pytest.param(("--repo", "blank.md", *TEXT), "blank.md", id="a-file-as-repository"),
        pytest.param(("--repo", "empty", *TEXT), "no commits yet", id="no-commit"),
        pytest.param(("--repo", "partial", *TEXT), "partial clone without the contents", id="no-contents"),
        pytest.param(("--repo", "app", "--rev", "v9", *TEXT), "v9", id="unknown-revision"),
        pytest.param(("--repo", "app", "--rev=--help", *TEXT), "--help", id="revision-that-is-an-option"),
        pytest.param(("--repo", "app", "--rev=", *TEXT), "revision", id="no-revision"),
        pytest.param(("--repo", "app", "--text", ""), "empty", id="empty-text"),
        pytest.param(("--repo", "app", "--issue", "blank.md"), "empty", id="blank-file"),
        pytest.param(("--repo", "app", "--issue", "-"), "empty", id="empty-input"),
        pytest.param(("--repo", "app", "--issue", "binary.md"), "binary", id="binary-file"),
        pytest.param(("--repo", "app", "--issue", "gone.md"), "gone.md", id="no-such-issue"),
        pytest.param(("--repo", "app", "--issue", "plain"), "plain", id="a-folder-as-issue"),
        pytest.param(("--repo", "app"), "give one issue", id="no-issue"),
        pytest.param(("--repo", "app", ""), "give one issue", id="an-empty-name"),
        pytest.param(("--repo", "app", "--issue", "blank.md", *TEXT), "--text", id="two-issues"),
    ],
)
def test_one_line_states_what_to_fix(place: Path, name: str, arguments: tuple[str, ...], says: str) -> None:
    assert says in refused(place, name, *arguments)


@pytest.mark.parametrize("name", ["run", "locate"])
@pytest.mark.parametrize("through", ["file", "input"])
def test_a_huge_issue_is_refused_before_it_is_read(place: Path, name: str, through: str) -> None:
    huge = b"a line of log\n" * (BIG // 14)
    (place / "huge.md").write_bytes(huge)
    if through == "file":
        assert "larger than 1 MB" in refused(place, name, "--repo", "app", "--issue", "huge.md")
    else:
        assert "larger than 1 MB" in refused(place, name, "--repo", "app", "--issue", "-", stdin=huge)


@pytest.mark.parametrize("coding", ["utf-16", "utf-8-sig", "latin-1"])
def test_text_in_another_encoding_is_read(tmp_path: Path, coding: str) -> None:
    """PowerShell's ``>`` writes UTF-16."""
    (tmp_path / "issue.md").write_bytes("Müller fails\r\n\r\nEmpty input".encode(coding))
    read = read_issue(str(tmp_path / "issue.md"), None, None)
    assert (read.title, read.body) == ("Müller fails", "Empty input")


def test_binary_input_is_refused(place: Path) -> None:
    assert "standard input is binary" in refused(place, "run", "--repo", "app", "--issue", "-", stdin=b"a\0b")


def test_every_malformed_setting_is_named_at_once(place: Path) -> None:
    settings = {"OPENAI_BASE_URL": "ftp://x", "TRIAGE_BRAIN": "maybe"}
    line = refused(place, "run", "--repo", "app", *TEXT, **settings)
    assert "OPENAI_BASE_URL" in line
    assert "TRIAGE_BRAIN" in line


def test_a_requested_model_needs_a_key(place: Path) -> None:
    assert "OPENAI_API_KEY" in refused(place, "run", "--repo", "app", "--brain", "llm", *TEXT)


def test_an_endpoint_without_a_host_is_refused(place: Path) -> None:
    assert "OPENAI_BASE_URL" in refused(place, "run", "--repo", "app", *TEXT, OPENAI_BASE_URL="http://")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("run", *TEXT), "--repo", id="no-repository"),
        pytest.param(("run", "--repo", "app", "--format", "pdf", *TEXT), "pdf", id="no-such-format"),
        pytest.param(("locate", "--repo", "app", "--top", "0", *TEXT), "--top", id="top-of-nothing"),
        pytest.param(("locate", "--repo", "app", "--tip", "3", *TEXT), "--top", id="misspelled-option"),
        pytest.param(("lcoate", "--repo", "app"), "Did you mean 'locate'?", id="misspelled-command"),
    ],
)
def test_usage_errors(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    done = triage(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_an_unwritable_data_directory_is_named(place: Path) -> None:
    (place / "taken").write_text("a file, not a folder")
    for name in ("run", "locate"):
        assert "TRIAGE_DATA_DIR" in refused(place, name, "--repo", "app", *TEXT, TRIAGE_DATA_DIR=str(place / "taken"))


def refused(place: Path, *arguments: str, stdin: Any = None, **settings: str) -> str:
    """Return the one line that a command prints for bad input; its exit code must be 2."""
    done = triage(place, *arguments, stdin=stdin, **settings)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("triage: ")
    return line


@pytest.mark.parametrize("free", [0, 100, 200, 260, 300, 320, 340, 380], ids=lambda size: f"{size}-kB")
def test_a_disk_that_fills_up_during_a_run_is_named_in_one_line(tmp_path: Path, free: int) -> None:
    """Whatever writes first finds the disk full: the store, the checkpoints or the parsed files."""
    make_repository(tmp_path / "app", {"app.py": "def parse(text):\n    return text.split(',')\n"})
    with small_disk(tmp_path / "data") as data, filled(data, free * 1_024):
        done = triage(tmp_path, "run", "--repo", "app", "--text", "parse fails", TRIAGE_DATA_DIR=str(data))
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert "disk" in last
    assert str(data) in last or "TRIAGE_DATA_DIR" in last
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("used_before", [False, True])
def test_a_read_only_data_directory_is_named_in_one_line(tmp_path: Path, used_before: bool) -> None:
    make_repository(tmp_path / "app", {"app.py": "def parse(text):\n    return text.split(',')\n"})
    with small_disk(tmp_path / "data") as data:
        given = ("run", "--repo", "app", "--text", "parse fails")
        if used_before:
            assert triage(tmp_path, *given, TRIAGE_DATA_DIR=str(data)).returncode == 0
        make_read_only(data)
        line = refused(tmp_path, *given, TRIAGE_DATA_DIR=str(data))
        assert "read" in line
        assert "TRIAGE_DATA_DIR" in line
        # As in a home that cannot be written to: the folder does not exist and cannot be created.
        assert "set TRIAGE_DATA_DIR" in refused(tmp_path, *given, TRIAGE_DATA_DIR=str(data / "share" / "app"))
