"""Mark text from strangers as data, and limit its size."""

from __future__ import annotations

import hashlib
import re

from nodes.brains.calls.tokens import estimate
from nodes.trust.secrets import mask

_MARKER = re.compile(r"<<\s{0,8}(?=DATA\b)|(?<=\bDATA)(?=[^\S\n]+[0-9a-f]{1,64}>>)", re.IGNORECASE)


def fence(name: str, text: str) -> str:
    """Put text between markers that the text cannot close, because their token is a hash of the text."""
    # The text's own markers are broken up first, so that it cannot imitate a fence.
    inside = _MARKER.sub("·", mask(text))
    token = hashlib.sha256(inside.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"<<<DATA {name} {token}\n{inside}\nDATA {token}>>>"


def squeeze(text: str, tokens: int) -> str:
    """Compress a text until its estimated size is at most this number of tokens."""
    return compress(text, _limit(text, tokens))


def _limit(text: str, tokens: int) -> int:
    limit = len(text)
    while (counted := estimate(compress(text, limit))) > tokens and limit > 0:
        # Proportional steps need few estimates; ``limit - 1`` guarantees progress.
        limit = min(limit - 1, limit * tokens // counted)
    return limit


def compress(text: str, limit: int) -> str:
    """Return head and tail of a long text and the number of omitted characters.

    Most issues state the problem at the beginning, or end with the trace.
    """
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[len(text) - limit // 3 :]
    return f"{head}\n[… {len(text) - len(head) - len(tail)} characters left out …]\n{tail}"
