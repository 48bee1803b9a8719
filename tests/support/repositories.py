"""Small real git repositories, built without reading the machine's own git configuration."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.support import git_objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

WHO = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "T"), ("EMAIL", "t@example.org"))
}
_BY = b"T <t@example.org> 1704067200 +0000"
"""``WHO`` and ``WHEN`` as in a commit."""
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
    if not (path / ".git").exists():
        git_objects.init(path / ".git")
    plain = {os.fsencode(name): _encoded(content) for name, content in files.items()}
    with suppress(git_objects.NotPlainError):
        return git_objects.commit(path / ".git", plain, who=_BY, message=_message(message))
    commit = _commit(plain, message, with_parent=_has_commit(path))
    sha = git(path, "fast-import", "--quiet", stdin=b"".join(commit))
    git(path, "read-tree", "HEAD")  # entries that a test adds and commits follow these
    return sha.decode().strip()


def _encoded(content: bytes | str) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _message(message: str) -> bytes:
    return message.strip().encode() + b"\n"


def _has_commit(path: Path) -> bool:
    try:
        git(path, "rev-parse", "--quiet", "--verify", "HEAD")
    except subprocess.CalledProcessError:
        return False
    return True


def _commit(files: Mapping[bytes, bytes], message: str, *, with_parent: bool) -> Iterator[bytes]:
    """Yield a commit in the format of ``git fast-import``: two processes, however many files there are."""
    text = _message(message)
    yield b"commit HEAD\nmark :1\nauthor %b\ncommitter %b\ndata %d\n%b" % (_BY, _BY, len(text), text)
    if with_parent:
        yield b"from HEAD^0\ndeleteall\n"
    for name, content in files.items():
        yield b"M 100644 inline %b\ndata %d\n%b\n" % (_quoted(name), len(content), content)
    yield b"\nget-mark :1\n"


def _quoted(name: bytes) -> bytes:
    return b'"' + b"".join(b"\\%03o" % byte for byte in name) + b'"'


def add_entry(path: Path, name: str, content: bytes | str, mode: str = "100644") -> None:
    """Stage one entry; mode ``120000`` makes a symlink, ``160000`` a submodule whose content is the commit's SHA."""
    if mode == "160000":
        blob = content if isinstance(content, str) else content.decode()
    else:
        blob = _blob(path, _encoded(content))
    record = b"%s %s\t%s\0" % (mode.encode(), blob.encode(), os.fsencode(name))
    git(path, "update-index", "-z", "--add", "--index-info", stdin=record)


def _blob(path: Path, content: bytes) -> str:
    if git_objects.is_plain(path / ".git"):
        return git_objects.put(path / ".git", b"blob", content)
    return git(path, "hash-object", "-w", "--stdin", stdin=content).decode().strip()
