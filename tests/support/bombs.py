"""Hostile git repositories: a few small objects that expand to more than a machine can store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.repositories import git

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

WIDTH, DEPTH = 32, 12
"""Entries of each tree, and depth of nesting: 32 to the power of 12 files."""
_NAME = 60
"""Bytes of a name: long paths make a listing grow faster."""


def tree_bomb(path: Path, *, width: int = WIDTH, depth: int = DEPTH, content: bytes = b"x = 1\n") -> str:
    """Commit trees that contain the same tree many times; 14 objects list as ``width ** depth`` files."""
    _init(path)
    return _commit(path, _nested(path, _blob(path, content), width=width, depth=depth), "Trees in trees")


def silent_bomb(path: Path, *, width: int = WIDTH, depth: int = DEPTH) -> str:
    """Commit nested trees without a single file: a listing prints nothing and does not end."""
    _init(path)
    bottom = git(path, "mktree", stdin=b"").decode().strip()
    return _commit(path, _nested(path, bottom, width=width, depth=depth, kind="tree"), "Empty trees")


def log_bomb(path: Path, *, width: int = WIDTH, depth: int = DEPTH, files: dict[str, bytes] | None = None) -> str:
    """Commit a few real files on top of a commit that changes every file of nested trees."""
    _init(path)
    parent: tuple[str, ...] = ()
    for content in (b"a = 1\n", b"a = 2\n"):
        nested = _nested(path, _blob(path, content), width=width, depth=depth)
        parent = (_commit(path, nested, "Change every file", parent),)
    blobs = {name: _blob(path, content) for name, content in (files or {"real.py": b"real = 1\n"}).items()}
    top = _tree(path, ((blob, "blob", name) for name, blob in blobs.items()))
    return _commit(path, top, "Keep what is real", parent)


def message_bomb(path: Path, *, size: int = 60_000_000) -> str:
    """Commit with a message of one repeated letter, ``size`` bytes; zlib compresses it to a thousandth."""
    _init(path)
    tree = _tree(path, [(_blob(path, b"x = 1\n"), "blob", "x.py")])
    first = _commit(path, tree, "Initial")
    second = _tree(path, [(_blob(path, b"x = 2\n"), "blob", "x.py")])
    who = b"T <t@example.org> 1704067200 +0000"
    head = b"tree %s\nparent %s\nauthor %s\ncommitter %s\n\n" % (second.encode(), first.encode(), who, who)
    sha = git(path, "hash-object", "-t", "commit", "-w", "--stdin", stdin=head + b"m" * size).decode().strip()
    git(path, "update-ref", "refs/heads/main", sha)
    return sha


def _nested(path: Path, bottom: str, *, width: int, depth: int, kind: str = "blob") -> str:
    found = bottom
    for level in range(depth):
        names = (f"{number:03d}".ljust(_NAME, "x") for number in range(width))
        found = _tree(path, ((found, kind if level == 0 else "tree", name) for name in names))
    return found


def _tree(path: Path, entries: Iterable[tuple[str, str, str]]) -> str:
    modes = {"blob": "100644", "tree": "040000"}
    lines = "".join(f"{modes[kind]} {kind} {sha}\t{name}\n" for sha, kind, name in entries)
    return git(path, "mktree", "--missing", stdin=lines.encode()).decode().strip()


def _blob(path: Path, content: bytes) -> str:
    return git(path, "hash-object", "-w", "--stdin", stdin=content).decode().strip()


def _commit(path: Path, tree: str, message: str, parents: Iterable[str] = ()) -> str:
    given = [argument for parent in parents for argument in ("-p", parent)]
    sha = git(path, "commit-tree", tree, *given, "-m", message).decode().strip()
    git(path, "update-ref", "refs/heads/main", sha)
    return sha


def _init(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    if not (path / ".git").exists():
        git(path, "init", "--quiet", "--initial-branch=main")
