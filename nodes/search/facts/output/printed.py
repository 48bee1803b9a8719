"""This module tells whether the code around a literal prints it: the calls and the statement that it is part of."""

import re
from pathlib import Path

from nodes.search.facts.output.literals import Literal
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections

_CLIMB, _LINE = 3, 240
MAX_BEFORE = 1_500
"""Number of characters before a literal that are read."""
_FORMS = load_sections(Path(__file__).with_name("printed.txt"))
_REPORTING_CALLS = lazy("|".join(_FORMS["call"]), re.IGNORECASE)
"""Names of calls that report a problem."""
_STATEMENT = lazy(rf"(?:[^;{{}}\n]{{0,200}}[;{{}}]\s*)?\s*(?:{'|'.join(_FORMS['statement'])})", re.IGNORECASE)
"""A statement that raises, logs, or assigns to a variable named like a message."""
_TABLE = lazy(_FORMS["table"][0], re.IGNORECASE)
"""A key of a table of messages."""
_CASE = lazy(r"\b(?:case|when|PREFIX|return)\b[^\n;]{0,120}$")
_COMMAND = lazy(r"(?:^|[\n;{|&(]|\b(?:then|do|else)\b)[ \t]{0,80}([\w.:-]{1,60}!?)(?:[ \t]+-[\w-]{1,30}){0,3}[ \t]+$")
"""A command or a call without parentheses, whose first argument follows."""
_CALL = lazy(r"([\w.!:$]+)\s*(?:<[\w, ]*>)?\s*$")


def is_printed(literal: Literal, symbol: str) -> bool:
    """Return whether the code around a literal raises, warns, logs or fails, or stores it in a table of errors."""
    before = literal.before
    names, start = enclosing(before)
    if _TABLE.search(before[-200:]) or any(_REPORTING_CALLS.search(name) for name in names):
        return True
    if _STATEMENT.match(before, _statement(before, start)):
        return True
    return bool(_CASE.search(before[-160:]) and re.search(r"err|warn|message|msg|reason|str", symbol, re.IGNORECASE))


def enclosing(before: str) -> tuple[list[str], int]:
    """Return the calls open at the end of a text, innermost first, and the offset where the outermost begins."""
    names: list[str] = []
    depth, start = 0, len(before)
    # Backwards, because the calls that are still open began last.
    for at in range(len(before) - 1, max(-1, len(before) - MAX_BEFORE), -1):
        character = before[at]
        if character in ")]}":
            depth += 1
        elif character == ";" and depth == 0:
            break
        elif character in "([{":
            if depth:
                depth -= 1
                continue
            if character == "{" or len(names) >= _CLIMB:
                break
            start = at
            if character == "(" and (call := _CALL.search(before[max(0, at - 120) : at])):
                names.append(call[1])
    if not names and (command := _COMMAND.search(before[-_LINE:])):
        names.append(command[1])
    return names, start


def _statement(before: str, start: int) -> int:
    """Return the offset of the start of the line on which a statement begins."""
    first = _line_start(before, start)
    while first and before[max(0, first - 40) : first].rstrip().endswith(("\\", "=", "<<", "+", "return")):
        first = _line_start(before, first - 1)
    return first


def _line_start(text: str, end: int) -> int:
    """Return the offset of the start of a line; a line that closes a bracket belongs to the line that opens it."""
    depth = 0
    for at in range(end - 1, max(-1, end - MAX_BEFORE), -1):
        if text[at] in ")]}":
            depth += 1
        elif text[at] in "([{":
            depth = max(0, depth - 1)
        elif text[at] == "\n" and not depth:
            return at + 1
    return text.rfind("\n", 0, end) + 1 if depth else 0
