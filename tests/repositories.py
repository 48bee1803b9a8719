"""Small real git repositories, built without reading the machine's own git configuration."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WHO = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "T"), ("EMAIL", "t@example.org"))
}
WHEN = {"GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z"}


def git(path: Path, *arguments: str, stdin: bytes | None = None) -> bytes:
    """Run git in a repository and return what it printed."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    isolated = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *arguments],
        cwd=path,
        env=inherited | isolated | WHO | WHEN,
        input=stdin,
        capture_output=True,
        check=True,
    )
    return done.stdout


def make_repository(path: Path, files: Mapping[str, bytes | str], *, message: str = "Initial") -> str:
    """Commit exactly these files, creating the repository where there is none, and return the commit's full SHA.

    Names may hold anything git can store: they go into the index directly, so that the file system has no say.
    """
    path.mkdir(parents=True, exist_ok=True)
    if not (path / ".git").exists():
        git(path, "init", "--quiet", "--initial-branch=main")
    git(path, "read-tree", "--empty")
    for name, content in files.items():
        add_entry(path, name, content)
    git(path, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(path, "rev-parse", "HEAD").decode().strip()


def add_entry(path: Path, name: str, content: bytes | str, mode: str = "100644") -> None:
    """Stage one entry; mode ``120000`` makes a symlink, ``160000`` a submodule whose content is the commit's SHA."""
    if mode == "160000":
        blob = content if isinstance(content, str) else content.decode()
    else:
        data = content.encode() if isinstance(content, str) else content
        blob = git(path, "hash-object", "-w", "--stdin", stdin=data).decode().strip()
    record = b"%s %s\t%s\0" % (mode.encode(), blob.encode(), os.fsencode(name))
    git(path, "update-index", "-z", "--add", "--index-info", stdin=record)
