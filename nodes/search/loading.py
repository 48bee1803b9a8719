"""From a commit to its index: what the cache knows is joined, what it does not is parsed and kept."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.changes import COMMITS, read_changes
from nodes.search.columns import Columns, gathered, is_sound, unpack
from nodes.search.git import TEXT_LIMIT, Entry, Repository
from nodes.search.index import Index
from nodes.search.languages import language_of
from nodes.search.parsing import Job, cut_batches
from nodes.search.roles import role_of
from nodes.search.trees import Tree, path_terms, unpack_tree
from nodes.search.version import parser_version
from nodes.search.workers import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nodes.search.cache import Cache
    from nodes.search.types import Role

    Progress = Callable[[str, int, int], None]

WITHOUT_WORDS: frozenset[Role] = frozenset({"data", "minified"})
"""Roles whose content is not indexed: found by their path alone."""
PER_WRITE = 8_000_000  # bytes of records put into the cache at a time: what a kill loses is parsed again


@dataclass(frozen=True, slots=True)
class Loaded:
    """An index, and what it took."""

    index: Index
    texts: int
    """Files whose content is indexed."""
    parsed: int = 0
    """Different contents that had to be parsed."""


def load_index(repository: Repository, commit: str, cache: Cache | None, progress: Progress) -> Loaded:
    """Read a commit, given by its full SHA, parsing only what no cache knows."""
    name = f"{commit}:{parser_version()}"
    kept = unpack_tree(cache.tree(name)) if cache else None
    if kept:
        return Loaded(Index(kept), kept.texts)
    # git walks the history in its own process while the files are parsed in this one
    with ThreadPoolExecutor(1) as pool:
        log = pool.submit(repository.log, commit, COMMITS)
        entries = repository.tree(commit)
        paths = tuple(entry.path for entry in entries)
        changes = pool.submit(lambda: read_changes(log.result() or b"", {path: n for n, path in enumerate(paths)}))
        terms = pool.submit(path_terms, paths)
        near = unpack_tree(cache.latest_tree(parser_version())) if cache else None
        roles = path_roles(entries, near)
        files = Assembly(entries, roles)
        files.add_known(near, cache)
        parsed = len(files.missing)
        complete = _parse(repository, files, cache, progress)
    blobs = tuple(entry.blob for entry in entries)
    tree = Tree(paths, blobs, roles, terms.result(), files.columns(), changes.result())
    # What is not there today may be fetched tomorrow: objects of a partial clone, history of a shallow one.
    complete &= log.result() is not None and all(entry.size >= 0 for entry in entries)
    if cache and complete and not repository.shallow:
        cache.put_tree(name, tree.pack())
    return Loaded(Index(tree), tree.texts, parsed)


def _parse(repository: Repository, files: Assembly, cache: Cache | None, progress: Progress) -> bool:
    """Parse what is missing; return whether all of it could be read."""
    batches, total = cut_batches(list(files.missing.values())), len(files.missing)
    fresh: dict[str, bytes] = {}
    done, complete = 0, True
    for built in build(repository, batches):
        keys = [job.key for job in batches[built.number]]
        files.add(keys, built.columns)
        complete &= built.complete
        if cache and built.complete:
            fresh |= zip(keys, built.columns.records(), strict=True)
            if sum(map(len, fresh.values())) > PER_WRITE:
                cache.put(fresh, files.keys)
                fresh = {}
        done += len(keys)
        progress("parsing", done, total)
    if cache:
        cache.put(fresh, files.keys)
    return complete


class Assembly:
    """The columns of a commit's files, put together from wherever they are found."""

    def __init__(self, entries: Sequence[Entry], roles: Sequence[Role]) -> None:
        self._sources: list[Columns] = []
        self._picks = np.full((len(entries), 2), -1)
        self._files: dict[str, list[int]] = {}
        self.missing: dict[str, Job] = {}
        """What to parse for the contents that were not found yet, by key."""
        for number, (entry, role) in enumerate(zip(entries, roles, strict=True)):
            if role not in WITHOUT_WORDS and 0 < entry.size <= TEXT_LIMIT:
                key = key_of(entry.path, entry.blob)
                self._files.setdefault(key, []).append(number)
                self.missing[key] = Job(key, entry.path, entry.blob, entry.size)
        self.keys = frozenset(self.missing)
        """All contents."""

    def add(self, keys: Sequence[str], columns: Columns) -> None:
        """Take what is missing out of a table, given the key of each of its files."""
        for row, key in enumerate(keys):
            if self.missing.pop(key, None):
                self._picks[self._files[key]] = len(self._sources), row
        self._sources.append(columns)

    def add_known(self, near: Tree | None, cache: Cache | None) -> None:
        """Take what the last commit has, and what the cache knows of the rest."""
        if near:
            self.add([key_of(path, blob) for path, blob in zip(near.paths, near.blobs, strict=True)], near.columns)
        if cache:
            records = {key: record for key, record in cache.get(self.missing).items() if is_sound(record)}
            self.add(list(records), unpack(list(records.values())))

    def columns(self) -> Columns:
        """Return the columns of all files; one that was never found has no rows."""
        return gathered(self._sources, self._picks)


def path_roles(entries: Iterable[Entry], near: Tree | None) -> tuple[Role, ...]:
    """Say what each path says of its file."""
    known = dict(zip(near.paths, near.roles, strict=True)) if near else {}
    return tuple(known.get(entry.path) or role_of(entry.path) for entry in entries)


def key_of(path: str, blob: str) -> str:
    """Name a record: the same blob parsed as the same language by the same parser."""
    language = language_of(path)
    # The ending decides too: a header is C or C++ by its content, a file that ends in .c is always C.
    kind = language + path[path.rfind(".") :][:8] if language else "text"
    return f"{blob}:{kind}:{parser_version()}"
