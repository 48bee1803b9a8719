"""A data directory is locked for one server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.errors import UserError
from bot.files import DirectoryLock


def test_the_second_server_names_the_first(tmp_path: Path) -> None:
    first = DirectoryLock(tmp_path)
    with pytest.raises(UserError, match=f"process {os.getpid()}\\) works in {tmp_path}"):
        DirectoryLock(tmp_path, patience=0.0)
    first.release()
    DirectoryLock(tmp_path, patience=0.0).release()


def test_the_next_server_waits_for_a_child_that_still_works(tmp_path: Path) -> None:
    lock = DirectoryLock(tmp_path)
    waits = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(waits, stdin=subprocess.PIPE, pass_fds=(lock.descriptor,)) as child:
        lock.release()
        with pytest.raises(UserError):
            DirectoryLock(tmp_path, patience=0.0)
        assert child.stdin is not None
        child.stdin.close()
        DirectoryLock(tmp_path, patience=5.0).release()
