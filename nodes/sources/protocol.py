"""Sources outside the repository, behind one protocol, and the choice of those that may receive a text."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from nodes.evidence import Evidence, EvidenceKind
from nodes.search.tokens import load_patterns

OUTSIDE: frozenset[EvidenceKind] = frozenset({"web", "document", "database"})
"""Kinds of evidence that cannot be read again at the commit: they may be cited, but do not suffice for a claim."""
BEST_SCORE = 0.5
"""The score of the first result. It is below the lowest code threshold (0.55), so results displace no code."""
FALLBACK = (
    "I can't help with that request. Ask about this repository: what fails, where the fault may "
    "be, what is known about it."
)
"""The answer to a harmful request."""

_HARMFUL = load_patterns(Path(__file__).with_name("harmful.toml"))
_CODE = re.compile(r"```.{0,20000}?```|`[^`\n]{1,200}`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Dependency:
    """A package that the repository depends on, as the folder in which it is installed is called."""

    name: str
    repository: str = ""
    """``owner/name`` on GitHub; empty if the name does not tell it."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question to a source, in words that suit a search."""

    text: str
    dependency: Dependency | None = None
    """The dependency that raised the error, unless the repository's own code did."""


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """The answer of a source; it may be empty."""

    evidence: tuple[Evidence, ...] = ()
    """Best first, sanitised, each with an address or ``mcp:<tool>/<id>``."""
    message: str = ""
    """The parts of the source that did not answer, in one line."""


def source_of(item: Evidence) -> str:
    """Return a page's address without fragment, scheme and ``www.``, so that spellings of one address are equal."""
    address = item.locator.url or ""
    scheme, slashes, rest = address.partition("#")[0].rstrip("/").partition("://")
    host, slash, path = rest.partition("/")
    return f"{host.lower().removeprefix('www.')}{slash}{path}" if slashes else scheme


class SourceError(Exception):
    """A source gave no usable answer; the message gives the reason in one line."""


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """The part of a source that a brain sees: enough to choose it, without access data."""

    name: str
    """The name in the configuration."""
    description: str = ""
    """The operator's; a server's own description reaches no prompt."""
    keywords: tuple[str, ...] = ()
    """Words in an issue that make rules query the source."""


class SourcePort(Protocol):
    """A source outside the repository that the operator configured."""

    @property
    def info(self) -> SourceInfo:
        """What a brain sees of it."""

    async def ask(self, inquiry: Inquiry, limit: int) -> SourceAnswer:
        """Answer with at most ``limit`` pieces of evidence, best first, or raise SourceError."""


def is_harmful(request: str) -> bool:
    """Return whether a request orders or asks for harm outside quoted code; if wrong, only outside answers are lost."""
    prose = "\n".join(" ".join(line.split())[:2_000] for line in _CODE.sub(" ", request[:40_000]).split("\n"))
    return any(pattern.search(prose) for pattern in _HARMFUL.values())


def route(request: str, sources: Iterable[SourceInfo]) -> tuple[str, ...] | None:
    """Return the sources whose keywords appear in a request as whole words, ignoring case, in configured order.

    Empty means the repository itself, and None that the request is harmful: it reaches no source, and the answer is
    ``FALLBACK``.
    """
    if is_harmful(request):
        return None
    patterns = ((source.name, _pattern(source.keywords)) for source in sources)
    return tuple(name for name, pattern in patterns if pattern is not None and pattern.search(request))


@lru_cache(64)
def _pattern(keywords: tuple[str, ...]) -> re.Pattern[str] | None:
    words = [r"\s+".join(map(re.escape, keyword.split())) for keyword in keywords if keyword.strip()]
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE) if words else None
