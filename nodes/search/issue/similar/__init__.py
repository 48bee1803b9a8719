"""Finds issues about the same failure: a word search over all issues, then a comparison of each pair."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from nodes.search.issue.fingerprint import Fingerprint
from nodes.search.issue.similar.nearest import (
    BODY,
    FEW_ISSUES,
    TITLE,
    VERSION,
    IssueWords,
    Near,
    PastIndex,
    error_messages,
    shared,
    words_of,
)
from nodes.search.sentences import say

__all__ = ["VERSION", "IssueWords", "Likeness", "Near", "PastIndex", "Report", "compare", "words_of"]

SAME_TITLE, SAME_BODY = 0.85, 0.6
"""Minimum similarities for two texts that report the same; docs/accuracy.md has the pairs they were set by."""
LIKE_TITLE, LIKE_TEXT = 0.5, 0.5
"""Minimum similarities for two texts to confirm a crash whose fingerprint alone is not sure enough."""
CLOSE_TITLE, CLOSE = 0.3, 0.25
"""Minimum similarities for related issues. If the titles share nothing, the similar words come from a template."""
MANY_FRAMES = 3
"""With this number of equal frames, a call path is no coincidence, even if the messages differ."""
FEW_TITLE_WORDS, FEW_WORDS = 2, 5
"""Two texts that share fewer words never count as duplicates."""

_QUOTED = re.compile(r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|“[^”\n]{0,200}”")
_NUMBER = re.compile(r"\d+(?:\.\d+){0,5}")


@dataclass(frozen=True, slots=True)
class Report:
    """An issue in the form that is compared."""

    title: str
    words: IssueWords
    crashes: tuple[Fingerprint, ...] = ()
    errors: frozenset[str] = frozenset()
    """As ``error_messages`` returns them, with and without frames."""

    @classmethod
    def of(cls, title: str, body: str, crashes: tuple[Fingerprint, ...] = ()) -> Report:
        """Extract the words of an issue."""
        return cls(title, words_of(title, body), crashes, error_messages(body))


@dataclass(frozen=True, slots=True)
class Likeness:
    """The similarity of two issues, with the reason."""

    relation: Literal["duplicate", "related"] | None
    score: float
    """0..1; 1 for the same crash."""
    why: str = ""


def compare(one: Report, other: Report, past: PastIndex) -> Likeness:
    """Compare two issues.

    Args:
        one: the first issue as it is now.
        other: the second issue as it is now.
        past: the repository's issues, which determine how rare a word is.
    """
    title, body = past.likeness(one.words, other.words)
    score = round(TITLE * title + BODY * body, 4)
    same = _same_crash(one, other)
    # Crashes first: the same frames and message are the same failure, however differently people describe it.
    if same is not None and (_is_sure(same, other) or (title >= LIKE_TITLE and score >= LIKE_TEXT)):
        return Likeness("duplicate", 1.0, say("the same crash, {crash}", crash=_named(same)))
    # Short titles and untouched templates reach a high similarity with few words, so a minimum of shared words is
    # required.
    if title >= SAME_TITLE and body >= SAME_BODY and _says_enough(one, other) and _same_numbers(one.title, other.title):
        return Likeness("duplicate", score, say("title and text are nearly the same"))
    # Many different failures end in the same two frames, so fewer equal frames are not sufficient to relate issues.
    if same is not None and (same.basis == "message" or len(same.frames) >= MANY_FRAMES):
        why = say("the same kind of crash, {crash}", crash=_named(same))
        return Likeness("related", max(score, CLOSE), why)
    messages = sorted(error for error in one.errors & other.errors if past.holding(error) <= FEW_ISSUES)
    if messages:
        why = say("the same error with the same message, {error}", error=messages[0].partition(":")[0])
        return Likeness("related", max(score, CLOSE), why)
    if title >= CLOSE_TITLE and score >= CLOSE:
        return Likeness("related", score, say("title and text share words that are rare in issues"))
    return Likeness(None, score)


def _same_crash(one: Report, other: Report) -> Fingerprint | None:
    """Return a crash that both issues show, preferably one identified by its frames."""
    other_crashes = {crash.value for crash in other.crashes}
    same = [crash for crash in one.crashes if crash.value in other_crashes]
    return max(same, key=lambda crash: crash.basis == "frames", default=None)


def _is_sure(crash: Fingerprint, other: Report) -> bool:
    """Return whether frames and message are equal; frames alone do not suffice: different failures share them."""
    return crash.basis == "frames" and any(
        other_crashes.value == crash.value and other_crashes.message == crash.message for other_crashes in other.crashes
    )


def _named(crash: Fingerprint) -> str:
    where = crash.frames[0].rpartition(":")[0] if crash.frames else ""
    return f"{crash.error or 'an error'}{f' in {where}' if where else ''}"


def _says_enough(one: Report, other: Report) -> bool:
    titles = shared(one.words.title, other.words.title)
    return titles >= FEW_TITLE_WORDS and shared(one.words.body, other.words.body) >= FEW_WORDS


def _same_numbers(one: str, other: str) -> bool:
    """Return whether the numbers outside quotes are equal: Python 3.11 is not 3.12, but terms have no numbers."""
    return _numbers(one) == _numbers(other)


def _numbers(title: str) -> Counter[str]:
    return Counter(_NUMBER.findall(_QUOTED.sub(" ", title)))
