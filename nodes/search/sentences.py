"""Sentences for people: English text that keeps its placeholders and their values, so it can be translated."""

from collections.abc import Mapping
from typing import Any


class Sentence(str):
    """An English sentence, or a part of one, with the text that it was filled from."""

    text: str
    """The text with named placeholders, by which the catalogues know it."""
    values: Mapping[str, str]
    """The values; those that are sentences are translated themselves, all others are repeated as they are."""

    def __getitem__(self, key: Any) -> str:
        """Return a part as plain text; a slice that cuts nothing off is still the sentence."""
        part = super().__getitem__(key)
        return self if part == self else part


def say(text: str, /, **values: str | int) -> Sentence:
    """Return an English sentence with values for placeholders such as ``{path}``; they are never formatted themselves.

    Babel finds the texts of these calls, so they are literals.
    """
    filled = {name: value if isinstance(value, str) else str(value) for name, value in values.items()}
    sentence = Sentence(text.format(**filled))
    sentence.text, sentence.values = text, filled
    return sentence
