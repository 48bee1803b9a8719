"""Facts of a small repository; each is verified and can be translated, and a second search finds the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.report.comment.folds import sentence_without_path
from bot.report.languages.catalogue import Translator
from bot.report.sanitise import prose
from docs.catalogues import sentences
from nodes.search.engine import Engine
from nodes.search.facts import Fact
from nodes.search.facts.kinds import fault_of
from nodes.search.facts.witness import Witness
from nodes.search.git import Repository
from nodes.search.sentences import Sentence
from nodes.search.types import Query
from tests.report.catalogues import catalogue, parts_of
from tests.support.repositories import make_repository

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_GERMAN = Translator("de")
_FOLDED = ("tested_here",)
"""The kind that only the folded parts of a comment show, which are English."""


def facts_of(
    path: Path,
    files: Mapping[str, str],
    title: str,
    body: str = "",
    *,
    extra: Sequence[str] = (),
    first: Sequence[str] = (),
) -> tuple[Fact, ...]:
    """Commit files, and return the facts of an issue at that commit."""
    return facts_at(path, make_repository(path, files), title, body, extra=extra, first=first)


def facts_at(
    path: Path, sha: str, title: str, body: str = "", *, extra: Sequence[str] = (), first: Sequence[str] = ()
) -> tuple[Fact, ...]:
    """Return the facts of an issue at a commit, in files as the engine ranks them or in the given order."""
    engine, query = Engine(path), Query(title, body, tuple(extra))
    ranked = list(first) or [hit.path for hit in engine.find(query, sha).files]
    facts = engine.facts(query, ranked, sha)
    assert engine.facts(query, ranked, sha) == facts
    text = "\n".join((title, body, *extra))
    for fact in facts:
        assert verify(fact, engine.repository, sha, text) is None, fact
        if fact.kind not in _FOLDED:
            assert_translatable(fact)
    return facts


def assert_translatable(fact: Fact) -> None:
    """Assert that the catalogues can have a fact's sentence, and that it is English only if they lack a part of it."""
    assert isinstance(fact.says, Sentence), fact.says
    parts = set(parts_of(fact.says))
    assert parts <= set(sentences()), fact.says
    is_translated = prose(sentence_without_path(fact, _GERMAN)) != prose(sentence_without_path(fact))
    assert is_translated is (parts <= set(catalogue("de"))), fact.says


def of_kind(facts: Sequence[Fact], *kinds: str) -> list[Fact]:
    """Return the facts of some kinds."""
    return [fact for fact in facts if fact.kind in kinds]


def verify(fact: Fact, repository: Repository, sha: str, text: str) -> str | None:
    """Return the reason why a fact about a commit and an issue's text does not hold, or None."""
    return fault_of(fact, Witness(repository, sha, text))
