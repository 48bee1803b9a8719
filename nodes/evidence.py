"""Evidence: its content, its content-based key, and where it can be read again."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from nodes.search.types import Location

MAX_QUOTE = 1_000
"""Characters of a quote that may enter the state or a prompt (SPEC section 2: at most 1 kB)."""

EvidenceKind = Literal["code", "trace", "commit", "issue", "web", "document", "database", "human", "picture"]


def is_citable(path: str, quote: str) -> bool:
    """Return whether lines can become evidence: a blank quote proves nothing, and a long one exceeds the state's limit.

    A path that is not valid UTF-8 text is refused, because no written citation can lead back to that file.
    """
    is_text = path.encode("utf-8", "ignore").decode() == path
    return is_text and bool(quote.strip()) and len(quote) <= MAX_QUOTE


class Locator(BaseModel):
    """The location of evidence: a path with lines at a commit, a commit alone, or a URL."""

    model_config = ConfigDict(frozen=True)

    path: str | None = None
    start_line: int | None = None
    """1-based."""
    end_line: int | None = None
    """1-based, inclusive."""
    sha: str | None = None
    url: str | None = None

    def __str__(self) -> str:
        """Render as ``path:start-end``, the commit or the address, for prompts and logs."""
        if self.path is None:
            return self.url or (f"commit {self.sha[:12]}" if self.sha else "the issue")
        if self.start_line is None:
            return self.path
        return f"{self.path}:{self.start_line}-{self.end_line}"


class Evidence(BaseModel):
    """One piece of gathered evidence. Equal content has an equal key, independent of the source."""

    model_config = ConfigDict(frozen=True)

    kind: EvidenceKind
    locator: Locator = Locator()
    symbol: str | None = None
    """The dotted name of the definition the quote is from."""
    quote: Annotated[str, StringConstraints(max_length=MAX_QUOTE)] = ""
    """Verbatim text."""
    score: float = 0.0
    """Relative to the best score of the same search: 0..1."""
    reasons: tuple[str, ...] = ()
    """The program's reasons for gathering it, as text, strongest first."""

    @property
    def key(self) -> str:
        """The content hash of kind, locator and quote. Score and reasons do not change the identity of evidence."""
        # The text may contain lone surrogates, which a strict encoder rejects.
        text = "\x00".join((self.kind, self.locator.model_dump_json(), self.quote))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class NumberedEvidence(BaseModel):
    """Evidence under the short name that prompts, drafts and reports use."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(pattern=r"^E\d+$")
    evidence: Evidence


def as_evidence(place: Location, sha: str, score: float) -> Evidence:
    """Turn a search result into evidence, quoted at its commit."""
    return Evidence(
        kind="code",
        locator=Locator(path=place.path, start_line=place.quote_start, end_line=place.quote_end, sha=sha),
        symbol=place.symbol,
        quote=place.quote,
        score=round(score, 4),
        reasons=tuple(reason.text[:200] for reason in place.reasons if reason.kind != "prior")[:4],
    )
