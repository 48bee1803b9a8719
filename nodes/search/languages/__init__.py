"""The languages that can be outlined: those with a grammar in ``languages.toml``, the others in ``forms.toml``."""

from nodes.search.languages.table import (
    LANGUAGES,
    always_needs_parser,
    has_grammar,
    language_for,
    language_of,
    outline_without_parser,
)

__all__ = [
    "LANGUAGES",
    "always_needs_parser",
    "has_grammar",
    "language_for",
    "language_of",
    "outline_without_parser",
]
