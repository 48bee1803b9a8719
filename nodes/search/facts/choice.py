"""The choice among several places with the same message or expression, by what else the report names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from nodes.search.facts.names import names
from nodes.search.facts.places.labelled_here import is_label
from nodes.search.tokens import STOPWORDS, query_terms, terms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.facts.types import Fact

FUNCTION, AROUND = 2, 1
"""What counts that the report names the function of a place, and that it names its class or its file."""

_BY_WORDS = frozenset({"read_here", "pasted_here", "quoted_here", "built_here", "default_here"})
_OF_CODE = frozenset({"built_here", "quoted_here", "pasted_here"})


def with_choices(inquiry: FinderInput) -> tuple[Fact, ...]:
    """Return all facts; among places with the same words, those in the one function that the report names are chosen.

    If it names none of them, the only function of the search's first file is.
    """
    groups: dict[tuple[str, str | None], list[Fact]] = {}
    for fact in inquiry.found:
        if fact.several:
            groups.setdefault((fact.kind, fact.words), []).append(fact)
    chosen = {fact for group in groups.values() for fact in _chosen(inquiry, group)}
    return tuple(replace(fact, chosen=True) if fact in chosen else fact for fact in inquiry.found)


def without_echoes(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Leave out what only repeats a line that the report names: words of the code that a tool prints, a file's name."""
    named = [fact for fact in facts if fact.is_named_line or fact.kind == "raised_here"]
    printed = {(fact.path, fact.line) for fact in named if fact.kind == "named_here" and fact.exact}
    files = {PurePosixPath(fact.path or "").name for fact in named}

    def is_echo(fact: Fact) -> bool:
        is_name = fact.kind in _BY_WORDS and PurePosixPath(fact.words or "").name in files
        return is_name or (fact.kind in _OF_CODE and (fact.path, fact.line) in printed)

    return tuple(fact for fact in facts if not is_echo(fact))


def _chosen(inquiry: FinderInput, group: Sequence[Fact]) -> list[Fact]:
    named = frozenset(name.last for name in names(inquiry.issue))
    points = {fact: _points(inquiry, fact, named) for fact in group}
    most = max(points.values())
    best = [fact for fact in group if points[fact] == most]
    if not most:
        best = [fact for fact in group if fact.path in inquiry.first[:1]]
    return best if len({(fact.path, fact.symbol) for fact in best}) == 1 else []


def _points(inquiry: FinderInput, fact: Fact, named: frozenset[str]) -> int:
    *owners, function = (fact.symbol or "").split(".")
    if function in named:
        return FUNCTION
    files = {other.path for other in inquiry.found if other.kind in ("named_here", "linked_here")}
    around = {*owners, PurePosixPath(fact.path or "").stem}
    is_around = fact.path in files or not named.isdisjoint(around)
    if not is_around and is_label(fact):
        # A text of a program stands in many files; the title's other words say on which of its pages it was seen.
        subject = {term for name in (*around, function) for term in terms_of(name)} - STOPWORDS
        is_around = not subject.isdisjoint({*query_terms(inquiry.issue.title)} - {*query_terms(fact.words or "")})
    return AROUND if is_around else 0
