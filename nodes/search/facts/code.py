"""The repository's own code at a commit, read file by file within a budget."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nodes.search.facts.types import Fact, Hit
from nodes.search.git import Repository
from nodes.search.git.objects import decode, is_text
from nodes.search.history.names import own_names
from nodes.search.history.versions import Releases, read_releases
from nodes.search.index.columns import Flags
from nodes.search.index.index import Index
from nodes.search.languages.table import language_of
from nodes.search.paths.roles import COPIED
from nodes.search.tokens import term_hash, terms_of

if TYPE_CHECKING:
    from nodes.search.history.log import Log

MAX_FILES = 240
"""Maximum number of files that are read for the facts of one issue."""
MAX_BYTES = 24_000_000
MAX_WIDTH = 1_000
"""Maximum length of a line that is quoted, in characters."""
OWN_SHARE, OWN_FILES = 0.2, 20
"""Minimum share, or number, of scripts among the source files for scripts of a site to count as own code."""
_SITE = re.compile(r"(?:^|/)(?:_?static|assets?|public|media|htdocs|www|webroot|themes?|resources|jslib|js/libs?)/")
"""A folder into which programs in other languages copy scripts for browsers, such as `jquery.js`."""
_TEST_SCOPE = re.compile(r"(?:^|\.)(?:tests?|Test[A-Z]\w*|mock\w*)(?:\.|$)")
_TRIPLE = re.compile(r"\"{3}|'{3}")
_OPENS = re.compile(rf"\s{{0,80}}[rRbBuU]{{0,2}}(?:{_TRIPLE.pattern})")


class Span(NamedTuple):
    """Lines of a file."""

    number: int
    """The number of the file."""
    start: int
    end: int
    """1-based and inclusive."""


class Code:
    """Files, definitions and lines of one commit."""

    def __init__(self, repository: Repository, sha: str, index: Index, ignored: Iterable[int] = ()) -> None:
        """Set up access without reading a file; files with ignored numbers are excluded."""
        self.repository, self.sha, self.index = repository, sha, index
        self._ignored = frozenset(ignored)
        self._lines: dict[int, tuple[str, ...]] = {}
        self._bytes = 0
        self._files: dict[int, list[int]] = {}

    @cached_property
    def log(self) -> Log:
        """Return the history up to the commit."""
        from nodes.search.history import log  # noqa: PLC0415 - few callers need the history

        return log.Log(self.repository, self.sha)

    @cached_property
    def names(self) -> frozenset[str]:
        """Return possible names of the project, normalised by ``plain``."""
        return own_names(self.repository, dict(zip(self.index.paths, self.index.blobs, strict=True)))

    @cached_property
    def releases(self) -> dict[str, Releases]:
        """Return the releases by series that were made before the commit."""
        return read_releases(self.repository, self.log.committed_at)

    @cached_property
    def own(self) -> Flags:
        """Return, for each file, whether it is the project's own source."""
        roles, paths = self.index.roles, self.index.paths
        spoken = {
            number: family(language)
            for number, role in enumerate(roles)
            if role == "source" and (language := language_of(paths[number]))
        }
        scripts = sum(language == "javascript" for language in spoken.values())
        few = scripts < OWN_SHARE * len(spoken) and scripts < OWN_FILES
        own = np.zeros(len(paths), bool)
        for number, language in spoken.items():
            copied = COPIED.search(paths[number]) or (few and language == "javascript" and _SITE.search(paths[number]))
            own[number] = number not in self._ignored and not copied
        return own

    def is_ignored(self, number: int) -> bool:
        """Return whether a maintainer excluded a file."""
        return number in self._ignored

    def has_frames(self, number: int) -> bool:
        """Return whether a stack trace may pass through a file: own source, also in languages without a grammar."""
        role = self.index.roles[number]
        is_other = role in ("source", "config", "data") and language_of(self.path(number)) is None
        return bool(self.own[number]) or ((is_other or role == "example") and not self.is_ignored(number))

    def ending(self, words: str) -> list[int]:
        """Return the files whose path equals the words or ends with them after a slash."""
        named = self.index.names.by_name.get(words.rpartition("/")[2], [])
        return [number for number in named if f"/{self.path(number)}".endswith(f"/{words}")]

    def read(self, numbers: Iterable[int]) -> None:
        """Read the files that have not been read yet, within the budget."""
        wanted = [number for number in dict.fromkeys(numbers) if number not in self._lines]
        # All finders share the budget. A file beyond it has no lines, so no fact is about it.
        wanted = wanted[: max(0, MAX_FILES - len(self._lines))] if self._bytes < MAX_BYTES else []
        blobs = {number: self.index.blobs[number] for number in wanted}
        contents: dict[str, tuple[str, ...]] = {}
        for blob, content in self.repository.read(dict.fromkeys(blobs.values())):
            self._bytes += len(content)
            contents[blob] = tuple(decode(content).split("\n")) if is_text(content) else ()
        # Equal files share a blob, which is read once.
        for number, blob in blobs.items():
            self._lines[number] = contents.get(blob, ())

    def lines(self, number: int) -> tuple[str, ...]:
        """Return the lines of a file, or none if the budget is used up."""
        if number not in self._lines:
            self.read([number])
        return self._lines.get(number, ())

    def text(self, number: int, line: int) -> str | None:
        """Return a line verbatim, or None if there is no such line or it is too long to quote."""
        lines = self.lines(number)
        if not 1 <= line <= len(lines) or not lines[line - 1].strip() or len(lines[line - 1]) > MAX_WIDTH:
            return None
        return lines[line - 1].removesuffix("\r")

    @cached_property
    def top_folders(self) -> frozenset[str]:
        """Return the top folders that contain own source."""
        paths = (self.path(number) for number in np.flatnonzero(self.own).tolist())
        return frozenset(path.partition("/")[0] for path in paths if "/" in path)

    def path(self, number: int) -> str:
        """Return the path of a file."""
        return self.index.paths[number]

    def number(self, path: str | None) -> int | None:
        """Return the number of a path, or None."""
        return self.index.number_of.get(path) if path is not None else None

    def definitions(self, name: str, number: int | None = None) -> list[int]:
        """Return the definitions in own code, or in a file, whose last part equals a name; without those of tests."""
        rows = np.flatnonzero(self.index.def_last == term_hash(name))
        files = self.index.def_file[rows]
        own_rows = rows[self.own[files] if number is None else files == number].tolist() if len(rows) else []
        return [row for row in own_rows if not is_test(self.index.name_of(row))]

    def symbol(self, number: int, line: int) -> str | None:
        """Return the name of the innermost definition around a line."""
        row = self.index.definition_at(number, line)
        return self.index.name_of(row) if row is not None else None

    def hit(self, number: int, line: int) -> Hit | None:
        """Return a line with its file and definition, or None if it cannot be quoted."""
        text = self.text(number, line)
        return None if text is None else Hit(self.path(number), line, text, self.symbol(number, line))

    def few(self, hits: Iterable[Hit]) -> list[Hit]:
        """Return the first hit of each function, or of each file outside functions."""
        found = dict[tuple[str, str | None], Hit]()
        for hit in hits:
            if (number := self.number(hit.path)) is not None and hit.text.strip():
                symbol = self.symbol(number, hit.line)
                found.setdefault((hit.path, symbol), replace(hit, symbol=symbol))
        return list(found.values())

    def row_of(self, fact: Fact) -> int | None:
        """Return the definition around the line of a fact about the commit that is read."""
        number = self.number(fact.path)
        return (
            self.index.definition_at(number, fact.line) if number is not None and fact.line and not fact.sha else None
        )

    def path_of(self, row: int) -> str:
        """Return the path of the file that has a definition."""
        return self.path(int(self.index.def_file[row]))

    def is_tested(self, number: int, line: int) -> bool:
        """Return whether a line is in tests inside a source file, as is common in Rust."""
        return is_test(self.symbol(number, line))

    def span(self, row: int) -> Span:
        """Return the lines of a definition."""
        return Span(*(int(column[row]) for column in (self.index.def_file, self.index.def_start, self.index.def_end)))

    def head(self, row: int) -> Hit | None:
        """Return the line of a definition that contains its name."""
        (number, start, end), symbol = self.span(row), self.index.name_of(row)
        self.read([number])
        pattern = whole_word(symbol.rpartition(".")[2])
        # A definition may begin with decorators or comments, so its name is not always on its first line.
        for line in range(start, min(end, start + 40) + 1):
            text = self.text(number, line)
            if text and pattern.search(text) and not text.lstrip().startswith(("@", "#[", "//", "*", "/*")):
                return Hit(self.path(number), line, text, symbol)
        return None

    def look_up(self, names: Iterable[str]) -> None:
        """Find the files of many names in one pass over the index, which costs the same as for one name."""
        hashes = {hash_of(name) for name in names} - self._files.keys() - {None}
        wanted = sorted(value for value in hashes if value is not None)
        found = self.index.match(wanted) if wanted else None
        # Also for names that no file contains, so that they are not looked up again.
        for value in wanted:
            self._files[value] = []
        numbers = self.index.chunk_file[found.chunk].tolist() if found else ()
        for term, number in sorted(set(zip(found.term.tolist(), numbers, strict=True))) if found else ():
            self._files[wanted[term]].append(number)

    def holding(self, name: str) -> list[int]:
        """Return the files of any role whose index contains a name; some may only contain a similarly spelled one."""
        self.look_up([name])
        value = hash_of(name)
        return self._files[value] if value is not None else []

    def files_with(self, name: str) -> list[int]:
        """Return the project's own files among ``holding``."""
        return [number for number in self.holding(name) if self.own[number]]

    def chunks_with(self, wanted: Mapping[str, Iterable[int]], *, own: bool = True) -> dict[str, list[int]]:
        """Return the chunks, of own code or any, that have all terms of a text; terms are given as their hashes."""
        hashes = sorted({value for values in wanted.values() for value in values})
        if not hashes:
            return {}
        found = self.index.match(hashes)
        counts = self.own[self.index.chunk_file[found.chunk]] | (not own)
        term, chunk = found.term[counts], found.chunk[counts]
        # Numbers of few bits are sorted ten times as fast.
        order = np.argsort(term.astype(np.min_scalar_type(len(hashes))), kind="stable")
        bounds = np.searchsorted(term[order], np.arange(len(hashes) + 1))
        # Sorted and distinct, as in the index.
        held = {value: chunk[order[bounds[at] : bounds[at + 1]]] for at, value in enumerate(hashes)}
        return {text: _in_all([held[value] for value in values]) for text, values in wanted.items()}

    def count_users(self, name: str, enough: int) -> int:
        """Count the own files that contain a name as a whole word; stop counting at more than ``enough``."""
        files = self.files_with(name)
        # The index also lists files with a similarly spelled name, so only a clear excess is certain without reading.
        if len(files) > 4 * enough + 8:
            return len(files)
        self.read(files)
        pattern = whole_word(name)
        return sum(any(name in line and pattern.search(line) for line in self.lines(number)) for number in files)


