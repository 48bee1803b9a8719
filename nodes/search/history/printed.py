"""Parse the output of git's history commands."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOG_FORMAT = "--format=%H%x00%at%x00%ct%x00%an%x00%ae%x00%B%x00"
_FIELDS = 6
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Entry:
    """A commit as ``git log`` prints it."""

    sha: str
    authored: int
    committed: int
    name: str
    address: str
    message: str
    changed: tuple[str, ...]
    """Paths that the commit changes."""
    renamed: tuple[str, ...]
    """Paths that the commit moves without a change of content."""


@dataclass(frozen=True, slots=True)
class Blamed:
    """The commits that wrote the lines of one file."""

    lines: dict[int, str]
    """Maps a 1-based line to the commit's SHA; lines older than the walk are absent."""
    paths: tuple[str, ...]
    """The file's names during the walk."""


def is_sha(text: str) -> bool:
    """Return whether a text is a full SHA."""
    return bool(_SHA.fullmatch(text))


def checked(sha: str) -> str:
    """Return a full SHA, or raise ValueError, so that git never interprets other text as an option or a name."""
    if not is_sha(sha):
        raise ValueError("not the full SHA of a commit")
    return sha


def parse_ignored(text: str) -> Iterator[str]:
    """Parse the full SHAs in a ``.git-blame-ignore-revs`` file."""
    lines = (line.split("#", 1)[0].strip().lower() for line in text.split("\n"))
    return (line for line in lines if _SHA.fullmatch(line))


def parse_log(printed: bytes) -> Iterator[Entry]:
    """Parse the output of ``git log -z --raw`` in our format."""
    tokens = printed.split(b"\0")
    at = 0
    while at + _FIELDS <= len(tokens):
        sha = tokens[at].strip(b"\n").decode("ascii", "replace")
        if not _SHA.fullmatch(sha):
            at += 1
            continue
        name, address, message = (decode(token) for token in tokens[at + 3 : at + _FIELDS])
        authored, committed = int(tokens[at + 1]), int(tokens[at + 2])
        at, changed, renamed = parse_raw(tokens, at + _FIELDS)
        yield Entry(sha, authored, committed, name, address, message, tuple(changed), tuple(renamed))


def parse_raw(tokens: Sequence[bytes], at: int) -> tuple[int, list[str], list[str]]:
    """Parse the ``:mode mode blob blob status`` records of one commit; return their end, changed paths, moved paths."""
    changed: list[str] = []
    renamed: list[str] = []
    while at < len(tokens):
        head = tokens[at].lstrip(b"\n")
        if head and not head.startswith(b":"):
            break
        if not head:
            at += 1
            continue
        status = head.rsplit(b" ", 1)[-1]
        # Renames and copies have two paths, the old one first.
        two = status[:1] in (b"R", b"C")
        (renamed if status == b"R100" else changed).append(os.fsdecode(tokens[min(at + 1 + two, len(tokens) - 1)]))
        at += 2 + two
    return at, changed, renamed


def parse_blame(printed: bytes, unknown: frozenset[str]) -> Blamed:
    """Parse the output of ``git blame --incremental``, without lines of commits in ``unknown`` and older ones."""
    groups: dict[str, list[range]] = defaultdict(list)
    old = set(unknown)
    paths: dict[str, None] = {}
    sha = ""
    for line in printed.split(b"\n"):
        words = line.split(b" ")
        if len(words) == 4 and _SHA.fullmatch(words[0].decode("ascii", "replace")):
            sha = words[0].decode()
            groups[sha].append(range(int(words[2]), int(words[2]) + int(words[3])))
        elif line == b"boundary":
            # git marks the commits at which the walk stops; older commits may have written their lines.
            old.add(sha)
        elif line.startswith(b"filename "):
            paths.setdefault(os.fsdecode(line[9:]))
    lines = {number: sha for sha, runs in groups.items() if sha not in old for run in runs for number in run}
    return Blamed(dict(sorted(lines.items())), tuple(paths))


def decode(raw: bytes) -> str:
    """Decode a message or a name as UTF-8, else as Latin-1, which never fails."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
