"""Find definitions and sections of documentation by the words of a question, without knowing a name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nodes.search.git.objects import decode, split_lines
from nodes.search.reading.lookups import SHORT, Source, passage
from nodes.search.tokens import STOPWORDS, WORD, terms_of
from nodes.search.types import Lookup

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from nodes.search.git import Repository
    from nodes.search.index import Index

MOST = 4
"""Passages per answer."""
PAGES = 200
"""Pages of documentation that are read."""
_PAGE = re.compile(r"\.(?:mdx?|rst|adoc|txt|markdown)$", re.IGNORECASE)
_STORY = re.compile(r"(?:^|/)(?:change|history|news|release|whatsnew|authors|todo)", re.IGNORECASE)
_HEADING = re.compile(r"#{1,5} +\S|={1,5} +\S")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#])\1{2,}\s*$")
_GENERAL = frozenset(
    """logic implementation implemented handling handled handle function functions method class file files module part
    place defined documented documentation docs line lines project repository support find locate show tell
    way""".split()
)
"""Words that say what kind of thing is wanted and not which one."""


def stems_of(question: str) -> frozenset[str]:
    """Return the stems of the words that say what a question is about."""
    words = (word.lower() for word in WORD.findall(question[:2_000]))
    asked = [word for word in words if word not in STOPWORDS and word not in _GENERAL]
    return frozenset(term for word in asked for term in terms_of(word)[:1])


def definitions_with(repository: Repository, index: Index, stems: Collection[str]) -> Lookup:
    """Return the definitions whose own names have all of these stems, those with the fewest other words first."""
    found = list[tuple[int, str, int, int]]()
    for row in range(len(index.def_file)):
        number = int(index.def_file[row])
        if index.roles[number] != "source":
            continue
        words = terms_of(index.name_of(row).rpartition(".")[2])
        if set(stems) <= set(words):
            found.append((len(words), index.paths[number], int(index.def_start[row]), row))
    chosen = [row for *_, row in sorted(found)[:MOST]]
    sources = _read(repository, index, {int(index.def_file[row]) for row in chosen})
    places = (
        passage(sources.get(int(index.def_file[row])), int(index.def_start[row]), int(index.def_end[row]), SHORT)
        for row in chosen
    )
    return Lookup(tuple(filter(None, places)), len(found))


def sections_with(repository: Repository, index: Index, stems: Collection[str]) -> Lookup:
    """Return the beginnings of sections of the documentation whose headings have all of these stems."""
    pages = [
        number
        for number, path in enumerate(index.paths)
        if index.roles[number] == "docs" and _PAGE.search(path) and not _STORY.search(path)
    ]
    found = [
        shown
        for source in _read(repository, index, pages[:PAGES]).values()
        for line in _headings(source.lines)
        if set(stems) <= {term for word in WORD.findall(source.lines[line - 1]) for term in terms_of(word)}
        and (shown := passage(source, line, line + 4, SHORT)) is not None
    ]
    return Lookup(tuple(found[:MOST]), len(found))


def _headings(lines: Sequence[str]) -> Iterator[int]:
    for number, text in enumerate(lines, 1):
        below = lines[number] if number < len(lines) else ""
        if _HEADING.match(text) or (text.strip() and _UNDERLINE.match(below) and not _UNDERLINE.match(text)):
            yield number


def _read(repository: Repository, index: Index, files: Collection[int]) -> dict[int, Source]:
    wanted = {number: index.blobs[number] for number in sorted(files)}
    contents = dict(repository.read(sorted(set(wanted.values()))))
    return {
        number: Source(index, number, split_lines(decode(contents[blob])))
        for number, blob in wanted.items()
        if blob in contents
    }
