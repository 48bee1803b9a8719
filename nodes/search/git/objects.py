"""Parse what git prints about objects, cut texts into lines, and cache answers about full ids."""

import re
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import IO, Any
from weakref import WeakValueDictionary

TEXT_LIMIT = 1_000_000
"""Bytes. A larger blob is never loaded; it is found by its path only."""
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
NUL_WINDOW = 8_000  # git looks for a NUL in as many bytes to decide whether a blob is binary
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
MAX_ANSWERS = 16_000_000
"""Maximum bytes of the answers of one repository."""
_PART = 16
"""An answer larger than this fraction of the limit is not stored, because it would evict all others."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A regular file of a commit's tree."""

    path: str
    """With forward slashes; bytes that are not UTF-8 are surrogate escapes."""
    blob: str
    size: int
    """Bytes; -1 if the object is missing, as in a partial clone."""


class QueryCache:
    """An LRU cache of answers by query. Safe to use from several threads."""

    def __init__(self, largest: int = MAX_ANSWERS) -> None:
        """Create an empty cache of at most ``largest`` bytes of answers."""
        self._largest = largest
        self._used = 0
        self._answers: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        # Without the lock, ``popitem`` of one thread could remove an entry between another's lookup and
        # ``move_to_end``.
        self._lock = Lock()
        self._asked: WeakValueDictionary[Hashable, Lock] = WeakValueDictionary()

    def lock_of(self, query: Hashable) -> Lock:
        """Return the lock that all who answer a query hold meanwhile."""
        with self._lock:
            return self._asked.setdefault(query, Lock())

    def get(self, query: Hashable) -> Any:
        """Return the stored answer, or None."""
        with self._lock:
            found = self._answers.get(query)
            if found is None:
                return None
            self._answers.move_to_end(query)
            return found[0]

    def keep(self, query: Hashable, answer: Any, size: int) -> None:
        """Store an answer of about ``size`` bytes, unless it is too large."""
        if size * _PART > self._largest:
            return
        with self._lock:
            # Two threads may store the same answer; its size must count once.
            _, before = self._answers.pop(query, (None, 0))
            self._answers[query] = (answer, size)
            self._used += size - before
            while self._used > self._largest:
                _, (_, freed) = self._answers.popitem(last=False)
                self._used -= freed


def is_sha(text: str) -> bool:
    """Return whether a text is a full SHA."""
    return bool(_SHA.fullmatch(text))


def checked(sha: str) -> str:
    """Return a full SHA, or raise ValueError, so that git never interprets other text as an option or a name."""
    if not is_sha(sha):
        raise ValueError("not the full SHA of a commit")
    return sha


def parse_entry(record: bytes, sizes: Mapping[bytes, bytes]) -> Entry | None:
    """Parse ``mode type sha [size]<TAB>path`` of a regular file, else None; ``sizes`` has a size that is not there."""
    header, tab, path = record.partition(b"\t")
    if not tab:
        return None
    # Submodules have the kind ``commit``; a symlink is a blob with mode 120000, whose content is only a path.
    mode, kind, blob, *written = header.split()
    size = written[0] if written else sizes.get(blob, b"-")
    if kind != b"blob" or mode == b"120000":
        return None
    return Entry(path.decode("utf-8", "surrogateescape"), blob.decode(), int(size) if size.isdigit() else -1)


def parse_content(stream: IO[bytes], header: bytes) -> bytes | None:
    """Read the content after a header of ``git cat-file --batch``; None if the object is missing or truncated."""
    parts = header.split()
    # Also for an empty header at the end of the output.
    if len(parts) != 3:  # "<id> missing"
        return None
    content = stream.read(int(parts[2]))
    # Windows writes scripts as UTF-16, which has a byte order mark.
    content = content.decode("utf-16", "replace").encode() if content.startswith(UTF_16) else content
    # git prints a line feed after each object; without it, the output ended early.
    return content if stream.read(1) else None


def is_text(content: bytes) -> bool:
    """Return whether a blob is text, by git's own rule."""
    return b"\0" not in content[:NUL_WINDOW]


def decode(content: bytes) -> str:
    """Decode a text blob as UTF-8, else as Latin-1, which never fails."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def split_lines(text: str) -> list[str]:
    """Split at line feeds only and retain them: git counts lines this way, ``splitlines`` also splits at form feeds."""
    lines = text.split("\n")
    ended = [line + "\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def cut(lines: list[str], start: int, end: int) -> str | None:
    """Return lines ``start`` to ``end`` without the last line ending, or None if they are out of range."""
    if not 1 <= start <= end <= len(lines):
        return None
    # Only the last ending is removed: the others are part of the verbatim text.
    return "".join(lines[start - 1 : end]).removesuffix("\n").removesuffix("\r")


def printable(text: str) -> str:
    """Return any path or revision on one line with surrogates escaped, for use in a message."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\n", "\\n")


def last_line(output: bytes) -> str:
    """Return the last line of git's error output."""
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "no reason given"
