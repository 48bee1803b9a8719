"""Run finders of facts, and the finders that read only the code, on which the confidence depends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from nodes.search.facts.code import Code
from nodes.search.facts.inquiry import FIRST, FinderInput
from nodes.search.facts.issue import read_issue
from nodes.search.facts.names import defined_once, read_here
from nodes.search.facts.output import built_here, raised_here
from nodes.search.facts.places import linked_here, named_here, pasted_here
from nodes.search.facts.types import Fact

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nodes.search.git import Repository
    from nodes.search.index import Index
    from nodes.search.types import Query

Finder = Callable[[FinderInput], Iterator[Fact]]
# They take half of the time of all finders, and their modules are loaded in half of the time.
CODE_FINDERS: tuple[Finder, ...] = (
    linked_here.find,
    raised_here.find,
    pasted_here.find,
    defined_once.find,
    built_here.find,
    read_here.find,
    named_here.find,
)
"""The finders that need no history and no fact of another finder."""
MAX_OF_A_KIND = 40
"""Maximum number of facts of one kind."""


def find_facts(
    repository: Repository,
    sha: str,
    index: Index,
    query: Query,
    first: Sequence[str] = (),
    *,
    finders: Sequence[Finder],
    ignored: Iterable[int] = (),
    template: Iterable[str] = (),
) -> tuple[Fact, ...]:
    """Find the facts of an issue at a commit.

    Args:
        repository: the clone.
        sha: full SHA of the commit.
        index: the commit's index.
        query: the issue.
        first: the ranked files, best first.
        finders: the finders to ask, in order; each receives the facts of those before it.
        ignored: numbers of files that a maintainer excluded.
        template: lines of the repository's issue templates.

    Returns:
        Facts in the order of their kinds' precedence, the same on every run.
    """
    code = Code(repository, sha, index, ignored)
    inquiry = FinderInput(query, read_issue(query, template), code, tuple(first[:FIRST]))
    for finder in finders:
        found = dict.fromkeys((*inquiry.found, *_first(finder(inquiry))))
        inquiry = replace(inquiry, found=tuple(found))
    return inquiry.found


def _first(found: Iterator[Fact]) -> Iterator[Fact]:
    for _, fact in zip(range(MAX_OF_A_KIND), found, strict=False):
        yield fact
