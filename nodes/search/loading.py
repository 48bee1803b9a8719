"""From a commit to its index: what the cache has is joined, what it lacks is parsed and stored."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.changes import COMMITS, read_changes
from nodes.search.columns import Columns, gathered, is_sound, unpack
from nodes.search.git import TEXT_LIMIT, Entry, Repository
from nodes.search.index import Index
from nodes.search.languages import always_needs_parser, language_of
from nodes.search.parsing import Job, cut_batches
from nodes.search.progress import Progress
from nodes.search.roles import role_of
from nodes.search.trees import Tree, path_terms, unpack_tree
from nodes.search.version import parser_version
from nodes.search.workers import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nodes.search.cache import Cache
    from nodes.search.types import Role

    Watcher = Callable[[str, int, int], None]

logger = logging.getLogger(__name__)

WITHOUT_WORDS: frozenset[Role] = frozenset({"data", "minified"})
"""Roles whose content is not indexed: found by their path alone."""
MOST_TEXT = 64_000_000
"""Bytes of text that are indexed unless told otherwise."""
_VALUE: dict[Role, int] = {"source": 0, "test": 2, "generated": 3, "vendored": 4}
"""What is indexed first where a commit has too much text; every other role comes behind source."""
PER_WRITE = 8_000_000  # bytes of records put into the cache at a time: what a kill loses is parsed again


@dataclass(frozen=True, slots=True)
class Loaded:
    """An index, and what it took."""

    index: Index
    texts: int
    """Files whose content is indexed."""
    parsed: int = 0
    """Different contents that had to be parsed."""
    unparsed: int = 0
    """Those of them that are searched as plain text, because their parsers took too long."""
    left_out: int = 0
    """Files that are found by their path alone, because the commit has more text than is indexed."""


def load_index(
    repository: Repository, commit: str, cache: Cache | None, progress: Watcher, *, most_text: int = MOST_TEXT
) -> Loaded:
    """Read a commit, given by its full SHA, parsing only what the cache lacks.

    Args:
        repository: where it is read.
        commit: the full SHA.
        cache: what was parsed before; None for no cache.
        progress: receives (phase, done, of how many).
        most_text: bytes of text that are indexed; the files beyond are found by their path.
    """
    name = f"{commit}:{most_text}:{parser_version()}"
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
        files = Assembly(entries, roles, most_text)
        files.add_known(near, cache)
        parsed = len(files.missing)
        batches = Progress(files.batches())
        complete = _parse(repository, files, batches, cache, progress)
    blobs = tuple(entry.blob for entry in entries)
    tree = Tree(paths, blobs, roles, terms.result(), files.columns(), changes.result())
    # What is not there today may be fetched tomorrow: objects of a partial clone, history of a shallow one.
    complete &= log.result() is not None and all(entry.size >= 0 for entry in entries)
    if cache and complete and not repository.shallow:
        cache.put_tree(name, tree.pack())
    loaded = Loaded(Index(tree), tree.texts, parsed, batches.unparsed, files.left_out)
    _tell_limits(repository, commit, loaded)
    return loaded


def _tell_limits(repository: Repository, commit: str, loaded: Loaded) -> None:
    """Log once for each commit what is not indexed as it could be."""
    where = f"{repository.directory} at {commit[:12]}"
    if loaded.unparsed:
        message = f"{where}: {loaded.unparsed} files are searched as plain text: parsing them takes too long"
        logger.warning(message, extra={"action": "index_unparsed"})
    if loaded.left_out:
        message = f"{where}: {loaded.left_out} files are found by path only: there is more text than is indexed"
        logger.warning(message, extra={"action": "index_limited"})


def _parse(repository: Repository, files: Assembly, batches: Progress, cache: Cache | None, progress: Watcher) -> bool:
    """Parse what is missing; return whether all of it could be read."""
    fresh: dict[str, bytes] = {}
    done, complete, total = 0, True, len(files.missing)
    for built in build(repository, batches):
        keys = [job.key for job in batches.batches[built.number]]
        files.add(keys, built.columns)
        complete &= built.complete
        if cache and built.complete:
            fresh |= zip(keys, built.columns.records(), strict=True)
            if built.missed or sum(map(len, fresh.values())) > PER_WRITE:
                cache.put(fresh, files.keys)
                fresh = {}
        done += len(keys)
        progress("parsing", done, total)
    if cache:
        cache.put(fresh, files.keys)
    return complete


class Assembly:
    """The columns of a commit's files, put together from wherever they are found."""

    def __init__(self, entries: Sequence[Entry], roles: Sequence[Role], most_text: int) -> None:
        self._sources: list[Columns] = []
        self._picks = np.full((len(entries), 2), -1)
        self._files: dict[str, list[int]] = {}
        self.missing: dict[str, Job] = {}
        """What to parse for the contents that were not found yet, by key; the likeliest to be looked for first."""
        self.left_out = 0
        """Files with text beyond what is indexed."""
        for number in by_value(entries, roles):
            entry = entries[number]
            key = key_of(entry.path, entry.blob)
            if key not in self.missing and entry.size > most_text:
                self.left_out += 1
                continue
            if key not in self.missing:
                most_text -= entry.size
                self.missing[key] = Job(key, entry.path, entry.blob, entry.size)
            self._files.setdefault(key, []).append(number)
        self.keys = frozenset(self.missing)
        """All contents."""

    def batches(self) -> list[list[Job]]:
        """Return what is missing in batches, apart what needs a parser by its name."""
        jobs = list(self.missing.values())
        hard = [always_needs_parser(job.path) for job in jobs]
        parts = (
            [job for job, is_hard in zip(jobs, hard, strict=True) if is_hard is wanted] for wanted in (True, False)
        )
        return [batch for part in parts for batch in cut_batches(part)]

    def add(self, keys: Sequence[str], columns: Columns) -> None:
        """Take what is missing out of a table, given the key of each of its files."""
        for row, key in enumerate(keys):
            if self.missing.pop(key, None):
                self._picks[self._files[key]] = len(self._sources), row
        self._sources.append(columns)

    def add_known(self, near: Tree | None, cache: Cache | None) -> None:
        """Take what the last commit has, and what the cache knows of the rest."""
        if near:
            # A file without rows may have been beyond the text that was indexed then.
            known = set(np.flatnonzero(near.columns.sizes.sum(1)).tolist())
            files = enumerate(zip(near.paths, near.blobs, strict=True))
            self.add([key_of(path, blob) if number in known else "" for number, (path, blob) in files], near.columns)
        if cache:
            records = {key: record for key, record in cache.get(self.missing).items() if is_sound(record)}
            self.add(list(records), unpack(list(records.values())))

    def columns(self) -> Columns:
        """Return the columns of all files; one that was never found has no rows."""
        return gathered(self._sources, self._picks)


def by_value(entries: Sequence[Entry], roles: Sequence[Role]) -> list[int]:
    """Return the numbers of the files with text: source before what stands beside it, small files before large."""
    numbers = (n for n, entry in enumerate(entries) if roles[n] not in WITHOUT_WORDS and 0 < entry.size <= TEXT_LIMIT)
    return sorted(numbers, key=lambda number: (_VALUE.get(roles[number], 1), entries[number].size, number))


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
