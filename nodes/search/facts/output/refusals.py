"""This module tells whether code raises, and whether it raises on purpose, because it checked its input."""

import re
from collections.abc import Iterator

from nodes.search.facts.types import Fact

SHORT_BODY = 8
"""Maximum number of lines of a function that may only raise."""
LONGEST_STATEMENT = 8
"""Maximum number of lines between the beginning of a statement and the given line."""
_REFUSAL = re.compile(
    r"(?:raise\b|throw\b|(?:return\s{1,20})?Err\(|bail!"
    r"|assert\b[^\n]{0,300}?,\s{0,50}(?:\\|\(?\s{0,50}[frb]{0,2}[\"']))"
)
"""A statement by which code rejects its input with an error message."""
_STATEMENT = re.compile(r"^\s*(?:if|for|while|return|yield|try|switch|match|[\w.]+\s*=[^=])")
_RAISE = re.compile(r"\b(?:raise|throw|panic!?|die|abort)\b")

_MAY_RAISE = re.compile(
    r"\b(?:raise|throw|panic!?|assert\w*!?|unreachable!?|unwrap\w*|expect|abort|fail\w*|bail!?|ensure!?|todo!?|error)\b|Err\("
)


def is_deliberate(lines: tuple[str, ...], start: int, end: int) -> bool:
    """Return whether the body of a function consists of one raise statement."""
    if end - start >= SHORT_BODY:
        return False
    body = [line for line in lines[start - 1 : end] if line.strip()]
    return any(_RAISE.search(line) for line in body[1:]) and not any(_STATEMENT.match(line) for line in body[1:])


def is_refusal(lines: tuple[str, ...], line: int, start: int = 1) -> bool:
    """Return whether the statement on a line raises deliberately, because the code checked its input."""
    # A trace may name the last line of a statement, and the word that raises is on its first.
    first, depth = line, _depth(lines[line - 1])
    while first > max(start, line - LONGEST_STATEMENT) and (depth < 0 or lines[first - 2].rstrip().endswith("\\")):
        first -= 1
        depth += _depth(lines[first - 1])
    heads = [first, *_opened_above(lines, line, start)]
    return any(_REFUSAL.match("\n".join(lines[head - 1 : line]).lstrip()) for head in heads)


def _opened_above(lines: tuple[str, ...], line: int, start: int) -> Iterator[int]:
    """Yield the lines above, nearest first, with a parenthesis or square bracket that is open at a line."""
    depth = most = 0
    for number in range(line - 1, max(start, line - LONGEST_STATEMENT) - 1, -1):
        text = lines[number - 1]
        depth += sum(text.count(item) for item in "([") - sum(text.count(item) for item in ")]")
        if depth > most:
            most = depth
            yield number


def _depth(text: str) -> int:
    """Return the number of brackets that a line leaves open; negative if it closes brackets of previous lines."""
    return sum(text.count(item) for item in "([{") - sum(text.count(item) for item in ")]}")


def is_raising(text: str) -> bool:
    """Return whether a line raises or may raise: it asserts, unwraps or aborts."""
    return bool(_MAY_RAISE.search(text))


def raises(fact: Fact) -> bool:
    """Return whether a fact is about a line that the report names by its number and that may raise."""
    return fact.kind == "named_here" and fact.strong and bool(fact.line) and is_raising(fact.text or "")
