"""The languages of comments: catalogues of sentences, their translation, and the language of an issue."""

from typing import Final

ENGLISH: Final = "en"
LANGUAGES: Final = (ENGLISH, "de", "zh", "es", "ja")
