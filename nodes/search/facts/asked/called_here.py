"""``called_here``: for a question about it, where the project's own code calls a function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.search.facts.around.called_from import calls_of, is_call
from nodes.search.facts.asked import CALLS, functions_in, sentences
from nodes.search.facts.types import Fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.facts.witness import Witness


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the first call of each function that a question asks about, with the number of calls if all are known."""
    asked = sentences(inquiry, CALLS)
    for words, row in functions_in(inquiry, asked) if asked else ():
        calls, is_complete = calls_of(inquiry.code, inquiry.code.index.name_of(row).rpartition(".")[2])
        if not calls:
            continue
        first = calls[0]
        # The sentence gives no number if files were not read: it would be too small.
        says = _sentence(words, first.path or "", len(calls) if is_complete else 0)
        yield Fact("called_here", says, words, first.path, first.line, first.text, first.symbol, count=len(calls))


def _sentence(words: str, path: str, count: int) -> str:
    if count == 1:
        return f"One line calls `{words}`, in `{path}`."
    return f"{count} lines call `{words}`, the first in `{path}`." if count else f"`{words}` is called in `{path}`."


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line calls the name, and that git finds at least as many lines that do."""
    name = fact.symbol or ""
    if not name or not (fact.words or "").endswith(name) or not is_call(fact.text or "", name):
        return "the line does not call the name"
    if fact.says not in (_sentence(fact.words or "", fact.path or "", count) for count in (fact.count or 0, 0)):
        return "the sentence states another number"
    hits = witness.grep(name, path=fact.path) or []
    # At least as many: git also finds recursive calls, and calls in tests inside source files.
    return None if sum(is_call(hit.text, name) for hit in hits) >= (fact.count or 0) else "fewer lines call the name"
