"""``make install`` gives an account the command, outside of the checkout, and ``make uninstall`` removes it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.process import ROOT
from tests.support.patience import patience
from tests.support.repositories import make_repository

SETTINGS = ("UV_TOOL_DIR", "UV_TOOL_BIN_DIR", "XDG_DATA_HOME", "XDG_BIN_HOME", "PYTHONPATH", "VIRTUAL_ENV")
"""Variables of the test's own environment that would lead elsewhere."""
UNREACHABLE = re.compile(r"Failed to (?:fetch|download)|error sending request|network connectivity is disabled")


def make(home: Path, target: str) -> subprocess.CompletedProcess[str]:
    """Make a target for the account with this home."""
    given = {name: value for name, value in os.environ.items() if name not in SETTINGS and not name.startswith("MAKE")}
    command = ["make", "--no-print-directory", "-C", str(ROOT), target]
    return subprocess.run(
        command, env=given | {"HOME": str(home)}, capture_output=True, text=True, timeout=patience(300), check=False
    )


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_command_is_installed_for_the_account_and_works_elsewhere(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    done = make(home, "install")
    if done.returncode and UNREACHABLE.search(done.stderr):
        pytest.skip("the registry cannot be reached")
    assert done.returncode == 0, done.stderr
    program = home / ".local" / "bin" / "triage"
    assert f'installed: {program}; add the folder to PATH: export PATH="{program.parent}:$PATH"' in done.stdout
    clean = {"HOME": str(home), "PATH": os.environ["PATH"], "TRIAGE_DATA_DIR": str(tmp_path / "data")}
    make_repository(tmp_path / "app", {"versions.py": "def read_version(text):\n    return text.split()[1]\n"})
    asked = subprocess.run(
        [program, "run", "--brain", "rules", "--repo", "app", "--text", "`read_version` fails"],
        env=clean, cwd=tmp_path, capture_output=True, text=True, timeout=patience(120), check=False,
    )  # fmt: skip
    assert (asked.returncode, "versions.py" in asked.stdout) == (0, True), asked.stderr
    assert make(home, "uninstall").returncode == 0
    assert not program.exists()
