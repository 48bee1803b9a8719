"""Writes the App's English sentences in another language, from gettext catalogues: one ``.po`` file per language."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

from polib import pofile

from bot.report.languages.codes import ENGLISH, LANGUAGES
from nodes.messages import Message
from nodes.search.sentences import Sentence


class _Missing(NullTranslations):
    """Refuses what no catalogue has: gettext would return the English text, which may be a part of a sentence."""

    def gettext(self, message: str) -> str:
        raise LookupError(message)


@dataclass(frozen=True)
class Translator:
    """Writes sentences in one language; one without a translation of each of its parts stays English, as a whole."""

    language: str
    messages: Mapping[str, Message] = field(default_factory=dict)
    """The messages of stored sentences, by their English text."""

    def __call__(self, sentence: str) -> str:
        """Return a sentence in the language; other text, such as a model's, is returned as it is."""
        known = sentence if isinstance(sentence, Sentence) else self.messages.get(sentence)
        if self.language == ENGLISH or not sentence or (known is None and "{" in sentence):
            return sentence
        try:
            return self._write(known or Message(text=sentence))
        except LookupError:
            return sentence

    def _write(self, message: Sentence | Message) -> str:
        values = {
            name: self._write(value) if isinstance(value, Sentence | Message) else value
            for name, value in message.values.items()
        }
        text = _texts(self.language).gettext(message.text)
        return text.format(**values) if values else text

    def whole(self, part: str) -> "Translator":
        """Return the translator of a sentence with such a part: the one into English if the part has no translation."""
        return self if self(part) != part else Translator(ENGLISH)

    @property
    def has_spaces(self) -> bool:
        """Return whether words are separated by spaces."""
        return self.language not in ("zh", "ja")


def translator(code: str, messages: Mapping[str, Message] | None = None) -> Translator:
    """Return the translator into a language; into English, which changes nothing, if it has no catalogue."""
    return Translator(known_language(code), messages or {})


def known_language(code: str) -> str:
    """Return the catalogue for a language code; English if there is none, or if its script differs."""
    language = code.partition("-")[0]
    return language if language in LANGUAGES and code not in ("zh-TW", "zh-HK", "zh-MO") else ENGLISH


@cache
def _texts(language: str) -> NullTranslations:
    file = pofile(str(Path(__file__).with_name(f"{language}.po")))
    texts = GNUTranslations(BytesIO(file.to_binary()))
    texts.add_fallback(_Missing())
    return texts
