"""The values that a parent process and its helpers exchange: jobs, texts, claims, deadlines, results in frames."""

from __future__ import annotations

import json
import marshal
import os
import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, NamedTuple
from zlib import crc32

from nodes.search.git.objects import MAX_AT_ONCE, is_text
from nodes.search.languages import always_needs_parser, outline_without_parser
from nodes.search.types import Definition, Outline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BATCH_BYTES = 250_000
"""Bytes of text per batch: enough for array operations to pay off, few enough for a short wait at the end."""
PLAIN = Outline("text")
"""The outline of a file that is only searched by its words."""
_HEAD = struct.Struct("<IIII?xxx")
"""Checksum and length of the body, number of the batch, number of the file in it, and whether the blob exists."""
_WHOLE = (1 << 32) - 1
"""Instead of the number of a file: the frame is the result for a whole batch."""
_AT_ONCE = 4_000_000
"""Maximum bytes per read of an output, unless one frame is larger."""
TOO_MUCH_MEMORY = 3
"""Exit code after an allocation of Python failed; if a parser's allocation fails, the process ends with SIGABRT."""
_NUMBER = struct.Struct("<I")
NOTE = struct.Struct("<iid")
"""Number of the batch, number of the file in it, and the seconds of processor time used before."""


class Job(NamedTuple):
    """One blob to parse, as the language that its path indicates."""

    key: str
    path: str
    blob: str
    size: int


class Text(NamedTuple):
    """The content and the outline of one blob."""

    content: bytes
    """Empty if the blob is not text."""
    outline: Outline


@dataclass(frozen=True, slots=True)
class Parsed:
    """The result of one batch: a text for each of its jobs, in their order."""

    number: int
    texts: list[Text]
    """Empty if ``columns`` is given."""
    complete: bool
    """Whether every blob could be read; an unreadable one is an empty text."""
    missed: bool = False
    """Whether a file exceeded its parser's deadline; such a result is worth storing at once."""
    columns: bytes = b""
    """Packed columns, if a helper counted the words too."""


def cut_batches(jobs: Sequence[Job]) -> list[list[Job]]:
    """Cut jobs into batches, in their order."""
    batches: list[list[Job]] = []
    room = -1
    for job in jobs:
        if room < job.size or len(batches[-1]) >= MAX_AT_ONCE:
            batches.append([])
            # A file larger than a batch gets a batch of its own.
            room = max(BATCH_BYTES, job.size)
        batches[-1].append(job)
        room -= job.size
    return batches


def needs_parser(batch: Sequence[Job]) -> bool:
    """Return whether any file of a batch needs a parser, by its name."""
    return any(always_needs_parser(job.path) for job in batch)


def text_without_parser(path: str, content: bytes | None) -> Text | None:
    """Outline one blob in time linear in its size; None if only a parser can do that."""
    if not content or not is_text(content):
        return Text(b"", PLAIN)
    outline = outline_without_parser(path, content)
    return None if outline is None else Text(content, outline)


def plain_text(path: str, content: bytes | None) -> Text:
    """Outline one blob as far as no parser is needed."""
    return text_without_parser(path, content) or Text(content or b"", PLAIN)


class Frame(NamedTuple):
    """The result for one file."""

    batch: int
    file: int
    text: Text | None
    """None if the blob is missing."""


class Counted(NamedTuple):
    """The result for a whole batch whose words the helper counted."""

    batch: int
    columns: bytes
    """Packed columns with a row for each file of the batch; a missing blob has no rows."""
    complete: bool
    """Whether every blob exists."""


class Output:
    """Reads the frames of one helper while it writes them."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._read = 0

    def new(self) -> Iterator[Frame | Counted]:
        """Yield the frames written since the last call; an incomplete frame follows in a later call, or never."""
        while frames := self._frames(os.pread(self._descriptor, self._read_size(), self._read)):
            yield from frames

    def _read_size(self) -> int:
        head = os.pread(self._descriptor, _HEAD.size, self._read)
        return max(_AT_ONCE, _HEAD.size + _HEAD.unpack(head)[1]) if len(head) == _HEAD.size else 0

    def _frames(self, block: bytes) -> list[Frame | Counted]:
        frames: list[Frame | Counted] = []
        at = 0
        while len(block) >= at + _HEAD.size:
            checksum, length, batch, file, found = _HEAD.unpack_from(block, at)
            body = memoryview(block)[at + _HEAD.size : at + _HEAD.size + length]
            # A helper that the kernel ended while it wrote leaves an incomplete frame at the end.
            if len(body) < length or crc32(body) != checksum:
                break
            at += _HEAD.size + length
            if file == _WHOLE:
                frames.append(Counted(batch, bytes(body), found))
            else:
                frames.append(Frame(batch, file, _text(body) if found else None))
        self._read += at
        return frames


class Task(NamedTuple):
    """The content of a helper's standard input."""

    directory: str
    batches: list[list[Job]]
    first: list[tuple[int, list[int]]]
    """Batches to parse first, and the numbers of the files in them."""
    claims: list[int]
    """Descriptors of files with claims, in the order of use."""
    note: int
    """Descriptor of the file for the note."""
    parent: int
    """Id of the process that waits for the result; when it has ended, the helper stops."""
    gave_up: list[str]
    """Languages that missed too many deadlines: their files stay plain text."""
    counts: bool = False
    """Whether the helper counts the words of batches that need no parser."""

    def dump(self) -> bytes:
        """Return JSON for ``load_task``."""
        return json.dumps(self).encode()


def packed(batch: int, file: int, text: Text | None) -> bytes:
    """Return a frame as bytes for ``Output``."""
    # ``marshal`` is faster than pickle and JSON, and both processes run the same interpreter.
    body = b""
    if text is not None:
        outline = text.outline
        definitions = [(item.name, item.kind, item.start_line, item.end_line) for item in outline.definitions]
        body = marshal.dumps((text.content, outline.language, definitions, outline.imports, outline.strings))
    return _HEAD.pack(crc32(body), len(body), batch, file, text is not None) + body


def packed_counted(counted: Counted) -> bytes:
    """Return a frame as bytes for ``Output``."""
    body = counted.columns
    return _HEAD.pack(crc32(body), len(body), counted.batch, _WHOLE, counted.complete) + body


def deadline(size: int) -> float:
    """Return the seconds of processor time that a parser may use for a file of ``size`` bytes.

    Files without errors needed at most a fifth of this, in seven repositories in ten languages.
    """
    # Processor time instead of wall time, so that a busy machine does not change the index.
    return 0.5 + size * 1.5e-6


def claims_of(batches: Sequence[int]) -> bytes:
    """Return the content of a file from which processes claim the numbers of batches."""
    return b"".join(map(_NUMBER.pack, batches))


def claimed(descriptor: int) -> Iterator[int]:
    """Claim numbers one by one: all processes share the descriptor's offset, which each read advances."""
    while len(number := os.read(descriptor, _NUMBER.size)) == _NUMBER.size:
        yield _NUMBER.unpack(number)[0]


def load_task(stream: IO[str]) -> Task:
    """Parse a task."""
    directory, batches, *rest = json.load(stream)
    return Task(directory, [[Job(*fields) for fields in batch] for batch in batches], *rest)


def _text(body: memoryview) -> Text:
    content, language, definitions, *rest = marshal.loads(body)  # noqa: S302 - our own child process wrote it
    return Text(content, Outline(language, tuple(Definition(*fields) for fields in definitions), *rest))
