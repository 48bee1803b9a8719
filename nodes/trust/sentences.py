"""Split a model's prose into sentences, each with the citations that belong to it."""

from __future__ import annotations

import re
from itertools import pairwise

_SPAN = re.compile(r"`[^`\n]{1,400}`")
_END = re.compile(
    r"[.!?][\"')]{0,3}(?:\s{0,3}\[[^\[\]\n]{1,80}\]){0,8}\s{1,20}(?=[A-Z`\"'(\[])"
    r"(?<!\be\.g\.\s)(?<!\bi\.e\.\s)(?<!\bcf\.\s)(?<!\bvs\.\s)(?!\[E\d)"
)
"""The end of a sentence: its stop, then the citations after it, then white space before a capital or an opening mark.

A citation never begins a sentence, because it supports the one before it.
"""


def split(text: str) -> list[str]:
    """Return the sentences of a text, stripped; a stop or a bracket inside a code span ends none."""
    # Spans are masked by letters of the same number, so that positions in both texts are equal.
    masked = _SPAN.sub(lambda found: f"`{'x' * (len(found[0]) - 2)}`", text)
    cuts = [0, *(found.end() for found in _END.finditer(masked)), len(text)]
    parts = (text[start:end].strip() for start, end in pairwise(cuts))
    return [part for part in parts if part]
