"""Only the owner can read the files that the program writes."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

import pytest

from bot.files import restrict_permissions
from tests.cli.process import triage
from tests.support.repositories import make_repository


def _open_to_others(folder: Path) -> list[Path]:
    return [path for path in (folder, *folder.rglob("*")) if stat.S_IMODE(path.lstat().st_mode) & 0o077]


def test_data_of_a_run_is_private_and_an_open_directory_is_closed(tmp_path: Path) -> None:
    repository, data = tmp_path / "repository", tmp_path / "data"
    make_repository(repository, {"a.py": "def parse(text):\n    return text\n"})
    data.mkdir(mode=0o755)
    (data / "repos").mkdir(mode=0o755)
    done = triage(
        tmp_path,
        *("run", "--repo", str(repository), "--text", "parse fails", "--brain", "rules"),
        TRIAGE_DATA_DIR=str(data),
    )
    assert done.returncode == 0, done.stderr
    assert any(data.rglob("*.db"))
    assert _open_to_others(data) == []


def test_a_shared_directory_is_left_as_it_is_and_that_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tmp_path.chmod(0o1777)
    restrict_permissions(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_a_missing_data_directory_is_not_a_fault(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    restrict_permissions(tmp_path / "later")
    assert caplog.records == []
