"""Parse the output of git's history commands; authors are named as in the mailmap, never by email address."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nodes.search.git.objects import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ENTRY = re.compile(r"([^<>]{0,200})<([^<>]{0,200})>")
_NOREPLY = re.compile(r"(?:\d{1,20}\+)?([A-Za-z0-9](?:[A-Za-z0-9-]{0,38}))@users\.noreply\.[A-Za-z0-9.-]{1,100}")
_ADDRESS = re.compile(r"[^\s@<>]{1,100}@[^\s@<>]{1,200}")
_BOT = re.compile(
    r"\[bot\]|(?:^|[\s_-])bot$|^(?:dependabot|renovate|greenkeeper|github[- ]actions?|pre-commit-ci|pyup|imgbot|"
    r"weblate|transifex|travis|jenkins|semantic-release|allcontributors|mergify|bors|homu|codecov|snyk)\b",
    re.IGNORECASE,
)
UNKNOWN = "someone without a name"
LOG_FORMAT = "--format=%H%x00%P%x00%at%x00%ct%x00%an%x00%ae%x00%B%x00"
_FIELDS = 7
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Mailmap:
    """Maps the identity in a commit to a person's proper identity, as git does."""

    by_address: dict[str, tuple[str, str]] = field(default_factory=dict)
    by_name_and_address: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def proper(self, name: str, address: str) -> tuple[str, str]:
        """Return the proper (name, address); parts without an entry stay unchanged."""
        key = address.lower()
        # As in git, an entry with a name is more specific and precedes one with an address only.
        found = self.by_name_and_address.get((name.lower(), key)) or self.by_address.get(key) or ("", "")
        return found[0] or name, found[1] or address


@dataclass(frozen=True, slots=True)
class Entry:
    """A commit as ``git log`` prints it."""

    sha: str
    parents: tuple[str, ...]
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


def parse_mailmap(text: str) -> Mailmap:
    """Parse a ``.mailmap``: proper name and address, and the commit name and address that they replace."""
    mailmap = Mailmap()
    for raw in text.split("\n"):
        found = _ENTRY.findall(raw.split("#", 1)[0][:1_000])
        if not found:
            continue
        (name, address), (old_name, old_address) = found[0], found[1] if len(found) > 1 else ("", "")
        entry = (" ".join(name.split()), address.strip() if old_address else "")
        written = (old_address or address).strip().lower()
        if old_name.strip():
            mailmap.by_name_and_address[" ".join(old_name.split()).lower(), written] = entry
        else:
            before = mailmap.by_address.get(written, ("", ""))
            mailmap.by_address[written] = (entry[0] or before[0], entry[1] or before[1])
    return mailmap


def shown(name: str, address: str) -> str:
    """Return a person's public name: the login of a GitHub noreply address, else the name without any address."""
    login = _NOREPLY.fullmatch(address.strip())
    if login:
        # A login is public already, and it can be mentioned.
        return login[1]
    clean = " ".join(_ADDRESS.sub("", name).split())
    return clean[:80] or UNKNOWN


def is_bot(name: str, address: str) -> bool:
    """Return whether a bot made the commit."""
    return bool(_BOT.search(name.strip()) or "[bot]" in address)


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
        # Unexpected output is skipped up to the next token that is a full id.
        if not _SHA.fullmatch(sha):
            at += 1
            continue
        parents = tuple(tokens[at + 1].decode("ascii", "replace").split())
        authored, committed = int(tokens[at + 2]), int(tokens[at + 3])
        name, address, message = (decode(token) for token in tokens[at + 4 : at + _FIELDS])
        at, changed, renamed = parse_raw(tokens, at + _FIELDS)
        yield Entry(sha, parents, authored, committed, name, address, message, tuple(changed), tuple(renamed))


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
