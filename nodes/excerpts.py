"""Shorten passages to the space that the answer to a lookup has."""

from __future__ import annotations

from dataclasses import replace

from nodes.brains.token_budget import LOOK
from nodes.brains.token_count import estimate
from nodes.evidence import MAX_QUOTE, is_citable
from nodes.search.types import Passage

_HEADING = 12
"""Tokens in addition to path, name and quote."""


def fitted(passage: Passage, tokens: int) -> Passage:
    """Shorten a passage to the leading whole lines that fit. A first line that is too long is left for the caller."""
    lines = passage.quote.split("\n")
    while len(lines) > 1 and (
        size_of(passage) > tokens or len(passage.quote) > MAX_QUOTE or not passage.quote.split("\n")[-1].strip()
    ):
        lines.pop()
        quote = "\n".join(lines).removesuffix("\r")
        passage = replace(passage, quote=quote, end_line=passage.start_line + len(lines) - 1)
    return passage


def size_of(passage: Passage) -> int:
    """Estimate a passage's tokens; a passage that cannot be quoted gets a size that fits no answer."""
    if not is_citable(passage.path, passage.quote):
        return 10 * LOOK
    return _HEADING + estimate(f"{passage.path} {passage.symbol or ''}\n{passage.quote}")
