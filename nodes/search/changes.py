"""The commits behind the one that is read, as arrays: the words of their messages, and the files they changed."""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.postings import Vocabulary, count_postings
from nodes.search.tokens import WORD, WORD_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]

COMMITS = 3_000
"""How far back is read, counted in commits so that the answer does not depend on the machine or the day."""
MESSAGE = 800  # characters of a message that are read: what follows is mostly trailers and lists
_TYPES = ("<i4", "<i4", "<u4", "<i4", "<i4", "<i4", "<i4")
_HEAD = struct.Struct(f"<{len(_TYPES)}I")


@dataclass(frozen=True, slots=True)
class Changes:
    """Commits from the one that is read back, newest first; merges and first commits are left out."""

    words: Ints
    """By commit: how many words its message has."""
    term_commit: Ints
    """By term of a message: the commit."""
    term_hash: npt.NDArray[np.uint32]
    term_count: Ints
    width: Ints
    """By commit: how many files it changed."""
    file_commit: Ints
    """By file that a commit changed and that still exists: the commit."""
    file: Ints
    """Its number."""

    def __len__(self) -> int:
        """How many commits."""
        return len(self.words)

    def pack(self) -> bytes:
        """Return bytes that ``unpack_changes`` reads."""
        parts = [np.asarray(values, kind).tobytes() for values, kind in zip(astuple(self), _TYPES, strict=True)]
        return _HEAD.pack(*map(len, parts)) + b"".join(parts)


def unpack_changes(packed: bytes | memoryview) -> Changes:
    """Read packed changes."""
    bounds = pairwise(accumulate(_HEAD.unpack_from(packed), initial=_HEAD.size))
    return Changes(*(np.frombuffer(packed[a:b], kind) for (a, b), kind in zip(bounds, _TYPES, strict=True)))


def read_changes(log: bytes, number_of: Mapping[str, int]) -> Changes:
    """Parse what ``Repository.log`` gives; what does not parse is left out."""
    messages: list[str] = []
    files: list[tuple[int, int]] = []
    width: list[int] = []
    for number, part in enumerate(log.split(b"\x01")[1:]):
        message, _, names = part.partition(b"\x02")
        paths = [name.lstrip(b"\n") for name in names.split(b"\0")]
        written = [path.decode("utf-8", "surrogateescape") for path in paths if path]
        files.extend((number, number_of[path]) for path in written if path in number_of)
        width.append(len(written))
        messages.append(message[: 4 * MESSAGE].decode("utf-8", "replace")[:MESSAGE])
    found = count_postings(Vocabulary(), [text.encode().translate(WORD_BYTES) for text in messages], (), 0)
    commit, file = np.array(files, np.int32).reshape(-1, 2).T
    return Changes(
        words=np.array([len(WORD.findall(text)) for text in messages], np.int32),
        term_commit=np.repeat(np.arange(len(messages), dtype=np.int32), found.distinct),
        term_hash=found.hashes,
        term_count=found.counts.astype(np.int32),
        width=np.array(width, np.int32),
        file_commit=commit,
        file=file,
    )
