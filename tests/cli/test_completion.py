"""Shell completion of commands and options."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import environment, triage
from tests.support.preloaded import Forked

AS_INSTALLED = [sys.executable, "-m", "tests.cli.as_installed"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_names_the_program(tmp_path: Path, shell: str) -> None:
    done = triage(tmp_path, "completion", shell)
    assert done.returncode == 0
    assert f"_TRIAGE_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.parametrize(
    ("words", "at", "named"),
    [("triage do", "1", "doctor"), ("triage doctor --", "2", "--no-calls"), ("triage app c", "2", "create")],
)
def test_commands_and_options_are_completed(words: str, at: str, named: str) -> None:
    given = environment(_TRIAGE_COMPLETE="zsh_complete", COMP_WORDS=words, COMP_CWORD=at)
    with Forked(AS_INSTALLED, env=given, stdout=subprocess.PIPE, text=True) as process:
        printed, _ = process.communicate()
    assert process.returncode == 0
    assert named in printed.splitlines()
