"""Passages as long as an answer to a look has room for."""

from __future__ import annotations

from dataclasses import replace

from nodes.brains.ledger import LOOK
from nodes.brains.token_count import estimate
from nodes.evidence import MAX_QUOTE, is_citable
from nodes.search.types import Passage

_HEADING = 12
"""Tokens beside path, name and quote."""


def fitted(passage: Passage, tokens: int) -> Passage:
    """As many whole lines from the start as fit; where the first does not, it is left to be found too large."""
    lines = passage.quote.split("\n")
    while len(lines) > 1 and (
        size_of(passage) > tokens or len(passage.quote) > MAX_QUOTE or not passage.quote.split("\n")[-1].strip()
    ):
        lines.pop()
        quote = "\n".join(lines).removesuffix("\r")
        passage = replace(passage, quote=quote, end_line=passage.start_line + len(lines) - 1)
    return passage


def size_of(passage: Passage) -> int:
    """Estimate its tokens; what cannot be quoted at all is too large for any answer."""
    if not is_citable(passage.path, passage.quote):
        return 10 * LOOK
    return _HEADING + estimate(f"{passage.path} {passage.symbol or ''}\n{passage.quote}")
