"""Which sources a text is for, by keywords (seed 003), and whether it may reach any."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from nodes.sources import SourcePort
from nodes.sources.harm import is_harmful


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """What a brain knows of a source: enough to choose it, nothing to reach it by."""

    name: str
    description: str = ""
    keywords: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: SourcePort) -> SourceInfo:
        """What may be told of a source."""
        return cls(source.name, source.description, source.keywords)


@dataclass(frozen=True, slots=True)
class Routed:
    """Where a request goes."""

    sources: tuple[str, ...] = ()
    """In the order of the configuration; empty means the repository itself."""
    harmful: bool = False
    """It reaches nothing; the answer is ``harm.FALLBACK``."""


def route(request: str, sources: Iterable[SourceInfo]) -> Routed:
    """Choose the sources whose keywords stand in a request, as words of their own, whatever their case."""
    if is_harmful(request):
        return Routed(harmful=True)
    return Routed(tuple(source.name for source in sources if _names_any(request, source.keywords)))


def _names_any(request: str, keywords: tuple[str, ...]) -> bool:
    pattern = _pattern(keywords)
    return pattern is not None and pattern.search(request) is not None


@lru_cache(64)
def _pattern(keywords: tuple[str, ...]) -> re.Pattern[str] | None:
    words = [r"\s+".join(map(re.escape, keyword.split())) for keyword in keywords if keyword.strip()]
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE) if words else None
