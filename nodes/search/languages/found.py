"""What was found in a file, put together: definitions inside one another, and the text of messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nodes.search.types import Definition

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_STRINGS = 400
"""Messages of a file that are kept."""
MAX_STRING = 300
MAX_NAME = 300
"""Characters of a dotted name beyond which what is inside starts a new one: deep nesting would fill the memory."""
_OPENING = re.compile(r"^[A-Za-z@$#]{0,3}[\"'`]{1,3}")
_CLOSING = re.compile(r"[\"'`]{1,3}#?$")


@dataclass(slots=True)
class Found:
    """A definition, or a block that only lends its name (``scope``), by itself."""

    kind: str
    name: str
    start: int
    """Byte."""
    end: int
    """Byte, exclusive."""
    start_line: int
    end_line: int


def nested(found: Iterable[Found]) -> tuple[Definition, ...]:
    """Prefix each name with those of the definitions around it; one node found twice counts once."""
    open_: list[tuple[int, str]] = []
    result: list[Definition] = []
    seen: set[tuple[int, int]] = set()
    for item in sorted(found, key=lambda f: (f.start, -f.end, f.kind == "scope")):
        if (item.start, item.end) in seen:
            continue
        seen.add((item.start, item.end))
        while open_ and open_[-1][0] < item.end:
            open_.pop()
        if open_ and open_[-1][0] == item.end and open_[-1][1].rpartition(".")[2] == item.name:
            continue  # a decorated definition holds the bare one
        full = f"{open_[-1][1]}.{item.name}" if open_ and len(open_[-1][1]) < MAX_NAME else item.name
        open_.append((item.end, full))
        if item.kind != "scope":
            result.append(_definition(item, full))
    return tuple(result)


def _definition(item: Found, name: str) -> Definition:
    kind: Any = "method" if item.kind == "function" and "." in name else item.kind
    return Definition(name, kind, item.start_line, item.end_line)


def message(quoted: bytes) -> str:
    """Return what a string literal says, if that is two words or more; most are no messages, and say nothing."""
    if b" " not in quoted:  # the rest costs time
        return ""
    text = _OPENING.sub("", quoted.decode("utf-8", "replace"))
    text = (text[:-8] + _CLOSING.sub("", text[-8:])).strip()
    return text[:MAX_STRING] if " " in text and len(text) < 4 * MAX_STRING else ""
