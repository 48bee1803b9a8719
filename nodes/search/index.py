"""A commit's files as arrays that a query can be matched against, joined from one record a blob."""

from __future__ import annotations

from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from nodes.search.git import TEXT_LIMIT, Entry, Repository
from nodes.search.languages import language_of
from nodes.search.parsing import Job, parse
from nodes.search.paths import PathIndex
from nodes.search.records import COLUMNS, VERSION, Meta, decode_meta, decode_record
from nodes.search.roles import role_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from nodes.search.cache import Cache
    from nodes.search.types import Role

    Ints = npt.NDArray[np.int32]
    Hashes = npt.NDArray[np.uint32]

WITHOUT_WORDS: frozenset[Role] = frozenset({"data", "minified"})
"""Roles whose content is not indexed: found by their path alone."""
PER_WRITE = 1_000  # records put into the cache at a time: what a kill loses is parsed again
TABLE_BITS = 18


class Matches(NamedTuple):
    """Where terms occur: three arrays of the same length."""

    term: Ints
    """Position of the term among those asked for."""
    chunk: Ints
    counts: Ints


class Index:
    """All files of a commit. Columns of chunks, definitions and strings hold global numbers."""

    def __init__(self, entries: Sequence[Entry], records: Mapping[str, bytes]) -> None:
        self.paths = tuple(entry.path for entry in entries)
        self.blobs = tuple(entry.blob for entry in entries)
        self.number_of = {path: number for number, path in enumerate(self.paths)}
        parts: dict[str, list[bytes]] = {name: [] for name in COLUMNS}
        self._tails: list[bytes] = []
        for entry in entries:
            columns, tail = _unpack(records.get(key_of(entry)))
            self._tails.append(tail)
            for name, part in zip(COLUMNS, columns, strict=True):
                parts[name].append(part)
        self._join(parts)
        self.roles: tuple[Role, ...] = tuple(self._role(number) for number in range(len(self.paths)))

    def _join(self, parts: dict[str, list[bytes]]) -> None:
        self.post_hash = _hashes(parts["post_hash"])
        self.post_count = _ints(parts["post_count"])
        self.chunk_start, self.chunk_end = (_ints(parts[name]) for name in ("chunk_start", "chunk_end"))
        self.chunk_length = _ints(parts["chunk_length"])
        self.def_last, self.def_dotted = (_hashes(parts[name]) for name in ("def_last", "def_dotted"))
        self.def_start, self.def_end = (_ints(parts[name]) for name in ("def_start", "def_end"))
        self.string_hash = _hashes(parts["string_hash"])
        self.string_line = _ints(parts["string_line"])
        self.chunk_file, first_chunk = _owners(parts["chunk_start"])
        self.def_file, self.first_def = _owners(parts["def_start"])
        self.string_file, _ = _owners(parts["string_hash"])
        post_file, _ = _owners(parts["post_hash"])
        self.post_chunk = _ints(parts["post_chunk"]) + first_chunk[post_file]
        local = _ints(parts["chunk_def"])
        self.chunk_def = np.where(local >= 0, local + self.first_def[self.chunk_file], -1).astype(np.int32)

    def _role(self, number: int) -> Role:
        by_path = role_of(self.paths[number])
        if b'"]' not in self._tails[number][-16:] or self._tails[number].endswith(b'""]'):
            return by_path
        return cast("Role", self.meta(number).mark or by_path)

    @cached_property
    def names(self) -> PathIndex:
        """The files by their names."""
        return PathIndex(self.paths)

    @cached_property
    def file_length(self) -> Ints:
        """Terms of each file."""
        return np.bincount(self.chunk_file, self.chunk_length, len(self.paths)).astype(np.int32)

    def meta(self, number: int) -> Meta:
        """Names, kinds and imports of a file."""
        return decode_meta(self._tails[number]) if self._tails[number] else Meta()

    def name_of(self, definition: int) -> str:
        """Return the dotted name of a definition."""
        number = int(self.def_file[definition])
        return self.meta(number).names[definition - int(self.first_def[number])]

    def match(self, hashes: Sequence[int]) -> Matches:
        """Find every occurrence of terms, given by their distinct hashes."""
        wanted = np.asarray(hashes, np.uint32)
        # A bit table lets nearly all other postings drop out before the exact comparison.
        table = np.zeros(1 << TABLE_BITS, bool)
        table[wanted & ((1 << TABLE_BITS) - 1)] = True
        near = np.flatnonzero(table[self.post_hash & ((1 << TABLE_BITS) - 1)])
        term, exact = lookup(wanted, self.post_hash[near])
        rows = near[exact]
        return Matches(term[exact], self.post_chunk[rows], self.post_count[rows])


def lookup(wanted: Hashes, values: Hashes) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return for each value its position in ``wanted``, and whether it is there at all."""
    if not len(wanted):
        return np.zeros(len(values), np.int32), np.zeros(len(values), bool)
    order = np.argsort(wanted, kind="stable")
    place = np.minimum(np.searchsorted(wanted[order], values), len(wanted) - 1)
    found = order[place]
    return found.astype(np.int32), wanted[found] == values


def load_index(
    repository: Repository, commit: str, cache: Cache | None, progress: Callable[[str, int, int], None]
) -> Index:
    """Read a commit, parsing only what no cache knows."""
    entries = repository.tree(commit)
    jobs = {key_of(entry): job_of(entry) for entry in entries if has_words(entry)}
    records = cache.get(jobs) if cache else {}
    missing = [job for key, job in jobs.items() if not _is_record(records.get(key))]
    fresh: dict[str, bytes] = {}
    for key, record in parse(repository, missing, lambda done: progress("parsing", done, len(missing))):
        records[key] = fresh[key] = record
        if cache and len(fresh) >= PER_WRITE:
            cache.put(fresh)
            fresh = {}
    if cache:
        cache.put(fresh)
    return Index(entries, records)


def has_words(entry: Entry) -> bool:
    """Whether a file's content is worth indexing."""
    return 0 < entry.size <= TEXT_LIMIT and role_of(entry.path) not in WITHOUT_WORDS


def key_of(entry: Entry) -> str:
    """Name a record: the same blob parsed as the same language by the same parser."""
    language = language_of(entry.path) or f"text{PurePosixPath(entry.path).suffix[:8]}"
    return f"{entry.blob}:{language}:{VERSION}"


def job_of(entry: Entry) -> Job:
    """Say what is to be parsed."""
    return Job(key_of(entry), entry.path, entry.blob, entry.size)


def _is_record(packed: bytes | None) -> bool:
    return packed is not None and packed[:1] == b"\x78"  # zlib's first byte; a full check comes with reading


def _unpack(packed: bytes | None) -> tuple[list[bytes], bytes]:
    try:
        return decode_record(packed) if packed else ([b""] * len(COLUMNS), b"")
    except ValueError:  # damaged on disk: this file is found by its path alone
        return [b""] * len(COLUMNS), b""


def _hashes(parts: Sequence[bytes]) -> Hashes:
    return np.frombuffer(b"".join(parts), np.uint32)


def _ints(parts: Sequence[bytes]) -> Ints:
    return np.frombuffer(b"".join(parts), np.int32)


def _owners(parts: Sequence[bytes]) -> tuple[Ints, Ints]:
    """Return the file of each row, and the first row of each file."""
    counts = np.fromiter((len(part) // 4 for part in parts), np.int64, len(parts))
    first = np.concatenate([[0], np.cumsum(counts)[:-1]]) if len(parts) else np.zeros(0)
    return np.repeat(np.arange(len(parts), dtype=np.int32), counts), first.astype(np.int32)
