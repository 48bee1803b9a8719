"""Extract the terms of an issue, field by field, for the model of kinds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, get_args

from nodes.kinds.cues import cues_of
from nodes.kinds.parts import Parts

Field = Literal["title", "prose", "code", "cues", "whole"]
FIELDS: tuple[Field, ...] = get_args(Field)
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|[?!]")


def terms_in(parts: Parts) -> dict[Field, frozenset[str]]:
    """Return the words and word pairs of each field, each once regardless of its frequency."""
    return {
        "title": frozenset(_with_pairs(_WORD.findall(parts.title))),
        "prose": frozenset(_with_pairs(_WORD.findall(parts.prose))),
        "code": frozenset(_WORD.findall(parts.code)),
        "cues": cues_of(parts),
        "whole": frozenset(_with_pairs(_WORD.findall(parts.whole))),
    }


def _with_pairs(words: list[str]) -> Iterator[str]:
    yield from words
    yield from map(" ".join, pairwise(words))
