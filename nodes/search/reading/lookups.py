"""Queries for names, lines and expressions in one commit: names are answered from the index before a file is read."""

import re
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import re2

from nodes.search.facts.names.documented_here import headings, is_page
from nodes.search.git import Repository
from nodes.search.git.objects import TEXT_LIMIT, cut, decode, is_text, split_lines
from nodes.search.index.index import Index
from nodes.search.tokens import LISTS, STOPWORDS, WORD, term_hash, terms_of
from nodes.search.types import Lookup, Passage

MAX_NAME = 200
"""Maximum characters of a name that are read."""
PROSE = ("#", "//", "*", "/*", "--", "..", '"', "'", "<!--")
"""Beginnings of lines that probably describe a name instead of using it."""
_PARTS = re.compile(r"[.:#/\\>\-]{1,3}")
_NAME = re.compile(r"[^\W\d][\w$]*[?!]?")
_ARGUMENTS = re.compile(r"<[^<>]{0,100}>")
"""Template arguments: definitions are stored without them, explicit specialisations too."""
DEFINITIONS, REFERENCES = 4, 8
"""Maximum passages per answer."""
FILES_READ = 60
"""Maximum files that are read to find uses of a name."""
PAGES_READ = 200
"""Maximum pages of documentation whose headings are read."""
_GENERAL = LISTS["of questions"]
"""Words that say what kind of thing is wanted and not which one."""
WHOLE, SHORT = 1_000, 320
"""Bytes of a single passage, and of one among several."""
RANK = {"source": 0, "config": 1}
"""Roles that come first; all others share one rank."""
EXPRESSION = 300
"""Maximum characters of an expression."""
_MEMORY = 8 << 20
"""Bytes that an expression may take when it is compiled."""
MAX_MATCHES = 2_000
"""Matching lines that are counted; the search ends there."""
_BYTES, _SECONDS = 400_000_000, 20.0
"""Maximum text that one search reads, and the time after which it ends."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file whose lines were read."""

    index: Index
    number: int
    lines: Sequence[str]
    """All lines, with their line endings."""


