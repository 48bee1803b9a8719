"""A child process that parses batches until there are none left (``python -m nodes.search.helper``)."""

from __future__ import annotations

import json
import marshal
import os
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from nodes.search.git import Repository
from nodes.search.parsing import Job, Parsed, Text, parse_here
from nodes.search.types import Definition, Outline

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMBER = struct.Struct("<I")
_FRAME = struct.Struct("<III?xxx")
"""Checksum and length of what follows, number of the batch, and whether it is complete."""


def claims_of(batches: int) -> bytes:
    """Return what a file says from which processes take the numbers of batches."""
    return b"".join(map(_NUMBER.pack, range(batches)))


def claimed(descriptor: int) -> Iterator[int]:
    """Take numbers one by one: all processes share the descriptor's offset, which each read moves on."""
    while len(number := os.read(descriptor, _NUMBER.size)) == _NUMBER.size:
        yield _NUMBER.unpack(number)[0]


def packed(parsed: Parsed) -> bytes:
    """Return a batch as ``next_frame`` reads it."""
    texts = [(text.content, *_plain(text.outline)) for text in parsed.texts]
    body = marshal.dumps(texts)
    return _FRAME.pack(crc32(body), len(body), parsed.number, parsed.complete) + body


def next_frame(descriptor: int, at: int) -> tuple[Parsed, int] | None:
    """Read a batch from a file, and say where it ends; None where it is still being written, or never will be."""
    head = os.pread(descriptor, _FRAME.size, at)
    if len(head) < _FRAME.size:
        return None
    checksum, length, number, complete = _FRAME.unpack(head)
    body = os.pread(descriptor, length, at + _FRAME.size)
    if len(body) < length or crc32(body) != checksum:
        return None
    texts = [Text(content, _outline(*rest)) for content, *rest in marshal.loads(body)]  # noqa: S302 - our own child's
    return Parsed(number, texts, complete), at + _FRAME.size + length


def _plain(outline: Outline) -> tuple[object, ...]:
    definitions = [(one.name, one.kind, one.start_line, one.end_line) for one in outline.definitions]
    return outline.language, definitions, outline.imports, outline.strings


def _outline(language: str, definitions: list[tuple[Any, ...]], *rest: Any) -> Outline:
    return Outline(language, tuple(Definition(*fields) for fields in definitions), *rest)


def main() -> None:
    """Parse for as long as the parent lives."""
    parent = os.getppid()
    directory, batches = json.load(sys.stdin)
    jobs = [[Job(*fields) for fields in batch] for batch in batches]
    for parsed in parse_here(Repository(Path(directory)), jobs, claimed(int(sys.argv[1]))):
        sys.stdout.buffer.write(packed(parsed))
        sys.stdout.buffer.flush()
        if os.getppid() != parent:
            return


if __name__ == "__main__":
    main()
