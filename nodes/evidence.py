"""What was gathered, keyed by its content, and where it can be read again."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MAX_QUOTE = 1_000
"""Characters of a quote that may enter the state or a prompt (SPEC section 2: at most 1 kB)."""

EvidenceKind = Literal["code", "trace", "commit", "issue", "web", "document", "database", "human"]


def is_citable(path: str, quote: str) -> bool:
    """Whether lines can become evidence: a blank quote proves nothing, a long one outgrows the state.

    A file whose name is no text can be found, but not written down in a way that leads back to it.
    """
    is_text = path.encode("utf-8", "ignore").decode() == path
    return is_text and bool(quote.strip()) and len(quote) <= MAX_QUOTE


class Locator(BaseModel):
    """Where evidence stands: a path with lines at a commit, a commit alone, or an address."""

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
    """One thing that was gathered. Equal content has an equal key, whoever gathered it."""

    model_config = ConfigDict(frozen=True)

    kind: EvidenceKind
    locator: Locator = Locator()
    symbol: str | None = None
    """The dotted name of the definition the quote is from."""
    quote: Annotated[str, StringConstraints(max_length=MAX_QUOTE)] = ""
    """Verbatim text."""
    score: float = 0.0
    """Normalised to the best of its search: 0..1."""
    reasons: tuple[str, ...] = ()
    """In words, why the program gathered it, strongest first."""

    @property
    def key(self) -> str:
        """Content hash: kind, locator and quote; score and reasons do not make it another evidence."""
        said = "\x00".join((self.kind, self.locator.model_dump_json(), self.quote))
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class NumberedEvidence(BaseModel):
    """Evidence under the short name that prompts, drafts and reports use."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(pattern=r"^E\d+$")
    evidence: Evidence