def _in_all(sets: Sequence[np.ndarray[tuple[int], np.dtype[np.int32]]]) -> list[int]:
    """Return what is in every set; each is sorted, and the smallest is compared first."""
    left, *others = sorted(sets, key=len) or [np.zeros(0, np.int32)]
    for other in others:
        left = left[np.isin(left, other, assume_unique=True)]
    return left.tolist()


def is_test(symbol: str | None) -> bool:
    """Return whether the name of a definition is that of a test."""
    return bool(_TEST_SCOPE.search(symbol or ""))


def outside_docstrings(lines: Sequence[str], near: Iterable[int]) -> list[int]:
    """Return those of some lines that are not inside a triple-quoted string, as Python has documentation."""
    wanted, inside, mark = list(near), set[int](), ""
    for number, line in enumerate(lines if wanted else (), 1):
        if mark or _OPENS.match(line):
            inside.add(number)
        for quotes in _TRIPLE.findall(line):
            mark = "" if mark == quotes else mark or quotes
    return [number for number in wanted if number not in inside]


def hash_of(name: str) -> int | None:
    """Return the index's hash of a complete name, or None if it has none."""
    terms = terms_of(name)
    return term_hash(terms[-1]) if terms else None


def family(language: str) -> str:
    """Return one name for languages that are used together, such as C and C++."""
    return {"tsx": "javascript", "typescript": "javascript", "cpp": "c", "cython": "python"}.get(language, language)


def whole_word(name: str) -> re.Pattern[str]:
    """Return a pattern that matches a name only as a whole word; a name with dashes does not continue at a dash."""
    dash = "-" if "-" in name else ""
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w${dash}])")
