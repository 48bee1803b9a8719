"""The words of a comment outside its folded sections."""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.report.words import spaced_words

QUESTION_WORDS = 130
"""Maximum visible words of a comment with a question; a question with options needs more words than a report."""
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
_HIDDEN = re.compile(r"<!--.*?-->", re.DOTALL)


def visible_words(body: str, count: Callable[[str], int] = spaced_words) -> int:
    """Return the number of words outside folded sections, as this function counts them."""
    return count(_HIDDEN.sub("", FOLDED.sub("", body)))
