"""Builds the index of a commit: takes what another commit has, then parses what is missing and stores the whole."""

import hashlib
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import numpy as np

from nodes.search.cache import Cache
from nodes.search.git import Repository
from nodes.search.git.objects import TEXT_LIMIT, Entry
from nodes.search.index.columns import Columns, select_files
from nodes.search.index.index import Index, Listing, Tree, path_terms, unpack_tree
from nodes.search.index.postings import read_changes, read_log
from nodes.search.languages.pool import Pool
from nodes.search.languages.protocol import BlobToParse
from nodes.search.languages.table import language_of
from nodes.search.paths.project import read_project
from nodes.search.paths.roles import role_of
from nodes.search.types import Role, Scope

Watcher = Callable[[str, int, int], None]

logger = logging.getLogger(__name__)
WITHOUT_WORDS: frozenset[Role] = frozenset({"data", "minified"})
"""Roles whose content is not indexed; these files are found by their path only."""
MAX_TEXT = 64_000_000
"""Default limit of the indexed text in bytes."""
OF_SCOPE: dict[Scope, frozenset[Role]] = {
    "source": frozenset({"source"}),
    "all": frozenset(get_args(Role)) - WITHOUT_WORDS,
}
"""Roles whose content is indexed."""
_ROLE_ORDER: dict[Role, int] = {"source": 0, "test": 2, "generated": 3, "vendored": 4}
"""Order in which roles are indexed if a commit has too much text; a role that is not listed has rank 1."""
PARTS = (
    *("git/repository.py", "git/objects.py", "index/*.py", "languages/*.py", "languages/*.toml"),
    "languages/queries/*.scm",
    *("paths/roles.py", "paths/roles.txt", "tokens.py", "types.py", "words.txt"),
)
"""Source files that determine what is stored of a file."""
WHEELS = ("tree_sitter", "pystemmer")
"""Prefixes of the distributions whose versions also determine it."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """An index, and the cost of loading it."""

    index: Index
    texts: int
    """Number of files whose content is indexed."""
    parsed: int = 0
    """Number of distinct contents that had to be parsed."""
    unparsed: int = 0
    """Number of these that are searched as plain text, because their parsers took too long."""
    left_out: int = 0
    """Number of files that are found by their path only, because the commit has more text than the limit."""
    complete: bool = True
    """Whether another attempt would find the same contents."""


class Assembly:
    """Assembles the columns of a commit's files from another commit and the parsers."""

    def __init__(
        self, entries: Sequence[Entry], roles: Sequence[Role], indexed: frozenset[Role], most_text: int
    ) -> None:
        self._sources: list[Columns] = []
        self._picks = np.full((len(entries), 2), -1)
        self._files: dict[str, list[int]] = {}
        self.missing: dict[str, BlobToParse] = {}
        """Parse jobs for the contents that are not found yet, by key, the most valuable first."""
        self.left_out = 0
        """Number of files with text beyond the limit."""
        # The choice depends on the commit only, so the index is the same whatever the cache contains.
        for number in by_value(entries, roles, indexed):
            entry = entries[number]
            key = key_of(entry.path, entry.blob)
            # A copy of an indexed file costs nothing, so it is indexed even if the budget is used up.
            if key not in self.missing:
                if entry.size > most_text:
                    self.left_out += 1
                    continue
                most_text -= entry.size
                self.missing[key] = BlobToParse(key, entry.path, entry.blob, entry.size)
            self._files.setdefault(key, []).append(number)

    def add(self, keys: Sequence[str], columns: Columns) -> None:
        """Take missing contents from a table, given the key of each of its files."""
        for row, key in enumerate(keys):
            if self.missing.pop(key, None):
                self._picks[self._files[key]] = len(self._sources), row
        self._sources.append(columns)

    def columns(self) -> Columns:
        """Return the columns of all files; a file that was not found has no rows."""
        return select_files(self._sources, self._picks)


def load_index(
    repository: Repository,
    commit: str,
    cache: Cache | None,
    progress: Watcher,
    *,
    scope: Scope = "all",
    most_text: int = MAX_TEXT,
    known: Loaded | None = None,
) -> Loaded:
    """Load the index of a commit, given by its full SHA; parse only what the cache lacks.

    Files outside the scope, and those beyond ``most_text`` bytes, are found by their path only. ``progress`` is called
    with (phase, done, total). ``known`` is the index of the other scope, if that is loaded; its contents are not parsed
    again.
    """
    other = known.index if known else None
    version = f"{scope}:{parser_version()}"
    # Scope and limit of text are part of the key because they decide which files are indexed.
    tree_key = f"{commit}:{most_text}:{version}"
    if cache and (stored := unpack_tree(cache.tree(tree_key))):
        return Loaded(_index(repository, stored, other), stored.texts)
    # git walks the history while this process parses the files
    with ThreadPoolExecutor(1) as pool:
        # Most contents are those of the last tree of the same scope, else of the other one, which has a part of them or
        # more than needed.
        previous = unpack_tree(cache.latest_tree(version) or cache.latest_tree(parser_version())) if cache else None
        entries, roles, listing = _list(pool, repository, commit, previous, other.listing if other else None)
        files = Assembly(entries, roles, OF_SCOPE[scope], most_text)
        for of in (other if known and known.complete else None, previous):
            if of is not None:
                files.add(_keys(of.listing, of.columns), of.columns)
        jobs = [job._replace(number=number) for number, job in enumerate(files.missing.values())]
        read = _parse(Pool(repository, jobs), files, lambda done: progress("parsing", done, len(jobs)))
    tree = Tree(listing(), files.columns())
    complete = read.complete and tree.listing.has_history and all(entry.size >= 0 for entry in entries)
    # Complete results only: a fetch may later add objects of a partial clone. It may also add history to a shallow one,
    # so that only the contents of its tree are used again.
    if cache and complete:
        cache.put_tree(f"shallow:{tree_key}" if repository.shallow else tree_key, tree.pack())
    built, left_out = _index(repository, tree, other), files.left_out
    loaded = Loaded(built, tree.texts, len(jobs), read.unparsed, left_out, complete=read.complete)
    _log_limits(repository, commit, loaded)
    return loaded


