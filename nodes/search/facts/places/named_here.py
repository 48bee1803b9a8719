"""``named_here``: a file that the report names by its path, outside stack traces, or whose name is in the title."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nodes.search.facts.places import title_names
from nodes.search.facts.places.linked_here import links
from nodes.search.facts.types import Fact
from nodes.search.issue.mentions.places import URL, is_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.facts.witness import Witness

FEW = 3
"""Maximum number of files; more do not identify a place."""
_PATH = re.compile(r"(?<![\w./\\@:~-])(?:\./)?((?:[\w@+.-]{1,100}/){1,20}[\w@+-][\w@+.-]{0,100}\.\w{1,6})(?![\w/-])")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the files of own code that the report's prose names with at least one folder, if there are few."""
    code, found = inquiry.code, dict[int, str]()
    linked = {link.path for link in links(inquiry.issue.body)}
    for line in (inquiry.issue.title, *inquiry.issue.prose):
        for words in _PATH.findall(URL.sub(" ", line)) if "/" in line else ():
            numbers = [n for n in code.ending(words) if code.own[n]] if is_path(words) else []
            if len(numbers) == 1 and code.path(numbers[0]) not in linked:
                found.setdefault(numbers[0], words)
    for number, words in found.items() if len(found) <= FEW else ():
        if inquiry.issue.holds(words):
            path = code.path(number)
            yield Fact("named_here", f"The report names the file `{path}`.", words, path, count=1, strong=True)
    if not found and not linked:
        yield from title_names.find(inquiry)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the commit has the file and that its path ends with the words, or that its name is in the title."""
    path, words = fact.path or "", fact.words or ""
    if fact.in_title:
        return title_names.check(fact, witness)
    if f"/{path}".endswith(f"/{words}") and witness.repository.entry(witness.sha, path) is not None:
        return None
    return "the words do not name this file"
