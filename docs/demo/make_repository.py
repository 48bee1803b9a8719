"""Turn the sample files into a git repository of two releases, the same SHAs on every machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

FILES = Path(__file__).with_name("repository")
BEFORE = (
    "        return timezone(timedelta(hours=int(name[1:3]), minutes=int(name[3:5])))\n",
    "        sign = -1 if name[0] == '-' else 1\n"
    "        return timezone(sign * timedelta(hours=int(name[1:3]), minutes=int(name[3:5])))\n",
)
"""A line of ``dates.py`` today, and the lines in its place in the previous release."""


def make(target: Path) -> None:
    """Write the repository to ``target``, replacing what was there."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(FILES, target)
    dates = target / "feedbox" / "dates.py"
    now = dates.read_text(encoding="utf-8")
    dates.write_text(now.replace(*BEFORE), encoding="utf-8")
    git(target, "2025-05-02", "init", "-q", "-b", "main")
    release(target, "2025-05-02", "Read feeds of both kinds", "v1.1.0")
    dates.write_text(now, encoding="utf-8")
    release(target, "2025-06-01", "Shorten the reading of zones", "v1.2.0")


def release(target: Path, day: str, message: str, tag: str) -> None:
    """Commit all files and tag the commit."""
    for command in (["add", "-A"], ["commit", "-q", "-m", message], ["tag", tag]):
        git(target, day, *command)


def git(target: Path, day: str, *command: str) -> None:
    """Run git as the author `demo` at noon of a day, so that SHAs are reproducible."""
    who = {f"GIT_{role}_{part}": "demo" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    when = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{day}T12:00:00Z")
    # In a git hook, GIT_DIR names the hook's own repository; git would commit to that one.
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    apart = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *command], cwd=target, env={**own, **who, **when, **apart}, check=True)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
