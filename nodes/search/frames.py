"""Transfers texts from a helper process to its parent: one frame per file, in a file that both have open."""

from __future__ import annotations

import marshal
import os
import struct
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from nodes.search.parsing import Text
from nodes.search.types import Definition, Outline

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = struct.Struct("<IIII?xxx")
"""Checksum and length of the body, number of the batch, number of the file in it, and whether the blob exists."""
_AT_ONCE = 4_000_000
"""Maximum bytes per read of an output, unless one frame is larger."""


class Frame(NamedTuple):
    """The result for one file."""

    batch: int
    file: int
    text: Text | None
    """None if the blob is missing."""


def packed(batch: int, file: int, text: Text | None) -> bytes:
    """Return a frame as bytes for ``Output``."""
    body = b"" if text is None else marshal.dumps((text.content, *_plain(text.outline)))
    return _HEAD.pack(crc32(body), len(body), batch, file, text is not None) + body


class Output:
    """Reads the frames of one helper while it writes them."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._read = 0

    def new(self) -> Iterator[Frame]:
        """Yield the frames written since the last call; an incomplete frame follows in a later call, or never."""
        while frames := self._frames(os.pread(self._descriptor, self._wanted(), self._read)):
            yield from frames

    def _wanted(self) -> int:
        head = os.pread(self._descriptor, _HEAD.size, self._read)
        return max(_AT_ONCE, _HEAD.size + _HEAD.unpack(head)[1]) if len(head) == _HEAD.size else 0

    def _frames(self, block: bytes) -> list[Frame]:
        frames, at = [], 0
        while len(block) >= at + _HEAD.size:
            checksum, length, batch, file, found = _HEAD.unpack_from(block, at)
            body = memoryview(block)[at + _HEAD.size : at + _HEAD.size + length]
            if len(body) < length or crc32(body) != checksum:
                break
            at += _HEAD.size + length
            frames.append(Frame(batch, file, _text(body) if found else None))
        self._read += at
        return frames


def _plain(outline: Outline) -> tuple[Any, ...]:
    definitions = [(one.name, one.kind, one.start_line, one.end_line) for one in outline.definitions]
    return outline.language, definitions, outline.imports, outline.strings


def _text(body: memoryview) -> Text:
    content, language, definitions, *rest = marshal.loads(body)  # noqa: S302 - our own child process wrote it
    return Text(content, _outline(language, definitions, *rest))


def _outline(language: str, definitions: list[tuple[Any, ...]], *rest: Any) -> Outline:
    return Outline(language, tuple(Definition(*fields) for fields in definitions), *rest)
