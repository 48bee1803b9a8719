"""Turn the sample files into a git repository with one commit, the same SHA on every machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

FILES = Path(__file__).with_name("repository")
WHEN = "2025-06-01T12:00:00Z"


def make(target: Path) -> None:
    """Write the repository to ``target``, replacing what was there."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(FILES, target)
    who = {f"GIT_{role}_{part}": "demo" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    when = {"GIT_AUTHOR_DATE": WHEN, "GIT_COMMITTER_DATE": WHEN}
    # In a hook, GIT_DIR names the repository that the hook is of, and would be committed to.
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    apart = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "feedbox 1.2.0"]):
        subprocess.run(["git", *command], cwd=target, env={**own, **who, **when, **apart}, check=True)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
