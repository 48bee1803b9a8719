"""The forms of languages that have no grammar here: one table of ``forms.toml`` for each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_NAME = r"[^\W\d][\w.:]*[?!]?"
_TYPED = (
    r"(?:(?!(?:return|await|throw|new|else|case|yield|assert|in|if|for|while|switch|catch|delete|echo|print|const)\b)"
    r"[\w<>\[\],.?*&]+[ \t]+)"
)
_NO_CALL = r"(?!(?:if|for|while|switch|catch|return|elseif|foreach|synchronized|with|do|try|when|until|unless)\b)"
METHODS = (
    (
        "function",
        rf"{_TYPED}{{0,6}}{_NO_CALL}(?P<name>[^\W\d]\w*)(?:<[^<>()\n]{{0,80}}>)?[ \t]*"
        r"\([^()\n]{0,400}\)(?:[^;(){}=,\n]{0,200}(?:\{|=>)|[ \t]*$(?=\s{0,80}\{))",
    ),
    ("function", rf"{_TYPED}{{1,6}}{_NO_CALL}(?P<name>[^\W\d]\w*)[ \t]*\([\[{{]?[ \t]*$"),
)
"""A method as C, Java and Dart write it: types, name and parameters, then a body here or below; or only its first
line, if each parameter has a line."""


@dataclass(frozen=True, slots=True)
class Syntax:
    """The forms of one language."""

    name: str
    endings: str
    words: Mapping[str, str] = field(default_factory=dict)
    """The words before a definition's name, by its kind."""
    before: str = ""
    """Words that may precede those, such as ``pub``."""
    comment: str = "#"
    """The pattern that starts a comment up to the end of the line."""
    spans: tuple[tuple[str, str], ...] = ()
    """Patterns that start and end a comment or a string of several lines."""
    quotes: str = "\"'"
    """Characters that enclose strings."""
    across: bool = False
    """Whether an ordinary string may extend over lines."""
    named: str = _NAME
    """The pattern of a name after a word."""
    methods: bool = False
    """Whether methods are written as in C, without a word that defines."""
    others: tuple[tuple[str, str], ...] = ()
    """Kinds and patterns of further definitions; ``name`` is the name, ``owner`` what precedes it with a dot."""
    clauses: bool = False
    """Whether a function may have several clauses, each of which repeats its name."""

    def __hash__(self) -> int:
        """Identify a language by its name."""
        return hash(self.name)


def _load() -> tuple[Syntax, ...]:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return tuple(Syntax(name, **row) for name, row in table.items())


TABLE = _load()
