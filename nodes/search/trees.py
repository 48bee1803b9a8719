"""All files of one commit with their columns joined: what a query reads, kept so that the next need not join again."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, get_args

import numpy as np

from nodes.search.columns import is_sound, sealed, unpack
from nodes.search.types import Role

if TYPE_CHECKING:
    from nodes.search.columns import Columns

ROLES: tuple[Role, ...] = get_args(Role)
_HEAD = struct.Struct("<IIIIII")  # checksum, number of files, and the length of each part


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a commit, in the order of their paths."""

    paths: tuple[str, ...]
    blobs: tuple[str, ...]
    """Object ids in hexadecimal."""
    roles: tuple[Role, ...]
    """What the path alone says."""
    columns: Columns

    @property
    def texts(self) -> int:
        """How many files have words."""
        return int(np.count_nonzero(self.columns.sizes.any(1)))

    def pack(self) -> bytes:
        """Return bytes that ``unpack_tree`` reads."""
        number = {role: code for code, role in enumerate(ROLES)}
        parts = [
            "\0".join(self.paths).encode("utf-8", "surrogateescape"),
            bytes.fromhex("".join(self.blobs)),
            bytes(number[role] for role in self.roles),
            self.columns.pack(),
        ]
        return sealed(len(self.paths), [struct.pack("<IIII", *map(len, parts)), *parts])


def unpack_tree(packed: bytes | None) -> Tree | None:
    """Read a packed tree; None where there is none, or a damaged one."""
    if packed is None or len(packed) < _HEAD.size or not is_sound(packed):
        return None
    _, files, *lengths = _HEAD.unpack_from(packed)
    view = memoryview(packed)
    names, blobs, roles, columns = (view[a:b] for a, b in pairwise(accumulate(lengths, initial=_HEAD.size)))
    paths = bytes(names).decode("utf-8", "surrogateescape").split("\0") if files else []
    every, width = blobs.hex(), 2 * len(blobs) // max(1, files)
    return Tree(
        paths=tuple(paths),
        blobs=tuple(every[at : at + width] for at in range(0, len(every), max(1, width))),
        roles=tuple(map(ROLES.__getitem__, roles)),
        columns=unpack([columns]),
    )
