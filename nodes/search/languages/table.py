"""The languages that can be outlined, by the names of their files."""

import re
import tomllib
from pathlib import Path
from typing import Any

from nodes.search.languages import by_lines, grammar, python
from nodes.search.languages.grammar import Language
from nodes.search.types import Outline

_OUTLINES = {"python": python.outline_by_lines}
"""Languages with a grammar whose plainly written files need no parser."""
_CPP_HEADER = re.compile(rb"^(namespace|template|class|using)\b|^[ \t]*(public|private|protected)\s*:", re.MULTILINE)
"""Lines that occur in a ``.h`` file only if it is C++."""


def _language(key: str, table: dict[str, dict[str, Any]]) -> Language:
    row = {**table.get(table[key].get("like", ""), {}), **table[key]}
    words = {name: tuple(row.get(name, "").split()) for name in ("endings", "files")}
    name = row.get("name", key)
    return Language(
        name,
        words["endings"],
        package=row["package"],
        queries=tuple(row.get("queries", name).split()),
        factory=row.get("factory", "language"),
        files=words["files"],
        outline_by_lines=_OUTLINES.get(key),
    )


def _load() -> dict[str, Language]:
    table = tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))
    return {key: _language(key, table) for key in table}


BY_KEY = {**_load(), **by_lines.LANGUAGES}
LANGUAGES = tuple(BY_KEY.values())
_BY_FILE = {file: language for language in LANGUAGES for file in language.files}
_BY_ENDING = {ending: language for language in LANGUAGES for ending in language.endings}


def language_by_path(path: str) -> Language | None:
    """Return the language that a file's name or ending indicates."""
    name = path.rsplit("/", 1)[-1]
    if name in _BY_FILE:
        return _BY_FILE[name]
    dot = name.rfind(".")
    return _BY_ENDING.get(name[dot:].lower()) if dot > 0 else None


def language_of(path: str) -> str | None:
    """Return the grammar's name for a path, by its file name or ending; None if there is none."""
    language = language_by_path(path)
    return language.name if language else None


def outline_without_parser(path: str, source: bytes) -> Outline | None:
    """Outline a file in time linear in its size; None if only the parser of its language can do that."""
    language = language_for(path, source)
    return Outline("text") if language is None else grammar.outline_without_parser(language, source)


def language_for(path: str, source: bytes) -> Language | None:
    """Return the language of a file, by its name and, for a C header, by its content; None for plain text."""
    language = language_by_path(path)
    # Some endings are shared with data: a ``.ts`` file may be a video. Source never contains a NUL.
    if language is None or b"\0" in source:
        return None
    # C's grammar reads a C++ class as an error, and C++'s grammar reads nearly all of C, but not all.
    if language.name == "c" and path.endswith((".h", ".H")) and _CPP_HEADER.search(source):
        return BY_KEY["cpp"]
    return language


def always_needs_parser(path: str) -> bool:
    """Return whether a file of this name needs a parser, unless it is large or minified."""
    language = language_by_path(path)
    return language is not None and language.outline_by_lines is None


def has_grammar(path: str) -> bool:
    """Return whether the definitions of a file come from a syntax tree, which misses none."""
    language = language_by_path(path)
    return language is not None and language.package != ""
