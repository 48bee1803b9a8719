"""Writes commits of small repositories as git does, in this process: each git process costs milliseconds.

Only plain repositories with ids of SHA-1 are written. ``commit`` refuses everything else; git itself writes it then.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

FOLDERS = ("hooks", "info", "objects/info", "objects/pack", "refs/heads", "refs/tags")
CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
MOST = 500
"""Most files of a commit: each object is a file, and git packs many of them faster."""
_SPECIAL = (b"", b".", b"..", b".git")
"""Parts of paths that git refuses at some step."""
Tree = dict[bytes, "str | Tree"]
"""The id of each file, or the tree of each folder, by name."""


class NotPlainError(Exception):
    """Git itself has to write this."""


def init(git: Path) -> None:
    """Create the folder ``.git`` of a repository without commits, as ``git init`` does without templates."""
    for folder in FOLDERS:
        (git / folder).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(CONFIG)


def commit(git: Path, files: Mapping[bytes, bytes], *, who: bytes, message: bytes) -> str:
    """Commit exactly these files on the current branch, and make the index list them.

    Args:
        git: the folder ``.git``.
        files: content by path.
        who: author and committer with their time, as an object of git has them.
        message: the message, which ends with a line feed.

    Returns:
        The commit's full id.

    Raises:
        NotPlainError: this repository or these paths need git. Nothing was written.
    """
    if len(files) > MOST:
        raise NotPlainError
    branch, parent = _branch(git)
    tree = _tree(files)
    blobs = {path: put(git, b"blob", content) for path, content in files.items()}
    from_parent = [b"parent %b" % parent.encode()] if parent else []
    lines = [b"tree %b" % _put_tree(git, tree, blobs).encode(), *from_parent, b"author " + who, b"committer " + who]
    sha = put(git, b"commit", b"\n".join([*lines, b"", message]))
    branch.parent.mkdir(parents=True, exist_ok=True)
    branch.write_text(f"{sha}\n")
    (git / "index").write_bytes(_index(sorted(blobs.items())))
    return sha


def put(git: Path, kind: bytes, content: bytes) -> str:
    """Write an object, if it does not exist, and return its id."""
    whole = b"%b %d\0%b" % (kind, len(content), content)
    sha = hashlib.sha1(whole).hexdigest()
    folder = git / "objects" / sha[:2]
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(folder / sha[2:], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
        with open(descriptor, "wb") as file:
            file.write(zlib.compress(whole, 1))
    return sha


def is_plain(git: Path) -> bool:
    """Return whether this is the folder of a repository whose objects can be written here."""
    return git.is_dir() and "extensions" not in (git / "config").read_text()


def _branch(git: Path) -> tuple[Path, str]:
    """Return the file of the current branch, or ``HEAD`` if there is none, and the id of its commit if there is one."""
    if not is_plain(git):
        raise NotPlainError
    head = (git / "HEAD").read_text().strip()
    if not head.startswith("ref: "):
        return git / "HEAD", head
    branch = git / head.removeprefix("ref: ")
    if branch.exists():
        return branch, branch.read_text().strip()
    if (git / "packed-refs").exists():
        raise NotPlainError
    return branch, ""


def _tree(paths: Iterable[bytes]) -> Tree:
    """Return the paths as nested folders; a file's path is in the place of its id."""
    root: Tree = {}
    for path in paths:
        *folders, name = path.split(b"/")
        if any(part in _SPECIAL for part in (*folders, name)):
            raise NotPlainError
        tree = root
        for folder in folders:
            below = tree.setdefault(folder, {})
            if isinstance(below, str):
                raise NotPlainError
            tree = below
        if name in tree:
            raise NotPlainError
        tree[name] = ""
    return root


def _put_tree(git: Path, tree: Tree, blobs: Mapping[bytes, str], above: bytes = b"") -> str:
    """Write a folder and those in it; git orders a folder as if its name ended with a slash."""
    entries = []
    for name, below in sorted(tree.items(), key=lambda entry: entry[0] + b"/" * isinstance(entry[1], dict)):
        path = above + name
        if isinstance(below, dict):
            mode, sha = b"40000", _put_tree(git, below, blobs, path + b"/")
        else:
            mode, sha = b"100644", blobs[path]
        entries.append(b"%b %b\0%b" % (mode, name, bytes.fromhex(sha)))
    return put(git, b"tree", b"".join(entries))


def _index(entries: list[tuple[bytes, str]]) -> bytes:
    """Return the file ``index`` in version 2; without times and sizes, as ``git read-tree`` writes it."""
    parts = [b"DIRC" + struct.pack(">II", 2, len(entries))]
    for path, sha in entries:
        entry = struct.pack(">6II3I", *(0,) * 6, 0o100644, 0, 0, 0) + bytes.fromhex(sha)
        entry += struct.pack(">H", min(len(path), 0xFFF)) + path
        parts.append(entry + b"\0" * (8 - len(entry) % 8))
    whole = b"".join(parts)
    return whole + hashlib.sha1(whole).digest()
