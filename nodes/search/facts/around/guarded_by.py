"""``guarded_by``: the condition under which the line of another fact is executed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.output.refusals import raises
from nodes.search.facts.places.moved import is_unsure
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.sentences import say
from nodes.search.tokens import indent_of

OF = frozenset({"built_here", "raised_here"})
"""Kinds of facts whose condition is useful to show."""
# 37 of 46 verified messages in Python have a condition within this distance.
FAR = 30
"""Maximum number of preceding lines that are read."""
MAX_CONDITIONS = 6
MAX_WRAPPED, MAX_WIDTH = 4, 160
"""Maximum number of continuation lines of a condition that are read, and of its characters that are shown."""
_CONDITION = re.compile(
    r"^\s*(?:\}\s*)?(?:@\w+\s)?"
    r"(?P<word>else if|elif|elsif|elseif|if|unless|case|when|while|except|catch|rescue|guard)\b(?!\s{1,9}__name__\s)"
)
_ELSE = re.compile(r"^\s{0,400}(?:\}\s{0,9})?(?:else|default)\s{0,9}[:{]?\s{0,99}$")
_NOTHING = re.compile(r"^\s*(?://|#(?!\s*(?:if|else|elif))|\*|/\*|$)")
_CAUGHT = ("except", "catch", "rescue")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the innermost condition around the line of each fact in the first files, unless it may have moved."""
    code = inquiry.code
    for fact in [fact for fact in inquiry.shown if fact.kind in OF or raises(fact)][:MAX_CONDITIONS]:
        number = code.number(fact.path)
        if number is None or fact.line is None or is_unsure(fact):
            continue
        row = code.index.definition_at(number, fact.line)
        # A condition outside the function decides whether it is defined, and not whether this line runs.
        first = int(code.index.def_start[row]) if row is not None else max(1, fact.line - FAR)
        found = guard(code.lines(number), fact.line, first)
        hit = code.hit(number, found[0]) if found else None
        if found and hit and (condition := _whole(code.lines(number), found[0])):
            says = _sentence(condition, holds=found[1])
            yield replace(hit, symbol=fact.symbol).fact("guarded_by", says, None, follows=fact.at)


def guard(lines: Sequence[str], line: int, first: int) -> tuple[int, bool] | None:
    """Return the line of the nearest enclosing condition, and whether the condition is true at the given line."""
    if not 1 <= line <= len(lines):
        return None
    column, holds = indent_of(lines[line - 1]), True
    for at in range(line - 1, max(first, line - FAR) - 1, -1):
        text = lines[at - 1]
        if _NOTHING.match(text) or len(text) > 1_000:
            continue
        indent = indent_of(text)
        # A line that is indented as far, or further, does not enclose the given one.
        if indent >= column:
            continue
        if _CONDITION.match(text):
            return at, holds
        # An ``else`` branch belongs to the condition that has the same indentation.
        holds, column = (False, indent + 1) if _ELSE.match(text) else (holds, indent)
    return None


def _whole(lines: Sequence[str], at: int) -> str:
    """Return the condition that begins on a line, with continuation lines; empty if it is too long."""
    joined = lines[at - 1].strip()
    for text in lines[at : at + MAX_WRAPPED]:
        if _depth(joined) <= 0 and not joined.endswith(("\\", "&&", "||", " and", " or")):
            break
        joined = f"{joined.rstrip(chr(92)).rstrip()} {text.strip()}"
    # Half a condition may state the opposite of the whole, so one that does not fit is not quoted.
    return joined if _depth(joined) <= 0 and len(joined) <= MAX_WIDTH else ""


def _depth(text: str) -> int:
    """Return the number of round brackets that remain open."""
    return text.count("(") - text.count(")")


def _sentence(text: str, *, holds: bool) -> str:
    word = _CONDITION.match(text)
    shown = text.rstrip("{: ").lstrip("} ")
    if word and word["word"] in _CAUGHT:
        return say("It runs where this catches an error: `{code}`.", code=shown)
    if holds:
        return say("It runs only under this condition: `{code}`.", code=shown)
    return say("It runs only if this is false: `{code}`.", code=shown)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line is a condition above the line that it guards, and less indented."""
    path, line = fact.follows or ("", 0)
    guarded = witness.line(path, line)
    if path != fact.path or guarded is None or fact.line is None or not fact.line < line <= fact.line + FAR:
        return "it is not above the line that it guards"
    if not _CONDITION.match(fact.text or "") or indent_of(fact.text or "") >= max(1, indent_of(guarded)):
        return "the line is not a condition around the other line"
    return None
