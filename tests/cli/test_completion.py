"""Shell completion of commands and options."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import environment, triage

AS_INSTALLED = "import sys; sys.argv[0] = 'triage'; from bot.__main__ import main; main()"


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
    done = subprocess.run([sys.executable, "-c", AS_INSTALLED], env=given, capture_output=True, text=True, check=True)
    assert named in done.stdout.splitlines()
