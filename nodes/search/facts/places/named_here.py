"""``named_here``: a file that the report names by its path, outside stack traces, or whose name is in the title."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.facts.names import BUILT_IN
from nodes.search.facts.places.linked_here import links
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import is_own
from nodes.search.issue.mentions.places import URL, is_path
from nodes.search.issue.query import COMPOUND
from nodes.search.tokens import STOPWORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nodes.search.facts.code import Code
    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.facts.witness import Witness

SHORTEST = 5
"""Minimum length of a word of the title that may be the name of a file."""
_WORD = re.compile(r"(?<![\w./\\@:#$-])[A-Za-z][\w-]{0,80}(?![\w/\\]|\.\w|::)")
_PREFIX = re.compile(r"(?:\s{0,9}\[[^\[\]]{0,40}\]){0,3}\s{0,9}([A-Za-z][\w-]{0,80}):\s")
"""The beginning of a title that names the part of the program that the issue is about."""
_INDEX = frozenset({"index", "mod", "lib", "__init__", "init", "main"})
"""Names of files that stand for their folder."""
_GENERAL = frozenset(word.casefold() for word in (*BUILT_IN, *STOPWORDS))
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
        yield from _by_title(inquiry)


def _by_title(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the file whose name is a compound word of the title or its prefix before a colon, if it is the only one.

    A plain word inside a title is usually no name: on development issues such a word led to the right first
    file in 2 of 9 cases.
    """
    code, found = inquiry.code, dict[int, str]()
    title = URL.sub(" ", inquiry.issue.title)
    prefix = _PREFIX.match(title)
    named = [word for word in _WORD.findall(title) if COMPOUND.search(word)] + ([prefix[1]] if prefix else [])
    words = dict.fromkeys(word for word in named if len(word) >= SHORTEST)
    by_name = _by_name(code) if words else {}
    for word in words:
        numbers = by_name.get(word.casefold(), [])
        if len(numbers) == 1 and word.casefold() not in _GENERAL and not code.definitions(word):
            found.setdefault(numbers[0], word)
    for number, word in found.items() if len(found) == 1 else ():
        path = code.path(number)
        says = f"The title has the word `{word}`, the name of one source file: `{path}`."
        yield Fact("named_here", says, word, path, count=1, strong=True, in_title=True)


def _by_name(code: Code) -> dict[str, list[int]]:
    """Return the files of own code by name in lower case; an index file has the name of its folder."""
    found = defaultdict[str, list[int]](list)
    numbers = {code.path(number): number for number in np.flatnonzero(code.own).tolist()}
    for path in _named(numbers):
        found[name_of(path)].append(numbers[path])
    return found


def _named(paths: Iterable[str]) -> list[str]:
    """Return the files that a title can name; an index file counts only if its folder has no other file."""
    every = list(paths)
    inside = Counter(path[:at] for path in every for at in range(len(path)) if path[at] == "/")
    return [path for path in every if not _is_index(path) or inside[path.rpartition("/")[0]] == 1]


def _is_index(path: str) -> bool:
    return path.casefold().rpartition("/")[2].partition(".")[0] in _INDEX


def name_of(path: str) -> str:
    """Return the name by which people call a file: without its ending; an index file has the name of its folder."""
    parts = path.casefold().split("/")
    return parts[-2] if _is_index(path) and len(parts) > 1 else parts[-1].partition(".")[0]


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the commit has the file and that its path ends with the words."""
    path, words = fact.path or "", fact.words or ""
    if fact.in_title:
        own = [one for one in witness.files() if is_own(one, path)]
        same = [one for one in _named(own) if name_of(one) == words.casefold()]
        return None if same == [path] else "the word is not the name of this file alone"
    if f"/{path}".endswith(f"/{words}") and witness.repository.entry(witness.sha, path) is not None:
        return None
    return "the words do not name this file"
