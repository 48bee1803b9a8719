"""Rankers for comparison that a user might choose instead, on the same commit.

They index every text file of the tree and rank source files only. Tracehound does not read the content of tests and
documents for a ranking; one rival leaves these out as well, so that the time for the same files can be compared.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bm25s
import numpy as np

from nodes.search.engine import Engine
from nodes.search.git.objects import TEXT_LIMIT, decode, is_text
from nodes.search.index.loading import OF_SCOPE
from nodes.search.paths.roles import role_of
from nodes.search.types import Query, Scope

WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])")
LISTED = 20


@dataclass(frozen=True, slots=True)
class Ranked:
    """One ranking, best first."""

    files: tuple[str, ...]
    places: tuple[str, ...] = ()
    """``path::Qualified.name``; empty if the ranker only ranks files."""
    confidence: float | None = None


Ranker = Callable[[str], Ranked]


def tracehound(clone: Path, commit: str, scratch: Path) -> Ranker:
    """Index a commit with an empty cache."""
    with tempfile.TemporaryDirectory(dir=scratch) as fresh:
        engine = Engine(clone, Path(fresh))
        engine.warm(commit, "source")

    def rank(issue: str) -> Ranked:
        title, _, body = issue.partition("\n")
        found = engine.find(Query(title, body, limit=LISTED), commit)
        places = tuple(f"{place.path}::{place.symbol or ''}" for place in found.locations)
        return Ranked(tuple(hit.path for hit in found.files), places, found.confidence)

    return rank


def bm25(clone: Path, commit: str, _scratch: Path) -> Ranker:
    """Index whole files, identifiers split, with bm25s."""
    return _bm25(_texts(clone, commit))


def bm25_of_source(clone: Path, commit: str, _scratch: Path) -> Ranker:
    """Index only the files whose path says source, with bm25s."""
    return _bm25(_texts(clone, commit, "source"))


def _bm25(texts: dict[str, str]) -> Ranker:
    paths = list(texts)
    is_source = np.array([role_of(path) == "source" for path in paths])
    index = bm25s.BM25()
    index.index([_words(f"{path} {text}") for path, text in texts.items()], show_progress=False)

    def rank(issue: str) -> Ranked:
        count = min(LISTED, int(is_source.sum()))
        found, _ = index.retrieve([_words(issue)], k=count, weight_mask=is_source, show_progress=False)
        return Ranked(tuple(paths[number] for number in found[0]))

    return rank


def counting(clone: Path, commit: str, _scratch: Path) -> Ranker:
    """Count how often each file contains the issue's longer words, as a person would with ripgrep."""
    texts = {path: Counter(_words(f"{path} {text}")) for path, text in _texts(clone, commit).items()}

    def rank(issue: str) -> Ranked:
        words = {word for word in _words(issue) if len(word) > 3}
        source = [path for path in texts if role_of(path) == "source"]
        order = sorted(source, key=lambda path: (-sum(texts[path][word] for word in words), path))
        return Ranked(tuple(order[:LISTED]))

    return rank


RANKERS: dict[str, Callable[[Path, str, Path], Ranker]] = {
    "tracehound": tracehound,
    "bm25s": bm25,
    "bm25s, source": bm25_of_source,
    "keyword counting": counting,
}


def _texts(clone: Path, commit: str, scope: Scope = "all") -> dict[str, str]:
    repository = Engine(clone).repository
    tree = repository.tree(repository.resolve(commit))
    entries = [e for e in tree if role_of(e.path) in OF_SCOPE[scope] and 0 < e.size <= TEXT_LIMIT]
    blobs = dict(repository.read(sorted({entry.blob for entry in entries})))
    return {e.path: decode(blobs[e.blob]) for e in entries if e.blob in blobs and is_text(blobs[e.blob])}


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]
