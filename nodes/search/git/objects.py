"""Parse what git prints about objects, and cut texts into lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXT_LIMIT = 1_000_000
"""Bytes. A larger blob is never loaded; it is found by its path only."""
NUL_WINDOW = 8_000  # git looks for a NUL in as many bytes to decide whether a blob is binary


@dataclass(frozen=True, slots=True)
class Entry:
    """A regular file of a commit's tree."""

    path: str
    """With forward slashes; bytes that are not UTF-8 are surrogate escapes."""
    blob: str
    size: int
    """Bytes; -1 if the object is missing, as in a partial clone."""


def parse_entry(record: bytes, sizes: Mapping[bytes, bytes]) -> Entry | None:
    """Parse ``mode type sha size<TAB>path``; a record without a size takes it from ``sizes``.

    Return None for anything but a regular file.
    """
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
