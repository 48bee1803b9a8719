"""Lines that the report names by a class and a number, as ``org.acme.Kettle.boil(Water), on line 110``."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from nodes.search.facts.code import Code
from nodes.search.facts.names.named import SYMPTOM
from nodes.search.issue.located import MAX_LINE, Located

MAX_PLACES = 8
"""Maximum number of places of one report."""
# A line "of" something, with a column, after a colon or in an error is a line of the input that the class reads.
_CLASS = re.compile(
    r"(?<![A-Za-z0-9./\\#-])(?:[a-z]\w{0,40}\.){0,10}([A-Z][A-Za-z0-9]{3,80})(?:(?:\.|::|#)\w{1,80})?(?:\([^()\n]{0,120}\))?[`_*\"')]{0,3}"
    r"(?: (?:class|method|function|constructor))?(?: (?:fails|crashes|throws|breaks|stops))?"
    r"[\s,(\u2013-]{1,4}(?:(?:at|on|in|around) )?[Ll]ines? ?#?(\d{1,6})(?![\w%]|\.\d|:\d| of\b|,? ?col)"
)


def find_of_class(code: Code, lines: Sequence[str]) -> Iterator[tuple[int, Located, bool]]:
    """Yield each place and the index of its line, if only one own file is named like the class."""
    every = ((at, found) for at, line in enumerate(lines) for found in _CLASS.finditer(line[:MAX_LINE]))
    for at, found in islice(every, MAX_PLACES):
        names = (held for name, held in code.index.names.by_name.items() if name.startswith(f"{found[1]}."))
        paths = [code.path(number) for held in names for number in held if code.own[number]]
        if len(paths) == 1 and not SYMPTOM.search(found[1]):
            yield at, Located(paths[0], int(found[2]), int(found[2]), *found.span()), False


def names_class(path: str, words: str) -> bool:
    """Return whether words name the class of a file, and its line."""
    found = _CLASS.search(words)
    return found is not None and path.rpartition("/")[2].startswith(f"{found[1]}.")
