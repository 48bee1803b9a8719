"""Catalogues of the sentences that the App posts, one TOML file per language with the same keys and placeholders."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Final

ENGLISH: Final = "en"
LANGUAGES: Final = (ENGLISH, "de", "zh", "es", "ja")
_TEXTS = Path(__file__).with_name("texts")
_PLACEHOLDER = re.compile(r"\{([a-z]+)((?:\.[a-z]+)?)\}")
CODE: Final = r"(?:``(?:[^`\n]|`(?!`)){1,400}``|`[^`\n]{1,400}`)"
LINK: Final = rf"\[(?:{CODE}|[^\[\]`\n]){{1,400}}\]\([^\s()]{{1,900}}\)"
QUOTE: Final = r"“[^\n]{0,400}?”"
_KINDS: Final = {
    "code": CODE,
    "url": r"[^\s()]{1,900}",
    "quote": rf"{QUOTE}(?:, {QUOTE}){{0,9}}",
    "ref": rf"(?:{LINK}|{CODE})",
    # A narrow space separates thousands, as in ``bot.report.words.count``.
    "n": r"\d[\d,.\u202f]{0,12}(?<![,.\u202f])",
    "word": r"[^\s{}()“”`]{1,80}",
    "names": rf"{CODE}(?:, {CODE}){{0,19}}",
    "text": r"[^\n]{1,900}?",
    "part": r"[^\n]{1,900}?",
    "parts": r"[^\n]{1,900}?",
    "known": r"[^\n]{1,120}?",
}
"""What each kind of placeholder matches. ``part`` is translated if it is known, ``parts`` likewise piece by piece,
``known`` must be known; ``place`` is a code span or the words for *this file*;
every other kind is repeated verbatim."""


@dataclass(frozen=True)
class Sentence:
    """One sentence of one language: text with placeholders such as ``{code}`` or ``{code.path}``."""

    key: str
    text: str
    this_file: str
    """The language's words for *this file*, which stand for a path."""

    @cached_property
    def pieces(self) -> tuple[tuple[str, str], ...]:
        """Return the text in order, as pairs of literal text and the placeholder after it; the last has none."""
        found, at = list[tuple[str, str]](), 0
        for match in _PLACEHOLDER.finditer(self.text):
            found.append((self.text[at : match.start()], match[1] + match[2]))
            at = match.end()
        return (*found, (self.text[at:], ""))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the placeholders in order."""
        return tuple(name for _, name in self.pieces if name)

    @cached_property
    def needle(self) -> str:
        """Return the longest literal text, which every match contains."""
        return max((literal for literal, _ in self.pieces), key=len)

    @cached_property
    def weight(self) -> int:
        """Return the number of literal characters: the more there are, the more specific is the sentence."""
        return sum(len(literal) for literal, _ in self.pieces)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("".join(f"{re.escape(literal)}{self._group(name)}" for literal, name in self.pieces))

    def _group(self, name: str) -> str:
        if not name:
            return ""
        kind = name.partition(".")[0]
        # At the beginning of a sentence the words have a capital.
        this = re.escape(self.this_file)
        return f"({CODE}|{this}|{this[:1].upper()}{this[1:]})" if kind == "place" else f"({_KINDS[kind]})"

    def read(self, text: str) -> dict[str, str] | None:
        """Return the text of each placeholder, or None if the text is another sentence."""
        if self.needle not in text:
            return None
        match = self._pattern.fullmatch(text)
        return dict(zip(self.names, match.groups(), strict=True)) if match else None

    def fill(self, values: dict[str, str]) -> str:
        """Return the sentence with these texts, which are never formatted themselves."""
        return "".join(literal + values.get(name, "") for literal, name in self.pieces)


@dataclass(frozen=True)
class Catalogue:
    """The sentences of one language."""

    language: str
    sentences: dict[str, Sentence] = field(repr=False)

    @property
    def has_spaces(self) -> bool:
        """Return whether words and sentences are separated by spaces."""
        return self.language not in ("zh", "ja")

    @cached_property
    def _fixed(self) -> dict[str, Sentence]:
        return {sentence.text: sentence for sentence in self.sentences.values() if not sentence.names}

    @cached_property
    def _open(self) -> Sequence[tuple[str, Sentence]]:
        """Return each sentence with placeholders and its longest literal text, the most specific one first."""
        named = sorted(
            (sentence for sentence in self.sentences.values() if sentence.names), key=lambda item: -item.weight
        )
        return [(sentence.needle, sentence) for sentence in named]

    def candidates(self, text: str) -> list[tuple[Sentence, dict[str, str]]]:
        """Return the sentences that a text may be, the most specific one first, with the texts of placeholders."""
        if text in self._fixed:
            return [(self._fixed[text], {})]
        # Every line is compared with hundreds of sentences: a call for each costs more than this search.
        likely = [one for needle, one in self._open if needle in text]
        return [(candidate, values) for candidate in likely if (values := candidate.read(text)) is not None]


@cache
def catalogue(language: str) -> Catalogue:
    """Return a language's catalogue.

    Raises:
        FileNotFoundError: there is none; `LANGUAGES` lists those that exist.
    """
    tables = tomllib.loads((_TEXTS / f"{language}.toml").read_text("utf-8"))
    texts = {f"{table}.{name}": text for table, entries in tables.items() for name, text in entries.items()}
    this_file = texts["words.this_file"]
    return Catalogue(language, {key: Sentence(key, text, this_file) for key, text in texts.items()})
