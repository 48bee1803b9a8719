"""Answers what the search asks git about a test's small repository, without the start of a git process.

A test of facts asks git a dozen times, and git's starts are half of its processor time. Answered are a few commands
about objects that ``git_objects`` wrote, with the same bytes as git's; git itself answers everything else. Tests of git
and of hostile and odd repositories, and every command and server in a process of its own, always start git.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nodes.search.git import running
from nodes.search.git.running import SAFE
from tests.support.git_objects import CONFIG

_SHA = re.compile("[0-9a-f]{40}")
_MOST_HISTORY = ("--min-parents=1", "--max-parents=1")
_MOST = 60_000
"""Bytes, fewer than an empty pipe takes."""
_ELSEWHERE = ("shallow", "packed-refs", "commondir", "objects/info/alternates", "info/grafts", "refs/replace")
"""Files that let git find objects or refs elsewhere."""
Entry = tuple[bytes, bytes, str, bytes]
"""Mode, kind, id and path."""


class GitNeededError(Exception):
    """Git itself has to answer this."""


def use() -> None:
    """Let this process answer; what it cannot answer starts git."""
    vars(running)["subprocess"] = SimpleNamespace(
        Popen=_started, PIPE=subprocess.PIPE, TimeoutExpired=subprocess.TimeoutExpired
    )


def _started(command: Sequence[str | bytes], *, stdin: Any, **given: Any) -> Any:
    try:
        return _Ended(answer([os.fsdecode(word) for word in command], stdin))
    except (GitNeededError, OSError, zlib.error):
        stdin.seek(0)
        return subprocess.Popen(command, stdin=stdin, **given)


class _Ended:
    """A git process that has ended: the part of ``subprocess.Popen`` that its parent uses."""

    pid = -1
    returncode = 0

    def __init__(self, printed: bytes) -> None:
        reading, writing = os.pipe()
        os.write(writing, printed)
        os.close(writing)
        self.stdout = os.fdopen(reading, "rb", 0)

    def poll(self, _timeout: float | None = None) -> int:
        """Return its exit code."""
        return 0

    wait = poll

    def kill(self) -> None:
        """Do nothing."""


def answer(command: Sequence[str], stdin: Any) -> bytes:
    """Return what git prints; raise GitNeededError if only git knows."""
    folder, (verb, *words) = command[2], command[3 + len(SAFE) :]
    if [*command[:2], *command[3 : 3 + len(SAFE)]] != ["git", "-C", *SAFE]:
        raise GitNeededError
    if verb == "--literal-pathspecs":
        verb, *words = words
    if verb not in _ANSWERS:
        raise GitNeededError
    printed = _ANSWERS[verb](_Objects(Path(folder) / ".git"), words, stdin)
    if len(printed) > _MOST:
        raise GitNeededError
    return printed


class _Objects:
    """The objects and the current branch of a plain repository."""

    def __init__(self, git: Path) -> None:
        self._git = f"{git}/"
        with open(self._git + "config") as config:
            written = config.read()
        if written != CONFIG or os.listdir(self._git + "objects/pack"):
            raise GitNeededError
        if any(os.path.exists(self._git + name) for name in _ELSEWHERE):
            raise GitNeededError

    def read(self, sha: str) -> tuple[bytes, bytes]:
        """Return the kind and the content of an object."""
        with open(f"{self._git}objects/{sha[:2]}/{sha[2:]}", "rb") as file:
            whole = zlib.decompress(file.read())
        if hashlib.sha1(whole).hexdigest() != sha:
            raise GitNeededError
        head, _, content = whole.partition(b"\0")
        return head.split()[0], content

    def commit(self, revision: str) -> tuple[str, bytes]:
        """Return the id and the content of a commit."""
        sha = revision
        if revision == "HEAD":
            with open(self._git + "HEAD") as head:
                sha = head.read().strip()
            if sha.startswith("ref: refs/heads/"):
                with open(self._git + sha.removeprefix("ref: ")) as branch:
                    sha = branch.read().strip()
        if not _SHA.fullmatch(sha):
            raise GitNeededError
        kind, content = self.read(sha)
        if kind != b"commit":
            raise GitNeededError
        return sha, content

    def has_tags(self) -> bool:
        """Return whether there is a tag or the folder of one."""
        return bool(os.listdir(self._git + "refs/tags"))

    def tree(self, revision: str) -> str:
        """Return the id of a commit's tree."""
        return self.commit(revision)[1].partition(b"\n")[0].removeprefix(b"tree ").decode()

    def listed(self, tree: str, wanted: Callable[[bytes], bool], above: bytes = b"") -> Iterator[Entry]:
        """Yield the entries of a tree in git's order, and those of the wanted folders after each of these."""
        _, left = self.read(tree)
        while left:
            head, _, left = left.partition(b"\0")
            mode, _, name = head.partition(b" ")
            sha, left = left[:20].hex(), left[20:]
            kind = {b"40000": b"tree", b"160000": b"commit"}.get(mode, b"blob")
            yield mode, kind, sha, above + name
            if kind == b"tree" and wanted(above + name):
                yield from self.listed(sha, wanted, above + name + b"/")


