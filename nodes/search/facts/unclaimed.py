"""Facts about functions that show a fault of other code: they are stated, and no claim rests on them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.search.facts.code import Code
    from nodes.search.facts.types import Fact

LONGEST = 80
"""Maximum number of lines of a function whose body may be empty on purpose; most of them are documentation."""
_PRINTS_CRASHES = re.compile(
    r"(?:panic|crash|fatal)_?(?:hook|handler|report|log|dump|screen|dialog)|exc(?:ept)?_?hook|last_?resort"
    r"|(?:un)?(?:caught|handled)_?(?:exception|error|rejection)|exception_?handler$|bug_?report|recover(?:y|ed)?$",
    re.IGNORECASE,
)
"""The name of a function or class through which every crash of a program passes."""
_DOCUMENTED = re.compile(r"[rub]{0,2}(\"\"\"|''')")
_COMMENT = re.compile(r"#|//|/\*|\*")
_EMPTY = re.compile(r"(?:pass|\.\.\.|return(?:\s{1,9}(?:None|null|nil|undefined))?;?|[{}();]{0,9}|end)$")


def limited(code: Code, fact: Fact) -> Fact:
    """Return a fact, marked if no claim may rest on it."""
    number = code.number(fact.path)
    if number is None or not fact.line or not fact.symbol or fact.sha:
        return fact
    if _PRINTS_CRASHES.search(fact.symbol.rpartition(".")[2]):
        return replace(fact, unclaimed=True)
    row = code.around(number, fact.line)
    if row is None or code.index.name_of(row) != fact.symbol:
        return fact
    start, end = int(code.index.def_start[row]), int(code.index.def_end[row])
    return replace(fact, unclaimed=True) if is_empty(code.lines(number)[start - 1 : end]) else fact


def is_empty(lines: Sequence[str]) -> bool:
    """Return whether a function has only a head, documentation and no statement that does anything."""
    if not 2 <= len(lines) <= LONGEST:
        return False
    body, quoted = list[str](), ""
    for line in map(str.strip, lines[_head(lines) :]):
        mark = _DOCUMENTED.match(line)
        if quoted:
            quoted = "" if quoted in line else quoted
        elif mark:
            quoted = "" if mark[1] in line[mark.end() :] else mark[1]
        elif line and not _COMMENT.match(line):
            body.append(line)
    # An empty function says so; a declaration without any body, or a constant, is none.
    return bool(body) and all(map(_EMPTY.match, body))


def _head(lines: Sequence[str]) -> int:
    """Return the number of lines up to the one that ends the head of a definition."""
    return next((at for at, line in enumerate(lines, 1) if line.rstrip().endswith((":", "{"))), len(lines))
