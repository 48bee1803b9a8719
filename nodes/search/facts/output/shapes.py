"""Errors of languages and their standard libraries, and the form of the code that raises each of them."""

import re
from pathlib import Path
from typing import NamedTuple

from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections

ERRORS = load_sections(Path(__file__).with_name("errors.txt"))
"""Patterns of errors' messages and forms of code by section: in a form, ``@name``, ``@count`` and ``@of`` are what the
message names."""
MADE = ERRORS["made"][0]
"""A line of Rust that makes a variant of an error, and does not import or match it."""


def messages(section: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of a section that has messages only."""
    return tuple(map(lazy, ERRORS[section]))


def _forms(section: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the pattern of each message of a section, and the form of code that goes with it."""
    rows = ERRORS[section]
    return tuple((lazy(error), form.strip()) for error, form in zip(rows[::2], rows[1::2], strict=True))


SHAPES = _forms("raised by")
"""An error's message, and the form of a line that raises it."""
# An argument that the code does not pass has a default, which another line declares.
_NAMING = tuple(
    (error, form) for error, form in SHAPES if re.search("@name|@count", form) and "Arg" not in error.pattern
)
EXPRESSIONS = (*_forms("expression"), *_NAMING)
"""An error's message, and an expression that names what the message names, or that is rare enough to be meant."""
_NEEDED = _forms("needed")
"""An error's message, and what every line that raises it contains."""


class Shape(NamedTuple):
    """An error's words in a text, a pattern of the lines that may raise it, and the name in it."""

    words: str
    form: re.Pattern[str]
    name: str
    of: str = ""
    """The value that was null, if the error names it."""


def shape_of(text: str) -> Shape | None:
    """Return the first error of a language in a text, or None."""
    return _form_of(SHAPES, text)


def is_possible(error: str, line: str) -> bool | None:
    """Return whether a line has what any line has that raises an error; None if nothing is known of the error."""
    needed = _form_of(_NEEDED, error)
    return None if needed is None else bool(needed.form.search(line))


def expression(error: str, line: str) -> tuple[str, str] | None:
    """Return the words of an error and the only expression of a line that can have raised it, or None."""
    found = _form_of(EXPRESSIONS, error)
    held = list(found.form.finditer(line)) if found and is_possible(error, line) is not False else []
    if found is None or len(held) != 1:
        return None
    code = held[0][0].strip(" =")
    return re.sub(r"^.+(?=.{90}$)", "…", found.words), f"{code}…)" if code.endswith("(") else code


def _form_of(table: tuple[tuple[re.Pattern[str], str], ...], text: str) -> Shape | None:
    for error, form in table:
        if found := error.search(text):
            held = found.groupdict()
            commas, name = max(1, int(held.get("count") or 2) - 1), held.get("name") or ""
            of = held.get("of") or ""
            pattern = form.replace("@count", str(commas)).replace("@name", re.escape(name))
            return Shape(found[0], re.compile(pattern.replace("@of", re.escape(of))), name, of)
    return None
