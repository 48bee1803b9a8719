"""Parses names as people write them, and finds the lines of a file that contain a name."""

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
"""Maximum characters of a name or of search words that are read."""
PROSE = ("#", "//", "*", "/*", "--", "..", '"', "'", "<!--")
"""Starts of lines that more likely describe a name than use it."""
_PARTS = re.compile(r"[.:#/\\>\-]{1,3}")
_NAME = re.compile(r"[^\W\d][\w$]*[?!]?")


def name_parts(name: str) -> list[str]:
    """Split a name as people write it (``a.b``, ``A::b``, ``A#b``, ``a->b()``); an empty list if it is no name."""
    plain = name.strip().strip("`'\"").removesuffix("()")
    parts = [part for part in _PARTS.split(plain[:LONGEST]) if part]
    return parts if all(_NAME.fullmatch(part) for part in parts) else []


def is_called(name: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether one of two names ends with the other."""
    shared = min(len(name), len(wanted))
    return list(name[-shared:]) == list(wanted[-shared:])


def spread(places: Iterable[Passage]) -> list[Passage]:
    """Put the first use in each function first: ten uses in one function tell less than one in each of ten."""
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
    """Return the lines of a file at which definitions of that name contain it."""
    mine = np.flatnonzero(index.def_file == number)
    rows = mine[index.def_last[mine] == term_hash(name)].tolist()
    found = set()
    for row in rows:
        span = range(int(index.def_start[row]), min(int(index.def_end[row]), len(lines)) + 1)
        found.add(next((line for line in span if pattern.search(lines[line - 1])), 0))
    return frozenset(found)
