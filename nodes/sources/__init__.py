"""Sources outside the repository, behind one protocol: web search providers and MCP tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from nodes.evidence import Evidence, EvidenceKind

Ecosystem = Literal["python", "javascript", "go", "rust", "jvm", "ruby", "php"]
OUTSIDE: frozenset[EvidenceKind] = frozenset({"web", "document", "database"})
"""Kinds of evidence that cannot be read again at the commit: they may be cited, but do not suffice for a claim."""
BEST_SCORE = 0.5
"""The score of the first result. It is below the lowest code threshold (0.55), so results displace no code."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A package that the repository depends on, as its manifests name it."""

    name: str
    ecosystem: Ecosystem
    version: str = ""
    """Empty if no lock file states it."""
    repository: str = ""
    """``owner/name`` on GitHub; empty if the manifests do not state it."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question to a source, in words that suit a search."""

    text: str
    dependency: Dependency | None = None
    """The dependency that raised the error, unless the repository's own code did."""


@dataclass(frozen=True, slots=True)
class Found:
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


class SourcePort(Protocol):
    """A source outside the repository that the operator configured."""

    @property
    def name(self) -> str:
        """The name in the configuration."""

    @property
    def description(self) -> str:
        """The operator's description of the source."""

    @property
    def keywords(self) -> tuple[str, ...]:
        """Words in an issue that make rules query the source."""

    async def ask(self, inquiry: Inquiry, limit: int) -> Found:
        """Answer with at most ``limit`` pieces of evidence, best first.

        Raises:
            SourceError: the source is unreachable, too slow, too verbose, or returns invalid data.
        """
