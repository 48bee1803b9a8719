"""The repository's own code at a commit, read file by file within a budget."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.git import decode, is_text
from nodes.search.languages import language_of
from nodes.search.tokens import WORD, term_hash, terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from nodes.search.git import Repository
    from nodes.search.index import Index

MOST_FILES = 240
"""Files that are read for the facts of one issue."""
MOST_BYTES = 24_000_000
MOST_WIDTH = 1_000
"""Characters of a line that is worth quoting."""
OWN_SHARE, OWN_PART, OWN_FILES = 0.2, 0.05, 20
"""Share of the source files that a language must have to be the project's own, or a smaller share of many files."""
DECLARED = re.compile(r"\.(?:pyi|d\.[cm]?ts)$")
_TEST_SCOPE = re.compile(r"(?:^|\.)(?:tests?|Test[A-Z]\w*|mock\w*)(?:\.|$)")
AMALGAM = re.compile(r"(?:^|/)(?:single_?include|singleheader|single_header|amalgamat\w*|extras)/|_amalgamated\.")
"""Copies of the sources in one file, which some projects keep for their users."""


class Code:
    """Files, definitions and lines of one commit."""

    def __init__(self, repository: Repository, sha: str, index: Index, ignored: Iterable[int] = ()) -> None:
        """Read nothing yet; files of the ignored numbers do not count."""
        self.repository, self.sha, self.index = repository, sha, index
        self._ignored = frozenset(ignored)
        self._lines: dict[int, tuple[str, ...]] = {}
        self._bytes = 0

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages of the project's own code."""
        roles = self.index.roles
        counts = Counter(
            language
            for path, role in zip(self.index.paths, roles, strict=True)
            if role == "source" and (language := language_of(path))
        )
        total = sum(counts.values())
        return frozenset(
            family(language)
            for language, count in counts.items()
            if count >= OWN_SHARE * total or (count >= OWN_FILES and count >= OWN_PART * total)
        )

    @cached_property
    def own(self) -> npt.NDArray[np.bool_]:
        """By file: whether it is the project's own source."""
        return np.array([self._is_own(number) for number in range(len(self.index.paths))], bool)

    def _is_own(self, number: int) -> bool:
        path = self.index.paths[number]
        if self.index.roles[number] != "source" or number in self._ignored or DECLARED.search(path):
            return False
        language = language_of(path)
        return language is not None and family(language) in self.languages and not AMALGAM.search(path)

    def read(self, numbers: Iterable[int]) -> None:
        """Read files that were not read yet, as far as the budget goes."""
        wanted = [number for number in dict.fromkeys(numbers) if number not in self._lines]
        wanted = wanted[: max(0, MOST_FILES - len(self._lines))] if self._bytes < MOST_BYTES else []
        blobs = {number: self.index.blobs[number] for number in wanted}
        contents: dict[str, tuple[str, ...]] = {}
        for blob, content in self.repository.read(dict.fromkeys(blobs.values())):
            self._bytes += len(content)
            contents[blob] = tuple(decode(content).split("\n")) if is_text(content) else ()
        for number, blob in blobs.items():
            self._lines[number] = contents.get(blob, ())

    def lines(self, number: int) -> tuple[str, ...]:
        """Return the lines of a file, none where the budget is spent."""
        if number not in self._lines:
            self.read([number])
        return self._lines.get(number, ())

    def text(self, number: int, line: int) -> str | None:
        """Return a line verbatim, or None where there is none that could be quoted."""
        lines = self.lines(number)
        if not 1 <= line <= len(lines) or not lines[line - 1].strip() or len(lines[line - 1]) > MOST_WIDTH:
            return None
        return lines[line - 1].removesuffix("\r")

    def path(self, number: int) -> str:
        """Return the path of a file."""
        return self.index.paths[number]

    def number(self, path: str | None) -> int | None:
        """Return the number of a path, or None."""
        return self.index.number_of.get(path) if path is not None else None

    def definitions(self, name: str) -> list[int]:
        """Return the definitions in own code, tests inside it aside, whose last part is a name."""
        rows = np.flatnonzero(self.index.def_last == term_hash(name))
        mine = rows[self.own[self.index.def_file[rows]]].tolist() if len(rows) else []
        return [row for row in mine if not _TEST_SCOPE.search(self.index.name_of(row))]

    def around(self, number: int, line: int) -> int | None:
        """Return the innermost definition around a line, or None."""
        index = self.index
        first, last = int(index.first_def[number]), int(index.first_def[number + 1])
        starts, ends = index.def_start[first:last], index.def_end[first:last]
        inside = np.flatnonzero((starts <= line) & (ends >= line))
        return first + int(inside[-1]) if len(inside) else None

    def symbol(self, number: int, line: int) -> str | None:
        """Name the innermost definition around a line."""
        row = self.around(number, line)
        return self.index.name_of(row) if row is not None else None

    def is_tested(self, number: int, line: int) -> bool:
        """Whether a line stands in tests inside a source file, as Rust has them."""
        return bool(_TEST_SCOPE.search(self.symbol(number, line) or ""))

    def head(self, row: int) -> tuple[int, str] | None:
        """Return the line of a definition that holds its name, and that line."""
        index = self.index
        number, name = int(index.def_file[row]), index.name_of(row).rpartition(".")[2]
        start, end = int(index.def_start[row]), int(index.def_end[row])
        self.read([number])
        pattern = whole_word(name)
        for line in range(start, min(end, start + 40) + 1):
            text = self.text(number, line)
            if text and pattern.search(text) and not text.lstrip().startswith(("@", "#[", "//", "*", "/*")):
                return line, text
        return None

    def files_with(self, name: str) -> list[int]:
        """Return the own files whose index has a name; some may only have one that is spelled alike."""
        terms = terms_of(name)
        if not terms:
            return []
        found = self.index.match([term_hash(terms[-1])])
        files = np.unique(self.index.chunk_file[found.chunk])
        return [number for number in files.tolist() if self.own[number]]

    def users(self, name: str, enough: int) -> int:
        """Count the own files that hold a name as a whole word; more than ``enough`` are not counted out."""
        files = self.files_with(name)
        if len(files) > 4 * enough + 8:
            return len(files)
        self.read(files)
        pattern = whole_word(name)
        return sum(any(name in line and pattern.search(line) for line in self.lines(number)) for number in files)


def family(language: str) -> str:
    """Languages that are written side by side count as one."""
    return {"tsx": "javascript", "typescript": "javascript", "cpp": "c", "cython": "python"}.get(language, language)


def whole_word(name: str) -> re.Pattern[str]:
    """Match a name that is not part of a longer one."""
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def words_of(texts: Sequence[str]) -> set[str]:
    """Return the distinct words of some lines."""
    return {word for text in texts for word in WORD.findall(text)}
