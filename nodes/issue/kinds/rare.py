"""Rules for rare kinds, which have no training data: spam and docs only if certain, security even if uncertain."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from nodes.issue.kinds.terms import OPENING, Parts

READ = 4_000
"""Characters of prose that are searched."""
LONGEST_SENTENCE = 400
"""Maximum characters of a sentence; a longer text without the end of a sentence is rarely prose."""
_GROUPS = ({"outsider"}, {"guarded", "machine"}, {"unchecked"})
"""Kinds of words; a disclosure names somebody else, or has words of two of them."""
_POINTS = {
    "outsider": (2, 1),
    "others": (3, 1),
    "guarded": (2, 1),
    "machine": (2, 1),
    "unchecked": (3, 2),
    "works": (1, 1),
    "fails": (-6, 2),
    "wishes": (-6, 1),
}
"""For each kind, what one of its words counts, and how many of them count."""
ENOUGH_POINTS = 7
READ_FOR_ACCESS = 600
"""Characters of prose whose first sentences are read."""
_SENTENCE_END = re.compile(r"[.!?]\s|\n\s*\n|[\u3002\uff01\uff1f]")
_ASKS_HOW = re.compile(r"\W{0,3}(?:how|where|what|which|is there|can i|should i|do i|does anyone|best way)\b")
RareKind = Literal["docs", "spam", "security"]
SURE = 0.8
"""The confidence of a rule. This is an estimate: no labelled issues were available to measure it."""
_DOCS = re.compile(
    r"\b(documentation|docs|docstrings?|readme(\.\w{2,4})?|tutorial|changelog|man ?pages?|doc ?pages?)\b"
    r"|^\W{0,3}docs?\s?[:\]]"
)
_TYPO = re.compile(r"\btypos?\b|\bmisspell|\bbroken link\b|\bdead link\b")
_PAGE = re.compile(r"\b(documentation|docs|docstrings?|readme|tutorial|comments?|changelog|page|link|wording)\b")
_BREAKS = re.compile(
    r"\b(crash|error|exception|fail|hang|freez|segfault|broken build|build|not (work|load|show|render)|slow|empty)"
)
_ADVERTS = (
    re.compile(r"\b(casino|backlinks?|whatsapp|payday|escorts?|betting|jackpot|instagram followers)\b"),
    re.compile(r"\b(buy now|click here|best price|limited offer|make money|earn \$|visit (our|my)|order now)\b"),
    re.compile(r"\b(cheap|discount|bonus|loans?|followers|seo|call us|free trial|affordable|\d daily|telegram)\b|微信"),
    re.compile(
        r"\b(help ?line|toll[- ]free|customer (service|support|care)|support number|live person|24/7|refunds?)\b"
    ),
)
_PHONE = re.compile(r"(\+|\b1[-. (]{1,2})\d{1,3}[-. ()]{1,3}\d{3}|(?<!\d)1[3-9]\d{9}(?!\d)")
"""A telephone number, which an advertisement has and hardly any report that names nothing that fails."""


def may_be_security(parts: Parts) -> bool:
    """Return whether the title names a vulnerability, or the body describes one together with an attack."""
    title = _HARMLESS.sub(" ", parts.title)
    prose = _HARMLESS.sub(" ", parts.prose[:READ])
    if _DOES_HARM.search(prose) or _DOES_HARM.search(parts.whole[:READ]):
        return True
    if _WEAKNESS.search(title):
        return not (_ASKS_HOW.match(title) and title.rstrip().endswith("?"))
    if _is_described(prose) or _tells_access(title, prose):
        return True
    return not _SECTIONS["wishes"].search(title) and _says_how(f"{title}\n\n{prose}")


def rare_kind(parts: Parts) -> RareKind | None:
    """Return the kind that a rule decides, or None."""
    if may_be_security(parts):
        return "security"
    if _is_advert(parts):
        return "spam"
    return "docs" if _is_docs(parts) else None


def _load() -> dict[str, list[str]]:
    """Load the lines of the text file next to this module by section."""
    named: dict[str, str] = {}
    sections: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("security.txt").read_text(encoding="utf-8").splitlines():
        name, is_named, value = line.partition(" = ")
        if line.startswith("[") and line.endswith("]") and line[1:-1].replace("_", "").isalpha():
            sections[line[1:-1]] = []
        elif is_named and name.isupper():
            named[f"{{{name}}}"] = value
        elif line and not line.startswith("#"):
            for placeholder, pattern in named.items():
                line = line.replace(placeholder, pattern)  # noqa: PLW2901  the line with its names filled in
            sections[list(sections)[-1]].append(line)
    return sections


_LINES = _load()
_SECTIONS = {name: re.compile("|".join(lines)) for name, lines in _LINES.items() if name != "together"}
_TOGETHER = tuple(tuple(map(re.compile, line.split(" && "))) for line in _LINES["together"])
_WEAKNESS, _HARMLESS = _SECTIONS["weakness"], _SECTIONS["harmless"]
_ATTACK, _DOES_HARM = _SECTIONS["attack"], _SECTIONS["does_harm"]


def _tells_access(title: str, prose: str) -> bool:
    """Return whether the title and the first sentences say in plain words who reaches what without a right."""
    opening = f"{title}. {' '.join(_SENTENCE_END.split(prose[:READ_FOR_ACCESS])[:3])} "
    written = {name for name in _POINTS if _SECTIONS[name].search(opening)}
    is_disclosed = "others" in written or sum(bool(written & group) for group in _GROUPS) > 1
    return is_disclosed and _points(title) + _points(opening) >= ENOUGH_POINTS


def _points(text: str) -> int:
    """Add up what the distinct words of each kind count."""
    return sum(
        points * min(most, len({found[0] for found in _SECTIONS[name].finditer(text)}))
        for name, (points, most) in _POINTS.items()
    )


def _says_how(text: str) -> bool:
    """Return whether a sentence states who can do what to another's data, or which check is missing.

    The title and the first sentence of the body count as one.
    """
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    judged = (" ".join(sentences[:2]), *sentences[2:])
    passages = [passage for sentence in judged for passage in _passages(sentence)]
    return any(all(part.search(passage) for part in parts) for passage in passages for parts in _TOGETHER)


def _passages(sentence: str) -> list[str]:
    """Return a sentence, or overlapping groups of its lines if it is so long that it is a log, a list or code.

    Words of a log that are many lines apart are unrelated.
    """
    if len(sentence) <= LONGEST_SENTENCE:
        return [sentence]
    lines = sentence.split("\n")
    return ["\n".join(lines[at : _end(lines, at)]) for at in range(len(lines))]


def _end(lines: list[str], first: int) -> int:
    """Return the end of the group of lines that begins with one line and has at most the length of a sentence."""
    end, length = first + 1, len(lines[first])
    while end < len(lines) and length + len(lines[end]) < LONGEST_SENTENCE:
        length += len(lines[end]) + 1
        end += 1
    return end


def _is_described(prose: str) -> bool:
    """Return whether the opening names a vulnerability and the text an attack, or the text names two of them."""
    weak = {found[0] for found in _WEAKNESS.finditer(prose)}
    if len(weak) > 1:
        return True
    begins = _WEAKNESS.search(prose[:OPENING])
    # The name of the weakness is removed first, because it may contain a word for an attack.
    return bool(begins and (_ATTACK.search(prose.replace(begins[0], " ")) or not begins[0].isascii()))


def _is_advert(parts: Parts) -> bool:
    """Return whether a text has two kinds of advertising words and no code; a real report would contain code."""
    if parts.code or "`" in parts.whole:
        return False
    text = f"{parts.title}\n{parts.prose}"
    has_number = bool(_PHONE.search(text)) and not _SECTIONS["fails"].search(text)
    return has_number + sum(bool(pattern.search(text)) for pattern in _ADVERTS) >= 2


def _is_docs(parts: Parts) -> bool:
    """Return whether the title is about documentation, unless it says that something crashes, fails or is built."""
    title = parts.title
    if _BREAKS.search(title):
        return False
    return bool(_DOCS.search(title) or (_TYPO.search(title) and _PAGE.search(f"{title} {parts.prose}")))
