"""``called_from``: the few lines that call the function of another fact."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nodes.search.facts.code import whole_word
from nodes.search.facts.read_here import Docstrings
from nodes.search.facts.types import Fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.search.facts.code import Code
    from nodes.search.facts.inquiry import Inquiry
    from nodes.search.facts.witness import Witness

OF = frozenset({"built_here", "raised_here", "raised_on_purpose", "pasted_here", "linked_here"})
MOST = 3
"""Functions whose callers are looked for."""
FEW = 2
"""Calls; more say nothing."""
MOST_FILES = 16
_SPECIAL = re.compile(
    r"__\w+__|constructor|init|new|main|run|call|get|set|build|update|create|render|handle|execute|apply|parse"
)
_COMMENT = re.compile(r"^\s*(?:#|//|\*|/\*|--)")


def find(inquiry: Inquiry) -> Iterator[Fact]:
    """Yield the calls of the functions that strong facts lie in, where there are two at the most."""
    code, seen = inquiry.code, set()
    for fact in [fact for fact in inquiry.shown if fact.kind in OF and fact.symbol and fact.strong][:MOST]:
        name = (fact.symbol or "").rpartition(".")[2]
        if name in seen or len(name) < 4 or _SPECIAL.fullmatch(name) or len(code.definitions(name)) != 1:
            continue
        seen.add(name)
        calls = list(_calls(code, name))
        for number, line in calls if len(calls) <= FEW else ():
            text = code.text(number, line)
            if text is not None:
                caller = code.symbol(number, line)
                says = f"`{name}` is called here, in {f'`{caller}`' if caller else f'`{code.path(number)}`'}."
                yield Fact(
                    "called_from", says, None, code.path(number), line, text, name,
                    count=len(calls), follows=(fact.path or "", fact.line or 0),
                )  # fmt: skip


def _calls(code: Code, name: str) -> Iterator[tuple[int, int]]:
    files = code.files_with(name)
    if len(files) > MOST_FILES:
        yield from ((0, 0) for _ in range(FEW + 1))
        return
    code.read(files)
    call = re.compile(whole_word(name).pattern + r"\s*(?:<[\w, ]{0,40}>|!)?\(")
    for number in files:
        lines = code.lines(number)
        if not any(name in text for text in lines):
            continue
        quoted = Docstrings(lines)
        for line, text in enumerate(lines, 1):
            if name not in text or _COMMENT.match(text) or not call.search(text) or quoted.holds(line):
                continue
            symbol = code.symbol(number, line) or ""
            if symbol.rpartition(".")[2] != name and not code.is_tested(number, line):
                yield number, line


def check(fact: Fact, witness: Witness) -> str | None:
    """The line calls the name."""
    del witness
    called = re.compile(whole_word(fact.symbol or "").pattern + r"\s*(?:<[\w, ]{0,40}>|!)?\(")
    return None if fact.symbol and called.search(fact.text or "") else "the line does not call the name"
