"""``sibling``: for an absent name, the definition in the first files with the most similar name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.search.facts.code import whole_word
from nodes.search.facts.types import Fact
from nodes.search.tokens import PART

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.search.facts.code import Code
    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.facts.witness import Witness

ALIKE = 0.5
"""Minimum share of parts that both names have in common."""
FEWEST = 2
"""Minimum number of parts of a name."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield one definition for each absent name."""
    for fact in [fact for fact in inquiry.found if fact.kind == "absent"]:
        name = fact.words or ""
        row = _most_alike(inquiry.code, name, inquiry.first)
        head = inquiry.code.head(row) if row is not None else None
        if row is None or head is None:
            continue
        path = inquiry.code.path(int(inquiry.code.index.def_file[row]))
        symbol = inquiry.code.index.name_of(row)
        says = f"`{symbol}` is the definition whose name is most like `{name}`."
        yield Fact("sibling", says, name, path, head[0], head[1], symbol)


def _most_alike(code: Code, name: str, paths: tuple[str, ...]) -> int | None:
    wanted = parts(name)
    best: tuple[float, int] | None = None
    for number in [n for path in paths if (n := code.number(path)) is not None and code.own[n]]:
        first = int(code.index.first_def[number])
        for offset, dotted in enumerate(code.index.meta(number).names):
            likeness = alike(wanted, parts(dotted.rpartition(".")[2]))
            if likeness >= ALIKE and (best is None or likeness > best[0]):
                best = likeness, first + offset
    return best[1] if best else None


def parts(name: str) -> frozenset[str]:
    """Return the parts of a name in lower case."""
    return frozenset(part.lower() for part in PART.findall(name))


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of parts that two names have in common, or 0 if a name has a single part."""
    if min(len(one), len(other)) < FEWEST:
        return 0.0
    return len(one & other) / len(one | other)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line contains the definition's name and that the names share half of their parts."""
    del witness
    name = (fact.symbol or "").rpartition(".")[2]
    if not whole_word(name).search(fact.text or ""):
        return "the line does not contain the name"
    return None if alike(parts(fact.words or ""), parts(name)) >= ALIKE else "the names are not similar"
