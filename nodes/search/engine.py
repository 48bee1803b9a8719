"""The public interface of the search: takes an issue's text and a commit, returns ranked places."""

from __future__ import annotations

import hashlib
import os
import time
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from nodes.search.cache import MAX_CACHE_BYTES, Cache
from nodes.search.git import Repository
from nodes.search.index.index import Index
from nodes.search.index.loading import MAX_TEXT, Loaded, load_index
from nodes.search.issue.query import parse_query
from nodes.search.ranking.features import reads_other_roles
from nodes.search.ranking.pipeline import Measured, rank, sketch_files
from nodes.search.types import FileSketch, Query, Ranking, Survey

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nodes.search.facts import Fact
    from nodes.search.facts.finding import Finder
    from nodes.search.facts.witness import Witness
    from nodes.search.history.types import History, Spot
    from nodes.search.types import Scope

COMMITS = 2
"""Number of indexes of each scope in memory: the current commit and the previous one."""


class Indexes:
    """The indexes of one repository. Safe to use from several threads."""

    def __init__(self, cache: Cache | None, progress: Callable[[str, int, int], None], most_text: int) -> None:
        self._cache = cache
        self._progress = progress
        self._most_text = most_text
        self._loaded: dict[Scope, OrderedDict[str, Loaded]] = {"source": OrderedDict(), "all": OrderedDict()}
        self._lock = Lock()

    @property
    def memory(self) -> int:
        """Approximate bytes of the indexes in memory."""
        return sum(loaded.index.memory for commits in self._loaded.values() for loaded in list(commits.values()))

    def load(self, repository: Repository, sha: str, scope: Scope) -> Loaded:
        """Return the index of a commit, given its full SHA, with the cost of loading it."""
        # The lock also covers loading, so that two threads never parse the same commit at once.
        with self._lock:
            commits = self._loaded[scope]
            if sha not in commits:
                others = [of[sha] for of in self._loaded.values() if sha in of]
                commits[sha] = load_index(
                    repository,
                    sha,
                    self._cache,
                    self._progress,
                    scope=scope,
                    most_text=self._most_text,
                    known=next(iter(others), None),
                )
                while len(commits) > COMMITS:
                    commits.popitem(last=False)
            commits.move_to_end(sha)
            return commits[sha]


