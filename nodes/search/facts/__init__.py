"""Facts: typed relations between words of an issue and lines or changes of the repository, each with its own check."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nodes.search.facts.around import called_from, guarded_by, intended, used_here
from nodes.search.facts.asked import called_here, last_changed, owned_by
from nodes.search.facts.changes import changed_in, changed_since, named_change, only_change, releases
from nodes.search.facts.code import Code
from nodes.search.facts.inquiry import FIRST, FinderInput
from nodes.search.facts.issue import read_issue
from nodes.search.facts.names import absent, defined_once, documented_here, read_here, tested_here
from nodes.search.facts.output import built_here, raised_here
from nodes.search.facts.places import linked_here, named_here, pasted_here
from nodes.search.facts.types import Fact, Kind
from nodes.search.facts.verify import verify
from nodes.search.history.log import Log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nodes.search.git import Repository
    from nodes.search.index import Index
    from nodes.search.types import Query

__all__ = ["FIRST", "Fact", "Kind", "find_facts", "verify"]

FINDERS: tuple[Callable[[FinderInput], Iterator[Fact]], ...] = (
    linked_here.find,
    named_change.find,
    raised_here.find,
    pasted_here.find,
    defined_once.find,
    built_here.find,
    read_here.find,
    named_here.find,
    guarded_by.find,
    called_from.find,
    used_here.find,
    intended.find,
    only_change.find,
    changed_in.find,
    changed_since.find,
    releases.find,
    tested_here.find,
    absent.find,
    documented_here.find,
    owned_by.find,
    last_changed.find,
    called_here.find,
)
"""The finders in order of precedence; each receives the facts of the finders before it."""
MAX_OF_A_KIND = 40
"""Maximum number of facts of one kind."""


def find_facts(
    repository: Repository,
    sha: str,
    index: Index,
    query: Query,
    first: Sequence[str] = (),
    *,
    ignored: Iterable[int] = (),
    template: Iterable[str] = (),
) -> tuple[Fact, ...]:
    """Find all facts of an issue at a commit.

    Args:
        repository: the clone.
        sha: full SHA of the commit.
        index: the commit's index.
        query: the issue.
        first: the ranked files, best first.
        ignored: numbers of files that a maintainer excluded.
        template: lines of the repository's issue templates.

    Returns:
        Facts in the order of their kinds' precedence, the same on every run.
    """
    code = Code(repository, sha, index, ignored)
    inquiry = FinderInput(query, read_issue(query, template), code, Log(repository, sha), tuple(first[:FIRST]))
    for finder in FINDERS:
        found = dict.fromkeys((*inquiry.found, *_first(finder(inquiry))))
        inquiry = replace(inquiry, found=tuple(found))
    return inquiry.found


def _first(found: Iterator[Fact]) -> Iterator[Fact]:
    for _, fact in zip(range(MAX_OF_A_KIND), found, strict=False):
        yield fact
