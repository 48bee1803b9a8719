"""The files of a commit as arrays that queries are matched against, packed so that they are joined only once."""

import marshal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from zlib import crc32

import numpy as np

from nodes.search.index.columns import COLUMNS, GROUPS, Array, Columns, Flags, Ints, combined_files, ranges, starts
from nodes.search.index.postings import Changes, Vocabulary, count_postings
from nodes.search.index.records import MARKS, Meta, decode_meta
from nodes.search.languages.table import has_grammar
from nodes.search.paths.globs import path_matches
from nodes.search.paths.project import PathIndex, Project
from nodes.search.tokens import WORD_BYTES
from nodes.search.types import Role

TAIL = 3  # parts at the end of a path whose words are indexed; folders further up have the same names everywhere
_SEAL = 4  # bytes of a checksum
# A table of 256 kB fits in a processor's cache; a query has at most some thousand terms.
TABLE_BITS = 18
_PATH = 1_800
"""Approximate bytes of a path, its blob id, its words and their table entries, measured with 100,000 paths."""


class Matches(NamedTuple):
    """Occurrences of terms: three arrays of the same length."""

    term: Ints
    """Position of the term in the query."""
    chunk: Ints
    counts: Ints


class Index:
    """All files of a commit, and those before it; columns of chunks, definitions and strings have global numbers."""

    def __init__(self, tree: "Tree", project: Project) -> None:
        self.project = project
        self.listing = files = tree.listing
        self.paths, self.blobs, self.number_of = files.paths, files.blobs, files.number_of
        self.roles = _roles(tree)
        self.path_file, self.path_hash = files.path_terms[0].astype(np.int32), files.path_terms[1]
        self.changes = files.changes
        self.columns = columns = tree.columns
        values = columns.values
        self._first_meta, self._metas = columns.firsts("meta"), values["metas"]
        self._first_post = starts(values["chunk_posts"])
        self._post_hash, self._post_count = values["post_hash"], values["post_count"]
        self.chunk_file, self.chunk_length = columns.owners("chunk"), values["chunk_length"]
        self.chunk_start, self.chunk_end = values["chunk_start"], values["chunk_end"]
        self.def_file, self.first_def = columns.owners("definition"), columns.firsts("definition")
        self.def_last, self.def_dotted = values["def_last"], values["def_dotted"]
        self.def_start, self.def_end = values["def_start"], values["def_end"]
        self.string_file = columns.owners("string")
        self.string_hash, self.string_line = values["string_hash"], values["string_line"]
        local = values["chunk_def"]
        # Records contain local numbers, because the position of a file in the commit is unknown when it is parsed.
        self.chunk_def = np.where(local >= 0, local + self.first_def[self.chunk_file], -1).astype(np.int32)

    @property
    def memory(self) -> int:
        """Approximate bytes of the index; cached properties count too."""
        arrays = sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))
        return arrays + _PATH * len(self.paths)

    @property
    def names(self) -> PathIndex:
        """The files by their names."""
        return self.listing.names

    @cached_property
    def file_length(self) -> Ints:
        """The number of terms of each file."""
        return np.bincount(self.chunk_file, self.chunk_length, len(self.paths)).astype(np.int32)

    @cached_property
    def compared(self) -> Flags:
        """Mark the files whose definitions a ranking counts: those with a grammar, or all if most code has none."""
        # Bindings for other languages repeat the names of the code that they call, and are rarely at fault.
        defining = np.flatnonzero(np.bincount(self.def_file, minlength=len(self.paths)))
        by_grammar = np.array([has_grammar(self.paths[number]) for number in defining], bool)
        own = np.array([self.roles[number] == "source" for number in defining], bool)
        lengths = self.file_length[defining] * own
        marked = np.zeros(len(self.paths), bool)
        marked[defining] = by_grammar | (2 * lengths[by_grammar].sum() < lengths.sum())
        return marked

    def matching(self, patterns: Sequence[str]) -> list[int]:
        """Return the numbers of the files whose paths match one of the patterns."""
        return [number for number, path in enumerate(self.paths) if path_matches(path, patterns)]

    def meta(self, number: int) -> Meta:
        """Return names, kinds and imports of a file."""
        # Decoded on demand, because a query needs the names of some dozen files only.
        return decode_meta(self._metas[self._first_meta[number] : self._first_meta[number + 1]].tobytes())

    def name_of(self, definition: int) -> str:
        """Return the dotted name of a definition."""
        number = int(self.def_file[definition])
        return self.meta(number).names[definition - int(self.first_def[number])]

    def definition_at(self, number: int, line: int, last: int = 0) -> int | None:
        """Return the innermost definition of a file around a 1-based line, and around all up to ``last`` if given."""
        first, end = int(self.first_def[number]), int(self.first_def[number + 1])
        inside = np.flatnonzero((self.def_start[first:end] <= line) & (self.def_end[first:end] >= max(line, last)))
        # Definitions are in the order of their first lines, so the last one around a line is the innermost.
        return first + int(inside[-1]) if len(inside) else None

    def match(self, hashes: Sequence[int], chunks: Ints | None = None) -> Matches:
        """Find every occurrence of terms, given by their distinct hashes, in all chunks or in some."""
        query = np.asarray(hashes, np.uint32)
        if chunks is None:
            # A bit table removes nearly all other postings before the exact comparison.
            table = np.zeros(1 << TABLE_BITS, bool)
            table[query & ((1 << TABLE_BITS) - 1)] = True
            near = np.flatnonzero(table[self._post_hash & ((1 << TABLE_BITS) - 1)])
        else:
            near = ranges(self._first_post[chunks], self._first_post[chunks + 1])
        term, exact = lookup(query, self._post_hash[near])
        rows = near[exact]
        chunk = np.searchsorted(self._first_post, rows, "right") - 1
        return Matches(term[exact], chunk.astype(np.int32), self._post_count[rows].astype(np.int32))