class Engine:
    """Finds the places of one repository that an issue is about. Safe to use from several threads."""

    def __init__(
        self,
        repository: Path | str,
        cache_dir: Path | None = None,
        progress: Callable[[str, int, int], None] | None = None,
        *,
        cache_bytes: int = MAX_CACHE_BYTES,
        most_text: int = MAX_TEXT,
    ) -> None:
        """Open a clone, bare or not, which is only read; raises ``NotARepository`` if there is none at that path.

        Without a ``cache_dir`` no parse results are stored. ``progress`` is called with (phase, done, total) at
        intervals. ``cache_bytes`` limits the cache, and ``most_text`` the bytes of a commit's text that are indexed.
        """
        self.repository = Repository.open(repository)
        self.cache: Cache | None = None
        """Parse results of earlier runs."""
        if cache_dir:
            self.cache = Cache(cache_file(cache_dir, self.repository.directory), largest=cache_bytes)
        self._indexes = Indexes(self.cache, progress or (lambda _phase, _done, _total: None), most_text)

    @property
    def memory(self) -> int:
        """Approximate bytes of the indexes in memory."""
        return self._indexes.memory

    def commit(self, rev: str = "HEAD") -> str:
        """Return the full SHA of the commit that a branch, tag or SHA names; raises like ``Repository.resolve``."""
        return self.repository.resolve(rev)

    def warm(self, commit: str, scope: Scope = "all") -> Loaded:
        """Parse what is not in the cache and return the index with the cost of loading it."""
        sha = self.commit(commit)
        loaded = self._indexes.load(self.repository, sha, scope)
        # Afterwards, because then nothing has to be parsed for it.
        self._indexes.load(self.repository, sha, "source")
        return loaded

    def index(self, sha: str, scope: Scope = "all") -> Index:
        """Return the index of a commit, given its full SHA."""
        return self._indexes.load(self.repository, sha, scope).index

    def find(self, query: Query, commit: str, measured: Measured | None = None) -> Ranking:
        """Rank the files and places of a commit by how likely the issue is about them.

        ``measured`` is what ``measure`` returned for a query that differs in its limit only.
        """
        started = time.perf_counter()
        sha = self.commit(commit)
        return rank(measured or self.measure(query, sha), query, sha, started)

    def survey(self, query: Query, commit: str, ranking: Ranking | None = None) -> Survey:
        """Return an issue's first files (by ``ranking``, if ``find`` was called), verified facts, and confidence."""
        from nodes.search.facts.finding import with_facts
        from nodes.search.facts.kinds import FINDERS

        ranking = ranking or self.find(query, commit)
        paths = [lead.path for lead in ranking.leads]
        self.repository.list_together(ranking.commit, paths)
        witness = self._witness(ranking.commit, query)
        facts = _verified(self._facts(query, paths, witness, FINDERS), paths, witness)
        return Survey(ranking.leads, facts, ranking.confidence, with_facts(ranking.confidence, paths, facts))

    def stated_confidence(self, query: Query, ranking: Ranking) -> float:
        """Return the probability that a ranking's first file is right, by facts that no report shows or verifies."""
        from nodes.search.facts.finding import CODE_FINDERS, with_facts

        paths = [lead.path for lead in ranking.leads]
        witness = self._witness(ranking.commit, query)
        facts = self._facts(query, paths, witness, CODE_FINDERS, "source")
        return with_facts(ranking.confidence, paths, facts)

    def sketches(self, query: Query, paths: Sequence[str], commit: str) -> tuple[FileSketch, ...]:
        """Return sketches of the files whose paths are, or alone end with, the given ones, in their order."""
        index = self.index(self.commit(commit))
        return sketch_files(Measured.of(self.repository, index, parse_query(query)), paths)

    def measure(self, query: Query, sha: str) -> Measured:
        """Return the features that ``find`` ranks a commit by, given its full SHA; training reads them too."""
        parsed = parse_query(query)
        index = self.index(sha, "source")
        # The content of other files is read only for the few issues that are about such files.
        if reads_other_roles(index, parsed):
            index = self.index(sha)
        return Measured.of(self.repository, index, parsed)

    def history(self, query: Query, spots: Sequence[Spot], commit: str) -> History:
        """Return changes that may have broken some places, people who know them, and the issue's crash fingerprints."""
        from nodes.search.history.reading import read_history
        from nodes.search.history.types import widened

        sha = self.commit(commit)
        index = self.index(sha, "source")
        wide = [widened(index, spot) for spot in spots]
        return read_history(self.repository, sha, query, wide, dict(zip(index.paths, index.blobs, strict=True)))

    def facts(self, query: Query, files: Sequence[str], commit: str) -> tuple[Fact, ...]:
        """Find the checked relations between an issue and a commit, given the paths as ``find`` ranked them."""
        from nodes.search.facts.kinds import FINDERS

        return self._facts(query, files, self._witness(commit, query), FINDERS)

    def _facts(
        self, query: Query, files: Sequence[str], witness: Witness, finders: Sequence[Finder], scope: Scope = "all"
    ) -> tuple[Fact, ...]:
        from nodes.search.facts.finding import find_facts
        from nodes.search.issue.forms import template_lines

        index = self.index(witness.sha, scope)
        template = template_lines(self.repository, witness.sha)
        ignored = index.matching(query.ignore)
        return find_facts(witness, index, query, files, finders=finders, ignored=ignored, template=template)

    def _witness(self, commit: str, query: Query) -> Witness:
        from nodes.search.facts.witness import Witness

        return Witness(self.repository, self.commit(commit), "\n".join((query.title, query.body, *query.extra)))

    def invalid_facts(self, facts: Sequence[Fact], text: str, commit: str) -> frozenset[int]:
        """Return the positions of the facts that no longer hold at a commit or for an issue's text."""
        from nodes.search.facts.kinds import fault_of

        witness = self._witness(commit, Query(text))
        return frozenset(number for number, fact in enumerate(facts) if fault_of(fact, witness) is not None)


def _verified(facts: Sequence[Fact], paths: Sequence[str], witness: Witness) -> tuple[Fact, ...]:
    """Return the facts that apply to the ranked files, after an independent second check of each."""
    from nodes.search.facts.kinds import fault_of
    from nodes.search.facts.types import ANYWHERE

    lines = {(fact.path, fact.line) for fact in facts if fact.is_named_line}
    wanted = (
        fact
        for fact in facts
        if fact.strong
        or fact.path in (None, *paths)
        or fact.kind in ANYWHERE
        or not lines.isdisjoint({(fact.path, fact.line), fact.follows})
    )
    return tuple(fact for fact in wanted if fault_of(fact, witness) is None)


def cache_file(directory: Path, repository: Path) -> Path:
    """Return the path of a repository's cache: a readable name with a hash that is unique to each clone."""
    digest = hashlib.sha256(os.fsencode(repository)).hexdigest()[:12]
    name = "".join(character if character.isalnum() else "-" for character in repository.name)[:40]
    return Path(directory) / f"{name}-{digest}.trees"
