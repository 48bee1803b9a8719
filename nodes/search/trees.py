"""The joined data of one commit that queries read, packed for storage so that it is joined only once."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, get_args

import numpy as np

from nodes.search.changes import Changes, unpack_changes
from nodes.search.columns import Columns, is_intact, sealed, unpack
from nodes.search.postings import Vocabulary, count_postings
from nodes.search.tokens import WORD_BYTES
from nodes.search.types import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

ROLES: tuple[Role, ...] = get_args(Role)
TAIL = 3  # parts at the end of a path whose words are indexed; folders further up have the same names everywhere
_HEAD = struct.Struct("<II6I")  # checksum, number of files, and the length of each part


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a commit in the order of their paths, and the commits before it."""

    paths: tuple[str, ...]
    blobs: tuple[str, ...]
    """Object ids in hexadecimal."""
    roles: tuple[Role, ...]
    """Roles by path only."""
    path_terms: npt.NDArray[np.uint32]
    """Shape (2, n): the number of a file, and the hash of a term of its path; ordered by file, then hash."""
    columns: Columns
    changes: Changes

    @property
    def texts(self) -> int:
        """The number of files with indexed content."""
        return int(np.count_nonzero(self.columns.sizes.any(1)))

    def pack(self) -> bytes:
        """Return bytes for ``unpack_tree``."""
        number = {role: code for code, role in enumerate(ROLES)}
        parts = [
            "\0".join(self.paths).encode("utf-8", "surrogateescape"),
            bytes.fromhex("".join(self.blobs)),
            bytes(number[role] for role in self.roles),
            np.asarray(self.path_terms, "<u4").tobytes(),
            self.changes.pack(),
            self.columns.pack(),
        ]
        return sealed(len(self.paths), [struct.pack("<6I", *map(len, parts)), *parts])


def unpack_tree(packed: bytes | None) -> Tree | None:
    """Decode a packed tree; None if there is none or it is damaged."""
    if packed is None or len(packed) < _HEAD.size or not is_intact(packed):
        return None
    _, files, *lengths = _HEAD.unpack_from(packed)
    view = memoryview(packed)
    parts = [view[a:b] for a, b in pairwise(accumulate(lengths, initial=_HEAD.size))]
    blobs, width = parts[1].hex(), 2 * lengths[1] // max(1, files)
    return Tree(
        paths=tuple(bytes(parts[0]).decode("utf-8", "surrogateescape").split("\0")) if files else (),
        blobs=tuple(blobs[at : at + width] for at in range(0, len(blobs), max(1, width))),
        roles=tuple(map(ROLES.__getitem__, parts[2])),
        path_terms=np.frombuffer(parts[3], "<u4").reshape(2, -1),
        changes=unpack_changes(parts[4]),
        columns=unpack([parts[5]]),
    )


def path_terms(paths: Sequence[str]) -> npt.NDArray[np.uint32]:
    """Return the distinct terms of the last parts of each path, in the shape of ``Tree.path_terms``."""
    tails = ["/".join(path.split("/")[-TAIL:]).encode("utf-8", "replace").translate(WORD_BYTES) for path in paths]
    found = count_postings(Vocabulary(), tails, (), 0)
    return np.stack([np.repeat(np.arange(len(paths), dtype=np.uint32), found.distinct), found.hashes])
