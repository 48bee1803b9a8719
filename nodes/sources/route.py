"""Choose the sources for a text by keywords (seed 003), and decide whether it may reach any source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from nodes.sources import SourcePort
from nodes.sources.harm import is_harmful


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """The part of a source that a brain sees: enough to choose it, without access data."""

    name: str
    description: str = ""
    keywords: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: SourcePort) -> SourceInfo:
        """Extract this part from a source."""
        return cls(source.name, source.description, source.keywords)


@dataclass(frozen=True, slots=True)
class Routed:
    """The destination of a request."""

    sources: tuple[str, ...] = ()
    """In the order of the configuration; empty means the repository itself."""
    harmful: bool = False
    """The request reaches no source; the answer is ``harm.FALLBACK``."""


def route(request: str, sources: Iterable[SourceInfo]) -> Routed:
    """Choose the sources whose keywords appear in a request as whole words, ignoring case."""
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