class Lookups:
    """Lookups in one commit. Names match exactly. No input is used as a pattern, a path or a revision."""

    def __init__(self, repository: Repository, commit: str, index: Index, ignore: Sequence[str] = ()) -> None:
        self._repository = repository
        self._commit = commit
        self._index = index
        self._ignored = frozenset(index.matching(ignore))

    def lines(self, path: str, start: int, end: int) -> Lookup | None:
        """Return lines of a text file of the commit, as many as fit; None if it has no such file."""
        if self._index.number_of.get(path, -1) in {-1, *self._ignored}:
            return None
        text = self._repository.text(self._commit, path)
        if text is None:
            return None
        source = Source(self._index, self._index.number_of[path], split_lines(text))
        found = passage(source, start, end, WHOLE)
        return Lookup((found,) if found else (), len(source.lines))

    def definitions(self, name: str) -> Lookup:
        """Return where a name is defined; a dotted name and the definition's match if one ends with the other."""
        wanted = name_parts(name)
        if not wanted:
            return Lookup()
        index, matching = self._index, self._called(wanted)
        best = sorted(matching, key=lambda row: self._order(int(index.def_file[row]), int(index.def_start[row])))
        return Lookup(self._quoted(best[:DEFINITIONS]), len(matching))

    def _called(self, wanted: Sequence[str]) -> list[int]:
        """Return the rows of the definitions with that name, or whose name ends it or ends with it."""
        index, found = self._index, list[int]()
        for row in np.flatnonzero(index.def_last == term_hash(wanted[-1])).tolist():
            # Either may be the longer one: people write ``Model.save`` for ``save`` and ``save`` for ``Model.save``.
            name = index.name_of(row).split(".")
            shared = min(len(name), len(wanted))
            if int(index.def_file[row]) not in self._ignored and name[-shared:] == list(wanted[-shared:]):
                found.append(row)
        return found

    def definitions_with(self, stems: Collection[str]) -> Lookup:
        """Return the definitions whose own names have all of these stems, those with the fewest other words first."""
        index = self._index
        found = list[tuple[int, str, int, int]]()
        for row, number in enumerate(index.def_file.tolist()):
            words = terms_of(index.name_of(row).rpartition(".")[2]) if index.roles[number] == "source" else ()
            if words and set(stems) <= set(words):
                found.append((len(words), index.paths[number], int(index.def_start[row]), row))
        return Lookup(self._quoted([row for *_, row in sorted(found)[:DEFINITIONS]], SHORT), len(found))

    def sections_with(self, stems: Collection[str]) -> Lookup:
        """Return the beginnings of sections of the documentation whose headings, with their path, have all stems."""
        index = self._index
        pages = (number for number, role in enumerate(index.roles) if role == "docs" and is_page(index.paths[number]))
        wanted = set(stems)
        found = [
            shown
            for number, source in self._sources(islice(pages, PAGES_READ)).items()
            for line in headings(source.lines)
            if wanted & (own := _terms(source.lines[line - 1]))
            and wanted <= own | _terms(index.paths[number])
            and (shown := passage(source, line, line + 4, SHORT)) is not None
        ]
        return Lookup(tuple(found[:DEFINITIONS]), len(found))

    def _quoted(self, rows: Sequence[int], size: int = WHOLE) -> tuple[Passage, ...]:
        """Quote definitions, with fewer bytes of each if there are several."""
        index, size = self._index, size if len(rows) == 1 else SHORT
        sources = self._sources(int(index.def_file[row]) for row in rows)
        spans = ((sources.get(int(index.def_file[row])), index.def_start[row], index.def_end[row]) for row in rows)
        found = (passage(source, int(start), int(end), size) for source, start, end in spans)
        return tuple(filter(None, found))

    def references(self, name: str, most: int = REFERENCES) -> Lookup:
        """Return lines that contain a name as a whole word, without its definitions; code comes before prose."""
        wanted = name_parts(name)
        if not wanted:
            return Lookup()
        places = list(self._uses(wanted[-1], self._files_with(wanted[-1])))
        return Lookup(tuple(spread(places)[:most]), len(places))

    def _files_with(self, name: str) -> list[int]:
        """Return the files whose index contains the name, the repository's own code first."""
        terms = terms_of(name)
        if not terms:
            return []
        # The last term is the compound identifier as a whole, which fewer files contain than its parts.
        matches = self._index.match([term_hash(terms[-1])])
        files = set(np.unique(self._index.chunk_file[matches.chunk]).tolist()) - self._ignored
        return sorted(files, key=lambda number: self._order(number, 0))[:FILES_READ]

    def _uses(self, name: str, files: Sequence[int]) -> Iterator[Passage]:
        # Not ``\b``: ``$`` is part of names in JavaScript and PHP, and a name may end in ``?`` or ``!``.
        pattern = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
        index = self._index
        sources = self._sources(files)
        for number in files:
            if number not in sources:
                continue
            source = sources[number]
            defined = set()
            for row in np.flatnonzero((index.def_file == number) & (index.def_last == term_hash(name))).tolist():
                span = range(int(index.def_start[row]), min(int(index.def_end[row]), len(source.lines)) + 1)
                # The name is not always on the first line of its definition: decorators and annotations precede it.
                defined.add(next((line for line in span if pattern.search(source.lines[line - 1])), 0))
            for line, text in enumerate(source.lines, 1):
                if pattern.search(text) and line not in defined and (found := passage(source, line, line, SHORT)):
                    yield found

    def _sources(self, files: Iterable[int]) -> dict[int, Source]:
        wanted = {number: self._index.blobs[number] for number in sorted(set(files))}
        # One git process reads all blobs; several paths may share a blob.
        contents = dict(self._repository.read(sorted(set(wanted.values()))))
        return {
            number: Source(self._index, number, split_lines(decode(contents[blob])))
            for number, blob in wanted.items()
            if blob in contents
        }

    def _order(self, number: int, line: int) -> tuple[int, str, int]:
        return RANK.get(self._index.roles[number], len(RANK)), self._index.paths[number], line


def stems_of(question: str) -> frozenset[str]:
    """Return the stems of the words that say what a question is about."""
    words = (word.lower() for word in WORD.findall(question[:2_000]))
    asked = [word for word in words if word not in STOPWORDS and word not in _GENERAL]
    return frozenset(term for word in asked for term in terms_of(word)[:1])


