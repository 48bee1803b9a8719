"""Decide rare kinds by rules, because no training data exists: spam and docs only if sure, security if in doubt."""

from __future__ import annotations

import re
from typing import Literal

from nodes.kinds.parts import Parts
from nodes.kinds.security import may_be_security

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
    re.compile(r"\b(cheap|discount|bonus|loans?|followers|seo|call us|free trial)\b"),
)


def rare_kind(parts: Parts) -> RareKind | None:
    """Return the kind that a rule decides, or None."""
    if may_be_security(parts):
        return "security"
    if _is_advert(parts):
        return "spam"
    return "docs" if _is_docs(parts) else None


def _is_advert(parts: Parts) -> bool:
    """Return whether a text has two kinds of advertising words and no code, which a real report would have."""
    if parts.code or "`" in parts.whole:
        return False
    text = f"{parts.title}\n{parts.prose}"
    return sum(bool(pattern.search(text)) for pattern in _ADVERTS) >= 2


def _is_docs(parts: Parts) -> bool:
    """Return whether the title is about documentation, unless it says that something crashes, fails or is built."""
    title = parts.title
    if _BREAKS.search(title):
        return False
    return bool(_DOCS.search(title) or (_TYPO.search(title) and _PAGE.search(f"{title} {parts.prose}")))
