"""The commits before the one that is searched, as arrays: the words of their messages and the files they changed."""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.index.postings import Vocabulary, count_postings
from nodes.search.tokens import WORD, WORD_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]

COMMITS = 3_000
"""Number of commits that are read. It is a count, so that the result does not depend on the machine or the date."""
MESSAGE = 800  # characters of a message that are read; the rest is mostly trailers and lists
_TYPES = ("<i4", "<i4", "<u4", "<i4", "<i4", "<i4", "<i4")
_HEAD = struct.Struct(f"<{len(_TYPES)}I")


@dataclass(frozen=True, slots=True)
class Changes:
    """The commits up to the searched one, newest first, without merges and root commits."""

    words: Ints
    """For each commit, the number of words in its message."""
    term_commit: Ints
    """For each term of a message, the number of its commit."""
    term_hash: npt.NDArray[np.uint32]
    term_count: Ints
    width: Ints
    """For each commit, the number of files it changed."""
    file_commit: Ints
    """For each changed file that still exists, the number of the commit."""
    file: Ints
    """The number of the changed file in the index."""

    def __len__(self) -> int:
        """Return the number of commits."""
        return len(self.words)

    def pack(self) -> bytes:
        """Return the changes as bytes for ``unpack_changes``."""
        parts = [np.asarray(values, kind).tobytes() for values, kind in zip(astuple(self), _TYPES, strict=True)]
        return _HEAD.pack(*map(len, parts)) + b"".join(parts)


def unpack_changes(packed: bytes | memoryview) -> Changes:
    """Decode packed changes."""
    bounds = pairwise(accumulate(_HEAD.unpack_from(packed), initial=_HEAD.size))
    return Changes(*(np.frombuffer(packed[a:b], kind) for (a, b), kind in zip(bounds, _TYPES, strict=True)))


def read_changes(log: bytes, number_of: Mapping[str, int]) -> Changes:
    """Parse the output of ``Repository.log``; skip what does not parse."""
    messages: list[str] = []
    files: list[tuple[int, int]] = []
    width: list[int] = []
    for number, part in enumerate(log.split(b"\x01")[1:]):
        message, _, names = part.partition(b"\x02")
        paths = [name.lstrip(b"\n") for name in names.split(b"\0")]
        written = [path.decode("utf-8", "surrogateescape") for path in paths if path]
        files.extend((number, number_of[path]) for path in written if path in number_of)
        width.append(len(written))
        # A character has at most four bytes in UTF-8.
        messages.append(message[: 4 * MESSAGE].decode("utf-8", "replace")[:MESSAGE])
    found = count_postings(Vocabulary(), [text.encode().translate(WORD_BYTES) for text in messages], (), 0)
    commit, file = np.array(files, np.int32).reshape(-1, 2).T
    return Changes(
        # Words, not terms: the length of a message in BM25 counts what was written, before identifiers are split.
        words=np.array([len(WORD.findall(text)) for text in messages], np.int32),
        term_commit=np.repeat(np.arange(len(messages), dtype=np.int32), found.distinct),
        term_hash=found.hashes,
        term_count=found.counts.astype(np.int32),
        width=np.array(width, np.int32),
        file_commit=commit,
        file=file,
    )