def _parse(pool: Pool, files: Assembly, progress: Callable[[int], None]) -> Pool:
    """Parse the missing contents; ``progress`` is called with the number of those that are done."""
    done = 0
    for keys, columns in pool.build():
        files.add(keys, columns)
        done += len(keys)
        progress(done)
    return pool


def by_value(entries: Sequence[Entry], roles: Sequence[Role], indexed: frozenset[Role]) -> list[int]:
    """Return the numbers of the files with text of some roles, ordered by role (source first), then smallest first."""
    numbers = (n for n, entry in enumerate(entries) if roles[n] in indexed and 0 < entry.size <= TEXT_LIMIT)
    return sorted(numbers, key=lambda number: (_ROLE_ORDER.get(roles[number], 1), entries[number].size, number))


def key_of(path: str, blob: str) -> str:
    """Return a record's key: the blob, the language it is parsed as and the parser's version."""
    language = language_of(path)
    # The ending is part of the key: a header is C or C++ by its content, a file that ends in .c is always C.
    kind = language + path[path.rfind(".") :][:8] if language else "text"
    return f"{blob}:{kind}:{parser_version()}"


@cache
def parser_version() -> str:
    """Return a digest of the parsers' own source and of the versions of the installed grammars."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    # A digest of the source instead of a number: no edit can leave old records in use.
    for file in sorted(file for part in PARTS for file in root.glob(part)):
        digest.update(file.read_bytes())
    spec = find_spec("tree_sitter")
    site = Path(spec.origin).parents[1] if spec and spec.origin else Path()
    # Names such as ``tree_sitter_go-0.25.0.dist-info``: reading each wheel's own version would import it.
    for wheel in sorted(path.name for path in site.glob("*.dist-info") if path.name.lower().startswith(WHEELS)):
        digest.update(wheel.encode())
    return digest.hexdigest()[:12]


def _list(
    pool: ThreadPoolExecutor, repository: Repository, commit: str, previous: Tree | None, known: Listing | None
) -> tuple[Sequence[Entry], Sequence[Role], Callable[[], Listing]]:
    """Return a commit's files, their roles, and what waits for the rest of the listing; read only what is not known."""
    if known is not None and known.sizes is not None:
        files = zip(known.paths, known.blobs, known.sizes.tolist(), strict=True)
        return [Entry(*file) for file in files], known.roles, lambda: known
    log = pool.submit(read_log, repository, commit)
    entries = repository.tree(commit)
    paths = tuple(entry.path for entry in entries)
    changes = pool.submit(lambda: read_changes(log.result() or b"", {path: n for n, path in enumerate(paths)}))
    terms = pool.submit(path_terms, paths)
    # A role depends on the path only, and a dozen patterns take longer than one lookup.
    old = dict(zip(previous.listing.paths, previous.listing.roles, strict=True)) if previous else {}
    roles = tuple(old.get(path) or role_of(path) for path in paths)

    def listing() -> Listing:
        """Wait for what other threads read."""
        shared: dict[str, str] = {}
        blobs = tuple(shared.setdefault(entry.blob, entry.blob) for entry in entries)
        sizes = np.array([entry.size for entry in entries], np.int64)
        return Listing(paths, blobs, roles, terms.result(), changes.result(), sizes, log.result() is not None)

    return entries, roles, listing


def _keys(listing: Listing, columns: Columns) -> list[str]:
    """Return the key of each file with text, and an empty one for every other file."""
    has_text = set(columns.owners("mark").tolist())
    paths = enumerate(zip(listing.paths, listing.blobs, strict=True))
    return [key_of(path, blob) if number in has_text else "" for number, (path, blob) in paths]


def _index(repository: Repository, tree: Tree, known: Index | None) -> Index:
    """Return the index of a tree; the other index of the commit shares its paths and its project."""
    if known is not None and (tree.listing.paths, tree.listing.blobs) == (known.paths, known.blobs):
        return Index(Tree(known.listing, tree.columns), known.project)
    return Index(tree, read_project(repository, dict(zip(tree.listing.paths, tree.listing.blobs, strict=True))))


def _log_limits(repository: Repository, commit: str, loaded: Loaded) -> None:
    """Log once per commit which files are not fully indexed."""
    where = f"{repository.directory} at {commit[:12]}"
    if loaded.unparsed:
        message = f"{where}: {loaded.unparsed} files are searched as plain text: parsing them timed out"
        logger.warning(message, extra={"action": "index_unparsed"})
    if loaded.left_out:
        message = f"{where}: {loaded.left_out} files are found by path only: there is more text than is indexed"
        logger.warning(message, extra={"action": "index_limited"})
        repository.shortfalls.note("repository.text")
