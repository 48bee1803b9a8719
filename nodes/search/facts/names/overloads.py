"""The overload of a function that a report means, by the types of the parameters that it gives."""

import re
from collections.abc import Sequence

from nodes.search.facts.code import Code
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names import Name

MAX_SIGNATURE, MAX_HEAD = 160, 6
"""Maximum number of characters of the parameters that a report gives, and of further lines of a definition's head."""
_MODIFIERS = re.compile(r"@\w+|\bfinal\b|\bconst\b")
_ARGUMENTS = re.compile(r"<[^<>]{0,80}>")


def overload(inquiry: FinderInput, row: int, name: Name) -> tuple[int, str]:
    """Return the definition with the types of parameters that the report gives after a name, and these types."""
    code, index = inquiry.code, inquiry.code.index
    symbol, file = index.name_of(row), int(index.def_file[row])
    wanted = (symbol, f"{symbol}.{name.last}")
    rows = [r for r in code.definitions(name.last) if int(index.def_file[r]) == file and index.name_of(r) in wanted]
    written = re.compile(rf"{re.escape(name.words)}\(([^()\n]{{1,{MAX_SIGNATURE}}})\)")
    for given in (found[1] for line in inquiry.issue.lines if len(rows) > 1 for found in written.finditer(line)):
        fits = [one for one in rows if _parameters(code, one) == types(given)]
        if len(fits) == 1:
            return fits[0], f"({given})"
    return row, ""


def _parameters(code: Code, row: int) -> list[str]:
    """Return the types of the parameters of a definition."""
    head = code.head(row)
    if head is None:
        return []
    lines = code.lines(code.span(row).number)[head.line - 1 : head.line + MAX_HEAD]
    return types_on(lines, head.place.rpartition(".")[2])


def types_on(lines: Sequence[str], name: str) -> list[str]:
    """Return the types of the parameters behind a name on the first lines of a definition."""
    found = re.search(rf"\b{re.escape(name)}\s?\(([^()]{{0,{4 * MAX_SIGNATURE}}})\)", " ".join(lines))
    # A class has no parameters; those of its constructor are further below.
    return types(found[1]) if found and found.start() < len(lines[0]) else []


def types(parameters: str) -> list[str]:
    """Return the types of parameters that are written as a type, with or without a name after it."""
    parts = (_ARGUMENTS.sub("", _MODIFIERS.sub("", part)).split() for part in parameters.split(","))
    return [" ".join(part[:-1] or part).rpartition(".")[2] for part in parts]
