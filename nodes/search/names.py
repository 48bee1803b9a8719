"""Names as people write them, and the lines of a file that say one."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.tokens import term_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nodes.search.index import Index
    from nodes.search.types import Passage

LONGEST = 200
"""Characters of a name or of search words that are looked at."""
PROSE = ("#", "//", "*", "/*", "--", "..", '"', "'", "<!--")
"""How a line begins that speaks of a name more likely than it uses it."""
_PARTS = re.compile(r"[.:#/\\>\-]{1,3}")
_NAME = re.compile(r"[^\W\d][\w$]*[?!]?")


def name_parts(name: str) -> list[str]:
    """Split a name as people write it (``a.b``, ``A::b``, ``A#b``, ``a->b()``); nothing where it is no name."""
    plain = name.strip().strip("`'\"").removesuffix("()")
    parts = [part for part in _PARTS.split(plain[:LONGEST]) if part]
    return parts if all(_NAME.fullmatch(part) for part in parts) else []


def is_called(name: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether a definition's name and the wanted one agree as far as both go, from the end."""
    shared = min(len(name), len(wanted))
    return list(name[-shared:]) == list(wanted[-shared:])


def spread(places: Iterable[Passage]) -> list[Passage]:
    """Order uses so that one a function comes first: ten in one say less than one in each of ten."""
    seen: Counter[tuple[str, str | None, bool]] = Counter()
    ranked = []
    for number, place in enumerate(places):
        prose = "`" in place.quote or place.quote.lstrip().startswith(PROSE)
        seen[place.path, place.symbol, prose] += 1
        ranked.append((prose, seen[place.path, place.symbol, prose], number, place))
    return [place for *_, place in sorted(ranked, key=lambda item: item[:3])]


def first_mentions(
    index: Index, number: int, name: str, lines: Sequence[str], pattern: re.Pattern[str]
) -> frozenset[int]:
    """The lines of a file where definitions of that name say it."""
    mine = np.flatnonzero(index.def_file == number)
    rows = mine[index.def_last[mine] == term_hash(name)].tolist()
    found = set()
    for row in rows:
        span = range(int(index.def_start[row]), min(int(index.def_end[row]), len(lines)) + 1)
        found.add(next((line for line in span if pattern.search(lines[line - 1])), 0))
    return frozenset(found)
