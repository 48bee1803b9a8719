"""What may be asked outside the repository, behind one protocol: web search providers and MCP tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from nodes.evidence import Evidence, EvidenceKind

Ecosystem = Literal["python", "javascript", "go", "rust", "jvm", "ruby", "php"]
OUTSIDE: frozenset[EvidenceKind] = frozenset({"web", "document", "database"})
"""Kinds of evidence that nobody can read again at the commit: they may be named, but carry no claim alone."""
BEST_SCORE = 0.5
"""The score of the first result: below any code worth a look (0.55), so that results crowd no code out of a prompt."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A package that the repository builds on, as its manifests name it."""

    name: str
    ecosystem: Ecosystem
    version: str = ""
    """Empty where no lock file says it."""
    repository: str = ""
    """``owner/name`` on GitHub; empty where the manifests do not say it."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is asked, in words that a search understands."""

    text: str
    dependency: Dependency | None = None
    """Where the error was raised, if that was not in the repository's own code."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a source answered; nothing is an answer too."""

    evidence: tuple[Evidence, ...] = ()
    """Best first, sanitised, each with an address or ``mcp:<tool>/<id>``."""
    said: str = ""
    """What of it did not answer, in one line."""


def source_of(item: Evidence) -> str:
    """Where evidence stands, whatever part of a page or spelling of its address was given."""
    address = item.locator.url or ""
    scheme, slashes, rest = address.partition("#")[0].rstrip("/").partition("://")
    host, slash, path = rest.partition("/")
    return f"{host.lower().removeprefix('www.')}{slash}{path}" if slashes else scheme


class SourceError(Exception):
    """A source gave nothing that can be used; the message says why, in one line."""


class SourcePort(Protocol):
    """Something outside the repository that the operator's configuration names."""

    @property
    def name(self) -> str:
        """As the configuration names it."""

    @property
    def description(self) -> str:
        """For whom it is worth asking, in the operator's words."""

    @property
    def keywords(self) -> tuple[str, ...]:
        """Words of an issue that make rules ask it."""

    async def ask(self, inquiry: Inquiry, limit: int) -> Found:
        """Answer, best first, at most ``limit`` pieces.

        Raises:
            SourceError: it is dead, slow, too talkative or speaks nonsense.
        """
