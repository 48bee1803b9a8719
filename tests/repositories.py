"""Small real git repositories, built without reading the machine's own git configuration."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
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
    """Commit exactly these files, creating the repository if needed; return the commit's full SHA.

    Names may contain anything that git can store: they go into the tree directly, independent of the file system.
    """
    path.mkdir(parents=True, exist_ok=True)
    with_parent = (path / ".git").exists() and _has_commit(path)
    if not (path / ".git").exists():
        git(path, "init", "--quiet", "--initial-branch=main")
    sha = git(path, "fast-import", "--quiet", stdin=b"".join(_commit(files, message, with_parent=with_parent)))
    git(path, "read-tree", "HEAD")  # entries that a test adds and commits follow these
    return sha.decode().strip()


def _has_commit(path: Path) -> bool:
    try:
        git(path, "rev-parse", "--quiet", "--verify", "HEAD")
    except subprocess.CalledProcessError:
        return False
    return True


def _commit(files: Mapping[str, bytes | str], message: str, *, with_parent: bool) -> Iterator[bytes]:
    """Yield a commit in the format of ``git fast-import``: two processes, however many files there are."""
    who = b"T <t@example.org> 1704067200 +0000"
    text = message.strip().encode() + b"\n"
    yield b"commit HEAD\nmark :1\nauthor %b\ncommitter %b\ndata %d\n%b" % (who, who, len(text), text)
    if with_parent:
        yield b"from HEAD^0\ndeleteall\n"
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        yield b"M 100644 inline %b\ndata %d\n%b\n" % (_quoted(name), len(data), data)
    yield b"\nget-mark :1\n"


def _quoted(name: str) -> bytes:
    return b'"' + b"".join(b"\\%03o" % byte for byte in os.fsencode(name)) + b'"'


def add_entry(path: Path, name: str, content: bytes | str, mode: str = "100644") -> None:
    """Stage one entry; mode ``120000`` makes a symlink, ``160000`` a submodule whose content is the commit's SHA."""
    if mode == "160000":
        blob = content if isinstance(content, str) else content.decode()
    else:
        data = content.encode() if isinstance(content, str) else content
        blob = git(path, "hash-object", "-w", "--stdin", stdin=data).decode().strip()
    record = b"%s %s\t%s\0" % (mode.encode(), blob.encode(), os.fsencode(name))
    git(path, "update-index", "-z", "--add", "--index-info", stdin=record)
