"""The languages that can be outlined. A new language takes one file and one line here."""

from __future__ import annotations

import re

from nodes.search.languages import (
    by_lines,
    c,
    cpp,
    csharp,
    go,
    grammar,
    java,
    javascript,
    kotlin,
    php,
    python,
    ruby,
    rust,
    scala,
    swift,
    typescript,
)
from nodes.search.languages.lexemes import Kind, pieces
from nodes.search.types import Outline

LANGUAGES = (
    c.LANGUAGE,
    cpp.LANGUAGE,
    csharp.LANGUAGE,
    go.LANGUAGE,
    java.LANGUAGE,
    javascript.LANGUAGE,
    kotlin.LANGUAGE,
    php.LANGUAGE,
    python.LANGUAGE,
    python.CYTHON,
    ruby.LANGUAGE,
    rust.LANGUAGE,
    scala.LANGUAGE,
    swift.LANGUAGE,
    typescript.LANGUAGE,
    typescript.TSX,
    typescript.COMPONENT,
    *by_lines.LANGUAGES,
)
_CPP_HEADER = re.compile(rb"^(namespace|template|class|using)\b|^[ \t]*(public|private|protected)\s*:", re.MULTILINE)
"""Lines that occur in a ``.h`` file only if it is C++."""
_BY_FILE = {file: language for language in LANGUAGES for file in language.files}
_BY_ENDING = {ending: language for language in LANGUAGES for ending in language.endings}


def language_of(path: str) -> str | None:
    """Return the grammar's name for a path, by its file name or ending; None if there is none."""
    language = _by_path(path)
    return language.name if language else None


def outline_without_parser(path: str, source: bytes) -> Outline | None:
    """Outline a file in time linear in its size; None if only the parser of its language can do that."""
    language = language_for(path, source)
    return Outline("text") if language is None else grammar.outline_without_parser(language, source)


def language_for(path: str, source: bytes) -> grammar.Language | None:
    """Return the language of a file, by its name and, for a C header, by its content; None for plain text."""
    language = _by_path(path)
    # Some endings are shared with data: a ``.ts`` file may be a video. Source never contains a NUL.
    if language is None or b"\0" in source:
        return None
    # C's grammar reads a C++ class as an error, and C++'s grammar reads nearly all of C, but not all.
    if language is c.LANGUAGE and path.endswith((".h", ".H")) and _CPP_HEADER.search(source):
        return cpp.LANGUAGE
    return language


def always_needs_parser(path: str) -> bool:
    """Return whether a file of this name needs a parser, unless it is large or minified."""
    language = _by_path(path)
    return language is not None and language.outline_by_lines is None


def has_grammar(path: str) -> bool:
    """Return whether the definitions of a file come from a syntax tree, which misses none."""
    language = _by_path(path)
    return language is not None and language.package != ""


def lexemes(path: str, text: str) -> list[tuple[Kind, str]]:
    """Split a few lines of a file into pieces with their kinds; the pieces joined are the text."""
    language = _by_path(path)
    return pieces(language.name, text) if language else [("", text)]


def _by_path(path: str) -> grammar.Language | None:
    name = path.rsplit("/", 1)[-1]
    if name in _BY_FILE:
        return _BY_FILE[name]
    dot = name.rfind(".")
    return _BY_ENDING.get(name[dot:].lower()) if dot > 0 else None
