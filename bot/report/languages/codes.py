"""The languages of comments, by their codes."""

from typing import Final

ENGLISH: Final = "en"
LANGUAGES: Final = (ENGLISH, "de", "zh", "es", "ja")