def _rev_parse(objects: _Objects, words: list[str], _stdin: Any) -> bytes:
    if words == ["--git-common-dir"]:
        return b".git\n"
    *options, revision = words
    if options != ["--verify", "--quiet", "--end-of-options"] or not revision.endswith("^{commit}"):
        raise GitNeededError
    return objects.commit(revision.removesuffix("^{commit}"))[0].encode() + b"\n"


def _cat_file(objects: _Objects, words: list[str], stdin: Any) -> bytes:
    if words != ["--batch", "--buffer"]:
        raise GitNeededError
    parts = []
    for sha in stdin.read().decode().split("\n")[:-1]:
        if not _SHA.fullmatch(sha):
            raise GitNeededError
        kind, content = objects.read(sha)
        parts.append(b"%b %b %d\n%b\n" % (sha.encode(), kind, len(content), content))
    return b"".join(parts)


def _ls_tree(objects: _Objects, words: list[str], _stdin: Any) -> bytes:
    options = [word for word in words if word.startswith("-")]
    commit, *paths = [word for word in words if not word.startswith("-")]
    asked = [os.fsencode(path) for path in paths]
    if set(options) - {"-r", "-t", "-z", "-l", "--full-tree", "--name-only", "--"} or "-z" not in options:
        raise GitNeededError
    if any(not path or path.strip("/") != path for path in paths):
        raise GitNeededError
    whole = "-r" in options

    def leads(path: bytes) -> bool:
        return any(name.startswith(path + b"/") for name in asked)

    def below(path: bytes) -> bool:
        return not asked or any(path == name or path.startswith(name + b"/") for name in asked)

    entries = objects.listed(objects.tree(commit), lambda path: leads(path) or (whole and below(path)))
    shown = (entry for entry in entries if _is_shown(entry, whole, "-t" in options, leads, below))
    return b"".join(_line(objects, entry, options) for entry in shown)


def _is_shown(
    entry: Entry, whole: bool, trees: bool, leads: Callable[[bytes], bool], below: Callable[[bytes], bool]
) -> bool:
    _, kind, _, path = entry
    if kind == b"tree" and (whole or leads(path)):
        return trees and (leads(path) or below(path))
    return below(path)


def _line(objects: _Objects, entry: Entry, options: Sequence[str]) -> bytes:
    mode, kind, sha, path = entry
    if "--name-only" in options:
        return path + b"\0"
    size = b"%7d" % len(objects.read(sha)[1]) if kind == b"blob" else b"      -"
    fields = [mode.zfill(6), kind, sha.encode(), *([size] if "-l" in options else [])]
    return b" ".join(fields) + b"\t" + path + b"\0"


def _log(objects: _Objects, words: list[str], _stdin: Any) -> bytes:
    """Return the empty log of a first commit without those that have no parent."""
    at = words.index("--end-of-options") if "--end-of-options" in words else len(words)
    if not set(_MOST_HISTORY) <= set(words) or words[at + 2 :] != ["--"]:
        raise GitNeededError
    if objects.commit(words[at + 1])[1].split(b"\n", 2)[1].startswith(b"parent "):
        raise GitNeededError
    return b""


def _for_each_ref(objects: _Objects, words: list[str], _stdin: Any) -> bytes:
    """Return the empty list of tags of a repository without tags."""
    if words[-1] != "refs/tags" or objects.has_tags():
        raise GitNeededError
    return b""


_ANSWERS: dict[str, Callable[[_Objects, list[str], Any], bytes]] = {
    "rev-parse": _rev_parse,
    "cat-file": _cat_file,
    "for-each-ref": _for_each_ref,
    "ls-tree": _ls_tree,
    "log": _log,
}
