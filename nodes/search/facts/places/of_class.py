"""Lines that the report names by a class or a template and a number: ``org.acme.Kettle.boil(Water), on line 110``."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from nodes.search.facts.code import Code
from nodes.search.facts.names.named import SYMPTOM
from nodes.search.issue.located import MAX_LINE, Located
from nodes.search.tokens import load_sections

MAX_PLACES = 8
"""Maximum number of places of one report."""
# A line "of" something, with a column, after a colon or in an error is a line of the input that the class reads.
_CLASS = re.compile(
    r"(?<![A-Za-z0-9./\\#-])(?:[a-z]\w{0,40}\.){0,10}(?P<path>[A-Z][A-Za-z0-9]{3,80})(?:(?:\.|::|#)\w{1,80})?(?:\([^()\n]{0,120}\))?[`_*\"')]{0,3}"
    r"(?: (?:class|method|function|constructor))?(?: (?:fails|crashes|throws|breaks|stops))?"
    r"[\s,(\u2013-]{1,4}(?:(?:at|on|in|around) )?[Ll]ines? ?#?(?P<line>\d{1,6})(?![\w%]|\.\d|:\d| of\b|,? ?col)"
)

_NAMED = tuple(map(re.compile, load_sections(Path(__file__).with_name("origins.txt"))["named"]))


def find_of_class(code: Code, lines: Sequence[str], named: Iterable[str]) -> Iterator[tuple[int, Located, bool]]:
    """Yield each place and the index of its line, if one own file has the name; of a class if no file is ``named``."""
    is_apart = code.index.names.by_name.keys().isdisjoint(path.rpartition("/")[2] for path in named)
    forms = (*_NAMED, _CLASS) if is_apart else _NAMED
    numbered = [(at, line[:MAX_LINE]) for at, line in enumerate(lines)]
    every = ((at, found) for at, line in numbered for form in forms for found in form.finditer(line))
    for at, found in islice(every, MAX_PLACES):
        stem = re.split("[./]", found["path"])[-1]
        held = (numbers for name, numbers in code.index.names.by_name.items() if name.startswith(f"{stem}."))
        numbers = [number for same in held for number in same if _has_name(code.path(number), found["path"])]
        numbers = [number for number in numbers if code.own[number]] or numbers
        line = _line(code, numbers[0], found) if len(numbers) == 1 and not SYMPTOM.search(stem) else 0
        if line:
            yield at, Located(code.path(numbers[0]), line, line, *found.span()), False


def _line(code: Code, number: int, found: re.Match[str]) -> int:
    """Return the line that words give: its number, or the only one with the text that they quote."""
    written = found.groupdict()
    text = written.get("text")
    held = [at for at, line in enumerate(code.lines(number), 1) if text in line] if text else [int(written["line"])]
    return held[0] if len(held) == 1 else 0


def _has_name(path: str, name: str) -> bool:
    folder, slash, file = f"/{path}".rpartition("/")
    return f"{folder}{slash}{file.partition('.')[0]}".endswith(f"/{name.replace('.', '/')}")


def names_class(path: str, words: str) -> bool:
    """Return whether words name the class or the template of a file, and its line."""
    found = next(filter(None, (form.search(words) for form in (*_NAMED, _CLASS))), None)
    return found is not None and _has_name(path, found["path"])
