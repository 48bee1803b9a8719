"""The event on a frame's line, as far as the error and the parsed line agree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

MAX_LINE = 300
"""Maximum length of a line that is parsed, in characters."""
MAX_SHOWN = 48
"""Maximum length of an expression that a sentence shows."""
MAX_ARGUMENTS = 12
"""Maximum length of the arguments of a call that a sentence shows; longer ones are left out."""
_NAME = r"[`'\"\u2018]?(?P<name>[A-Za-z_$][\w$]{0,60}[!?]?)"
_NULL: tuple[re.Pattern[str], ...] = tuple(
    map(
        re.compile,
        (
            rf"'(?P<null>None)Type' object has no attribute {_NAME}",
            rf"Cannot read propert(?:y|ies) {_NAME}['\u2019]? of (?P<null>undefined|null)",
            rf"Cannot read properties of (?P<null>undefined|null) \(reading {_NAME}",
            rf"undefined method {_NAME}['\u2019`]? for (?P<null>nil)",
            rf"Cannot invoke \"[^\"\n]{{0,200}}\.{_NAME}\([^\"\n]{{0,200}}\" because .{{1,300}} is (?P<null>null)",
            rf"Cannot read field {_NAME}\" because .{{1,300}} is (?P<null>null)",
            rf"Call to a member function {_NAME}\(\) on (?P<null>null)",
        ),
    )
)
"""Messages that name the member of a value which was null."""
_PLAIN_NULL = re.compile(r"\b(?:NullPointerException|NullReferenceException)\b")
_NIL = re.compile(r"nil pointer dereference")
_KEY = re.compile(r"\bKeyError\b|\bKeyNotFoundException\b|[Uu]ndefined (?:array key|index)")
_INDEX = re.compile(r"\bI?ndex\w{0,20}OutOf(?:Bounds|Range)\w{0,20}|\bIndexError\b|index out of (?:range|bounds)", re.I)
_ZERO = re.compile(r"ZeroDivisionError|(?:division|divide|modulo) by zero|DivideByZeroException|divided by 0", re.I)
_NO_VALUE = re.compile(r"called `(?:Option|Result)::unwrap\(\)`")
_DEREFERENCE = re.compile(r"(?:\?\.|->|\.|&\.)(?=[A-Za-z_$])")
_MEMBER = re.compile(r"[A-Za-z_$][\w$]*[!?]?")
_DIVISION = re.compile(r"(?<=[\w)\]])\s?(?://?(?![/*=])|(?<=\s)%)\s?(?=[A-Za-z_(])")
_ASSERTION = re.compile(
    r"\b(?:assert\w{0,20}|ASSERT\w{0,20}|CHECK\w{0,12}|Debug\.Assert|debug_assert\w{0,4}|console\.assert)|\.(?:unwrap|expect)\("
)
_RAISES = re.compile(r"(?:raise|throw|panic!?|die|abort)\b|[\"'#*]|//")
"""A line that raises, or that begins with a string or a comment."""
_NEVER_NULL = frozenset({"this", "self", "super", "cls", "@"})


class Happened(NamedTuple):
    """The end of a sentence that begins with the function."""

    says: str
    asserts: bool = False
    """Whether the line is an assertion that failed: it shows the fault, and another line has it."""


def happened(text: str, error: str, message: str) -> Happened | None:
    """Return what a line did when an error occurred, or None if the two do not fit each other beyond doubt."""
    line = _of_code(text.strip())
    if not line or len(line) > MAX_LINE:
        return None
    whole = f"{error}: {message}"
    if _NO_VALUE.search(whole):
        return _unwrapped(line)
    return next(filter(None, (find(line, whole) for find in _FINDERS)), None)


def is_assertion(text: str) -> bool:
    """Return whether a line asserts or unwraps a value."""
    return bool(_ASSERTION.search(text))


def _null(line: str, whole: str) -> Happened | None:
    uses = {(member, value) for at, member in _members(line) if (value := _before(line, at))}
    for pattern in _NULL:
        if found := pattern.search(whole):
            return _of_null({use for use in uses if use[0] == found["name"]}, found["null"])
    word = "null" if _PLAIN_NULL.search(whole) else "nil" if _NIL.search(whole) else ""
    return _of_null({use for use in uses if not _is_type(use[1]) and use[1] not in _NEVER_NULL}, word) if word else None


def _of_null(uses: set[tuple[str, str]], word: str) -> Happened | None:
    if len(uses) != 1:
        return None
    ((member, value),) = uses
    shown = _shown(value)
    returned = f"what `{shown}` returns" if value.endswith(")") else f"`{shown}`"
    return Happened(f"uses `.{member}` on {returned}; the trace says that this was `{word}`.") if shown else None


def _key(line: str, whole: str) -> Happened | None:
    if not _KEY.search(whole):
        return None
    held = [one for one in _subscripts(line) if not one[1].isdigit()]
    if len(held) != 1 or not (shown := _shown(held[0][1])) or not (of := _shown(held[0][0])):
        return None
    return Happened(f"looks up `{shown}` in `{of}`; the trace says that this key is missing.")


def _index(line: str, whole: str) -> Happened | None:
    held = list(_subscripts(line)) if _INDEX.search(whole) else []
    shown = _shown(f"{held[0][0]}[{held[0][1]}]") if len(held) == 1 else ""
    return Happened(f"reads `{shown}`; the trace says that the index is out of range.") if shown else None


def _zero(line: str, whole: str) -> Happened | None:
    held = list(_DIVISION.finditer(line)) if _ZERO.search(whole) else []
    shown = _shown(_after(line, held[0].end())) if len(held) == 1 else ""
    return Happened(f"divides by `{shown}`; the trace says that this was zero.") if shown else None


def _asserted(line: str, whole: str) -> Happened | None:
    asserts = is_assertion(line) and ("assert" in whole.lower() or "panic" in whole)
    return Happened("fails its own check on this line.", asserts=True) if asserts else None


def _unwrapped(line: str) -> Happened | None:
    held = [value for at, member in _members(line) if member == "unwrap" and (value := _before(line, at))]
    shown = _shown(held[0]) if len(held) == 1 else ""
    return Happened(f"unwraps `{shown}`; the trace says that it has no value.", asserts=True) if shown else None


_FINDERS: tuple[Callable[[str, str], Happened | None], ...] = (_null, _key, _index, _zero, _asserted)


def _members(line: str) -> Iterator[tuple[int, str]]:
    """Yield the position of each access to a member, and the member."""
    for found in _DEREFERENCE.finditer(line):
        if (member := _MEMBER.match(line, found.end())) and not _is_quoted(line, found.start()):
            yield found.start(), member[0]


def _subscripts(line: str) -> Iterator[tuple[str, str]]:
    """Yield the subscripted value and the subscript of each ``value[subscript]``."""
    for at, one in enumerate(line):
        if one == "[" and at and (value := _before(line, at)) and not _is_quoted(line, at):
            inside = line[at + 1 : _closing(line, at)]
            if inside and ":" not in inside.lstrip(":"):
                yield value, inside.strip()


def _is_quoted(line: str, at: int) -> bool:
    """Return whether a position is inside a string, as far as the quotes before it tell."""
    return bool(line.count('"', 0, at) % 2 or line.count("'", 0, at) % 2)


def _before(line: str, end: int) -> str:
    """Return the expression that ends at a position: names, calls and subscripts joined by dots or arrows."""
    start = end
    while start:
        one = line[start - 1]
        if one in ")]":
            opened = _opening(line, start - 1)
            if opened < 0:
                return ""
            start = opened
        elif one.isalnum() or one in "_$@!?":
            start -= 1
        elif one == "." or line[start - 2 : start] in ("->", "::"):
            start -= 1 if one == "." else 2
        else:
            break
    return line[start:end].lstrip("!?.")


def _after(line: str, start: int) -> str:
    """Return the expression that begins at a position."""
    end = start
    while end < len(line):
        one = line[end]
        if one in "([":
            end = _closing(line, end) + 1
            if end <= 0:
                return ""
        elif one.isalnum() or one in "_$@." or line[end : end + 2] in ("->", "::"):
            end += 2 if line[end : end + 2] in ("->", "::") else 1
        else:
            break
    return line[start:end]


def _opening(line: str, closing: int) -> int:
    depth = 0
    for at in range(closing, -1, -1):
        depth += (line[at] in ")]") - (line[at] in "([")
        if not depth:
            return at
    return -1


def _closing(line: str, opening: int) -> int:
    depth = 0
    for at in range(opening, len(line)):
        depth += (line[at] in "([") - (line[at] in ")]")
        if not depth:
            return at
    return -1


def _is_type(value: str) -> bool:
    """Return whether an expression is a number, or a type with its namespace, which is never null."""
    parts = re.split(r"\.|->|::", value)
    return value[:1].isdigit() or all(part[:1].isupper() and part[-1:] not in ")]" for part in parts)


def _shown(value: str) -> str:
    """Return an expression without long arguments; empty if it is still too long for a sentence."""
    kept, at = "", 0
    while at < len(value):
        if value[at] == "(" and (end := _closing(value, at)) - at > MAX_ARGUMENTS:
            kept, at = f"{kept}(…)", end + 1
        else:
            kept, at = kept + value[at], at + 1
    return kept if 0 < len(kept) <= MAX_SHOWN and "`" not in kept else ""


def _of_code(line: str) -> str:
    """Return a line without its comment; empty if it raises an error itself, because then its values are no cause."""
    return "" if _RAISES.match(line) else re.split(r"\s(?:#|//|--)\s", line, maxsplit=1)[0]