def unpack_tree(packed: bytes | None) -> "Tree | None":
    """Decode a packed tree; None if there is none or it is damaged."""
    # A page that was half written at a power failure may still be readable for SQLite.
    if packed is None or crc32(memoryview(packed)[_SEAL:]).to_bytes(_SEAL, "little") != packed[:_SEAL]:
        return None
    paths, blobs, roles, terms, changes, sizes, values = marshal.loads(packed[_SEAL:])  # noqa: S302 - sealed above
    kinds = ("<u4" if name == "term_hash" else "<i4" for name in Changes.__slots__)
    listing = Listing(
        paths,
        blobs,
        roles,
        path_terms=np.frombuffer(terms, "<u4").reshape(2, -1),
        changes=Changes(*(np.frombuffer(held, kind) for held, kind in zip(changes, kinds, strict=True))),
    )
    columns = {name: np.frombuffer(held, COLUMNS[name][1]) for name, held in values.items()}
    return Tree(listing, Columns(np.frombuffer(sizes, "<i4").reshape(-1, len(GROUPS)), columns))


def path_terms(paths: Sequence[str]) -> Array:
    """Return the distinct terms of the last parts of each path, in the shape of ``Listing.path_terms``."""
    tails = ["/".join(path.split("/")[-TAIL:]).encode("utf-8", "replace").translate(WORD_BYTES) for path in paths]
    found = count_postings(Vocabulary(), tails, (), 0)
    return np.stack([np.repeat(np.arange(len(paths), dtype=np.uint32), found.distinct), found.hashes])


@dataclass(frozen=True)
class Listing:
    """The files of a commit in the order of their paths, and the commits before it; its indexes share one listing."""

    paths: tuple[str, ...]
    blobs: tuple[str, ...]
    """Object ids in hexadecimal."""
    roles: tuple[Role, ...]
    """Roles by path only."""
    path_terms: Array
    """Shape (2, n): the number of a file, and the hash of a term of its path; ordered by file, then hash."""
    changes: Changes
    sizes: Array | None = None
    """Bytes of each file, -1 for a missing one; None if the listing comes from the cache."""
    has_history: bool = True
    """Whether the history could be read."""

    @cached_property
    def number_of(self) -> dict[str, int]:
        """The position of each path."""
        return {path: number for number, path in enumerate(self.paths)}

    @cached_property
    def names(self) -> PathIndex:
        """The files by their names."""
        return PathIndex(self.paths)


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a commit, and their contents in columns."""

    listing: Listing
    columns: Columns

    @property
    def texts(self) -> int:
        """The number of files with indexed content."""
        return int(np.count_nonzero(self.columns.sizes[:, GROUPS.index("chunk")]))

    def pack(self) -> bytes:
        """Return bytes for ``unpack_tree``, on this machine."""
        files, columns = self.listing, self.columns
        changes = tuple(getattr(files.changes, name).tobytes() for name in Changes.__slots__)
        values = {name: held.tobytes() for name, held in columns.values.items()}
        terms, sizes = files.path_terms.tobytes(), columns.sizes.tobytes()
        body = marshal.dumps((files.paths, files.blobs, files.roles, terms, changes, sizes, values))
        return crc32(body).to_bytes(_SEAL, "little") + body


def lookup(query: Array, values: Array) -> tuple[Ints, Flags]:
    """Return for each value its position in ``query``, and whether ``query`` contains it."""
    if not len(query):
        return np.zeros(len(values), np.int32), np.zeros(len(values), bool)
    order = np.argsort(query, kind="stable")
    # A value beyond the last one gets a valid position; the comparison below rejects it.
    place = np.minimum(np.searchsorted(query[order], values), len(query) - 1)
    found = order[place]
    return found.astype(np.int32), query[found] == values


def _roles(tree: Tree) -> tuple[Role, ...]:
    """Return the role of each file: by its path, its first lines or its content, the later ones for source only."""
    roles = list(tree.listing.roles)
    owner, marks = tree.columns.owners("mark"), tree.columns.values["marks"]
    for row in np.flatnonzero(marks).tolist():
        if roles[owner[row]] == "source":
            roles[owner[row]] = MARKS[marks[row]]
    for number in combined_files(tree.columns, np.array([role == "source" for role in roles], bool)):
        roles[number] = "generated"
    return tuple(roles)
