"""Evidence: its content, its content-based key, and where it can be read again."""

import hashlib
import json
from collections.abc import Iterable
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from nodes.search.types import Location, Passage, ToolAnswer, ToolCall, ToolName

MAX_QUOTE = 1_000
"""Characters of a quote that may enter the state or a prompt (SPEC section 2: at most 1 kB)."""

EvidenceKind = Literal["code", "trace", "commit", "issue", "web", "document", "database", "human", "picture", "lookup"]
"""Only stored runs of earlier releases have a ``picture``."""


def is_citable(path: str, quote: str) -> bool:
    """Return whether lines can become evidence: a blank quote proves nothing, and a long one exceeds the state's limit.

    A path that is not valid UTF-8 text is refused, because no written citation can lead back to that file.
    """
    is_text = path.encode("utf-8", "ignore").decode() == path
    return is_text and bool(quote.strip()) and len(quote) <= MAX_QUOTE


class Locator(BaseModel):
    """The location of evidence: a path with lines at a commit, a commit alone, or a URL."""

    model_config = ConfigDict(frozen=True, defer_build=True)

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
        return self.path if self.start_line is None else f"{self.path}:{self.start_line}-{self.end_line}"


class Evidence(BaseModel):
    """One piece of gathered evidence. Equal content has an equal key, independent of the source."""

    model_config = ConfigDict(frozen=True, defer_build=True)

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

    model_config = ConfigDict(frozen=True, defer_build=True)

    id: str = Field(pattern=r"^E\d+$")
    evidence: Evidence


def numbers_of(keys: Iterable[str]) -> dict[str, str]:
    """Return the short number of each content key, in this order, as the supervisor assigns them."""
    return {key: f"E{number}" for number, key in enumerate(dict.fromkeys(keys), 1)}


def quoted(passage: Passage, sha: str, score: float, *reasons: str) -> Evidence:
    """Turn lines of a file at a commit into evidence."""
    lines = Locator(path=passage.path, start_line=passage.start_line, end_line=passage.end_line, sha=sha)
    return Evidence(
        kind="code", locator=lines, symbol=passage.symbol, quote=passage.quote, score=score, reasons=reasons
    )


def as_evidence(place: Location, sha: str, score: float) -> Evidence:
    """Turn a search result into evidence, quoted at its commit."""
    passage = Passage(place.path, place.quote_start, place.quote_end, place.quote, place.symbol)
    reasons = [reason.text[:200] for reason in place.reasons if reason.kind != "prior"]
    return quoted(passage, sha, round(score, 4), *reasons[:4])


def as_lookup(call: ToolCall, answer: ToolAnswer, sha: str) -> Evidence:
    """Turn an answer without lines, such as no matches or the names in a folder, into evidence."""
    asked = f"{call.tool} {json.dumps([call.what, call.path], ensure_ascii=False)}"
    quote = "\n".join((asked[:700], f"{answer.note} {', '.join(answer.names)}".strip()))
    return Evidence(kind="lookup", locator=Locator(sha=sha), quote=quote[:MAX_QUOTE])


def call_of(lookup: Evidence) -> ToolCall | None:
    """Return the call that a lookup answers, so that it can be repeated; None if it cannot be read."""
    tool, _, arguments = lookup.quote.partition("\n")[0].partition(" ")
    known: ToolName | None = next((name for name in get_args(ToolName) if name == tool), None)
    try:
        what, path = json.loads(arguments)
    except ValueError:
        return None
    return ToolCall(known, what, path) if known and isinstance(what, str) and isinstance(path, str) else None
