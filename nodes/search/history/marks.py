"""Find versions, days, SHAs and numbers of changes in prose, each with its position."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

MarkKind = Literal["day", "version", "number", "sha"]

_SENTENCE = 400
_LINE = 2_000
_PROJECT = r"https?://[^\s/]{1,100}/[^\s/]{1,100}/[^\s/]{1,100}"
_OTHER_ADDRESS = re.compile(rf"(?!{_PROJECT}/(?:commits?|pull|issues)/)https?://[^\s<>()\]]{{1,500}}")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_DAY = (
    r"\b\d{4}-\d\d-\d\d\b(?![T ]\d\d:)"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)? {_MONTH},? \d{{4}}\b|\b{_MONTH} (?:\d{{1,2}}(?:st|nd|rd|th)?,? )?\d{{4}}\b"
)
_VERSION = (
    r"(?<![\w./#:])[vV]?(?P<version_text>\d{1,5}(?:\.\d{1,8}){1,3}"
    r"(?:(?: ?(?:alpha|beta|rc|preview)|[-.+]?(?:alpha|beta|rc|pre|preview|dev|post|snapshot|a|b|c|m))"
    r"(?:[-. ]?\d{1,6})?(?!\w))?)(?![\w%/]|\.\d)"
)
_NUMBER = rf"(?<![\w&])(?:{_PROJECT}/(?:pull|issues)/|#|GH-)(?P<number_text>\d{{1,7}})(?!\w)"
_SHA = (
    rf"(?<![\w./-])(?:{_PROJECT}/commits?/)?"
    r"(?P<sha_text>(?=[a-f]{0,40}\d)(?=\d{0,40}[a-f])[0-9a-f]{7,40})(?![\w-])"
)
_MARK = re.compile(f"(?P<day>{_DAY})|(?P<version>{_VERSION})|(?P<number>{_NUMBER})|(?P<sha>{_SHA})")
_KINDS: tuple[MarkKind, ...] = ("day", "version", "number", "sha")
_ADDRESS = re.compile(r"[1-9]\d{1,2}(?:\.\d{1,3}){3}")  # IP addresses such as 10.0.0.1
_DAY_FORMS = (("%Y-%m-%d", 10), ("%d %b %Y", 10), ("%b %d %Y", 10), ("%b %Y", 7))
"""Formats of written days, and how many characters of ``2024-01-31`` they determine."""
_ITEM = re.compile(r"\s{0,8}(?:[|#>]|[-*+]\s|\d{1,3}[.)]\s)")
_END = re.compile(r"(?<=[.!?;])\s+|\s(?:--|[-\u2013\u2014])\s")
_EMPHASIS = str.maketrans("", "", "`*\"“”'’‘\u200b")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Mark:
    """A version, a day, a SHA or a number in a sentence."""

    kind: MarkKind
    text: str
    """Without surrounding characters; a day as ``2024-01-31``, a month as ``2024-01``."""
    start: int
    end: int


def find_marks(sentence: str) -> Iterator[Mark]:
    """Find everything in a sentence that may tell when something broke."""
    for found in _MARK.finditer(sentence):
        kind = next(kind for kind in _KINDS if found[kind])
        text = parse_day(found[0]) if kind == "day" else str(found[f"{kind}_text"])
        if text and not _ADDRESS.fullmatch(text):
            yield Mark(kind, text, found.start(), found.end())


def sentences(text: str) -> Iterator[str]:
    """Split a text into sentences without mark-up. List items and headings are separate; wrapped lines are joined."""
    held: list[str] = []
    for line in (*text.split("\n"), ""):
        if held and (not line.strip() or _ITEM.match(line)):
            yield from (sentence[:_SENTENCE] for sentence in _END.split(unmarked(" ".join(held))))
            held = []
        if line.strip():
            held.append(line.strip()[:_LINE])


def unmarked(text: str) -> str:
    """Remove quotes and emphasis, which people put around versions, and URLs of other pages."""
    return _OTHER_ADDRESS.sub(" ", text.translate(_EMPHASIS))


def parse_day(text: str) -> str | None:
    """Read a day as ``2024-01-31``, or a month as ``2024-01``."""
    plain = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|[.,]", "", text)
    words = " ".join(word[:3] if word.isalpha() else word for word in plain.split())
    for form, day_format in _DAY_FORMS:
        try:
            return datetime.strptime(words, form).replace(tzinfo=UTC).date().isoformat()[:day_format]
        except ValueError:
            continue
    return None