def name_parts(name: str) -> list[str]:
    """Split a name as people write it (``a.b``, ``A::b``, ``A#b``, ``a->b()``); an empty list if it is not a name."""
    plain = name[:MAX_NAME].strip().strip("`'\"").removesuffix("()")
    while (shorter := _ARGUMENTS.sub("", plain)) != plain:
        plain = shorter
    parts = [part for part in _PARTS.split(plain) if part]
    return parts if all(_NAME.fullmatch(part) for part in parts) else []


def spread(places: Iterable[Passage]) -> list[Passage]:
    """Put the first use in each function first: ten uses in one function are less informative than ten functions."""
    seen: Counter[tuple[str, str | None, bool]] = Counter()
    ranked = []
    for number, place in enumerate(places):
        # A guess by the line's start is enough here: it changes the order only, and a parser would cost more than the
        # lookup.
        prose = "`" in place.quote or place.quote.lstrip().startswith(PROSE)
        seen[place.path, place.symbol, prose] += 1
        ranked.append((prose, seen[place.path, place.symbol, prose], number, place))
    return [place for *_, place in sorted(ranked, key=lambda item: item[:3])]


def passage(source: Source | None, start: int, end: int, max_bytes: int) -> Passage | None:
    """Quote the lines from ``start`` (1-based) up to ``end``, as far as ``max_bytes`` bytes allow.

    Return None if the file was not read, has no such line, or its first line alone is too long.
    """
    if source is None or not 1 <= start <= end:
        return None
    size, last = 0, start - 1
    for line in source.lines[start - 1 : end]:
        size += len(line.encode("utf-8", "surrogatepass"))
        if size - line.endswith("\n") > max_bytes:
            break
        last += 1
    text = cut(list(source.lines), start, last)
    if not text or not text.strip():
        return None
    index, ends = source.index, min(end, len(source.lines))
    row = index.definition_at(source.number, start)
    return Passage(index.paths[source.number], start, last, text, None if row is None else index.name_of(row), ends)


def compile_expression(text: str, *, ignore_case: bool = False, longest: int | None = EXPRESSION) -> tuple[Any, bool]:
    """Compile an expression of RE2's syntax; at most ``longest`` of its characters are read.

    Returns:
        A pattern for bytes; whether the text is searched as it is, because it is not a valid expression.
    """
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    options.case_sensitive = not ignore_case
    pattern = text[:longest].encode("utf-8", "replace")
    try:
        # ``^`` and ``$`` are the ends of a line, as in every grep.
        return re2.compile(b"(?m)" + pattern, options), False
    except re2.error:
        return re2.compile(re2.escape(pattern), options), True


def grep(
    repository: Repository, files: Sequence[int], blobs: Sequence[str], pattern: Any
) -> tuple[dict[int, tuple[int, ...]], bool]:
    """Search some files, given by their numbers, for a pattern; ``blobs`` has the object id of each file of the commit.

    Returns:
        The 1-based numbers of the matching lines by file, in the order of the files; whether every file was searched.
    """
    found: dict[int, tuple[int, ...]] = {}
    until, size, left = time.monotonic() + _SECONDS, 0, MAX_MATCHES
    numbers: dict[str, list[int]] = {}
    for number in files:
        numbers.setdefault(blobs[number], []).append(number)
    for blob, content in repository.read(list(numbers)):
        size += len(content)
        if left <= 0 or size > _BYTES or time.monotonic() > until:
            return found, False
        if len(content) > TEXT_LIMIT or not is_text(content):
            continue
        lines = tuple(islice(_lines(pattern, content), left))
        for number in numbers[blob] if lines else ():
            found[number] = lines
            left -= len(lines)
    return found, left > 0


def _terms(text: str) -> set[str]:
    return {term for word in WORD.findall(text) for term in terms_of(word)}


def _lines(pattern: Any, content: bytes) -> Iterator[int]:
    """Yield the numbers of the lines in which a match begins, each once."""
    line, counted, last = 1, 0, 0
    for match in pattern.finditer(content):
        start = match.start()
        # A match of nothing after the last line feed is in no line.
        if start == len(content) and content.endswith(b"\n"):
            return
        line += content.count(b"\n", counted, start)
        counted = start
        if line != last:
            last = line
            yield line
