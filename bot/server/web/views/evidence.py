"""The evidence of a run as a page shows it: its source link and its quote, split into tokens for highlighting."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from bot.report.links import Links
from bot.server.web.views.words import line, verbatim
from nodes.evidence import Evidence
from nodes.report import TriageReport
from nodes.search.languages.lexemes import lexemes
from nodes.trust.secrets import mask

_CITED = re.compile(r"\bE\d{1,6}\b")
_WHERE = {"trace": "a trace in the issue", "human": "a person's answer"}
COLOURED = 200
"""Tokens of one quote above which it is not highlighted, because many elements would make the page heavy."""


def cited_in(report: TriageReport) -> frozenset[str]:
    """Return the short numbers of the evidence that a report cites."""
    texts = " ".join((report.root_cause or "", *report.ruled_out))
    named = (
        *(suspect.evidence for suspect in report.suspects),
        *(change.evidence for change in (*report.suspect_changes, *report.recent_changes)),
        *(related.evidence for related in report.related),
    )
    return frozenset((*_CITED.findall(texts), *filter(None, named)))


def numbered(keys: Sequence[str], gathered: Sequence[Evidence]) -> list[tuple[str, Evidence]]:
    """Pair evidence with its short numbers, in their order; numbers are empty if the run has none yet."""
    known = {item.key: item for item in gathered}
    if not keys:
        return [("", item) for item in gathered]
    return [(f"E{number}", known[key]) for number, key in enumerate(keys, 1) if key in known]


def piece(number: str, evidence: Evidence, links: Links, cited: Collection[str] = ()) -> dict[str, Any]:
    """Build the view of one piece of evidence, without active content; its number is empty while the run goes on."""
    at = evidence.locator
    return {
        "id": number,
        "found": evidence,
        "cited": number in cited,
        "link": _link(evidence, links),
        "where": _WHERE.get(evidence.kind, "the issue")
        if not (at.path or at.url or at.sha)
        else verbatim(line(str(at))),
        "numbers": numbers_of(evidence.quote, at.start_line if at.path is not None else None),
        "quote": tokens_of(at.path if evidence.kind == "code" else None, evidence.quote),
    }


def _link(evidence: Evidence, links: Links) -> str:
    at = evidence.locator
    if at.path is not None and at.start_line is not None:
        return links.lines(at.path, at.start_line, at.end_line or at.start_line, at.sha or links.commit) or ""
    if at.url is not None:
        # Search results are untrusted, so only http and https addresses become links.
        return at.url if urlsplit(at.url).scheme in ("http", "https") else ""
    return links.commit_page(at.sha) or "" if at.sha else ""


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines of a file."""

    where: str
    """The name for screen readers."""
    numbers: str
    """Line numbers, one per line; empty if the text is not from a file."""
    quote: tuple[tuple[str, str], ...]
    """(kind, text) pairs; the kind is a class of the style sheet, or empty."""


def numbers_of(text: str, first: int | None) -> str:
    """Return the line numbers of a text that begins at a line, one per line; empty without a first line."""
    return "\n".join(str(first + line) for line in range(text.count("\n") + 1)) if first else ""


def tokens_of(path: str | None, text: str) -> tuple[tuple[str, str], ...]:
    """Split a text into tokens if the language of its path is known and they are few; secrets are masked."""
    shown = mask(text)
    tokens = lexemes(path, shown) if path else []
    if not 0 < len(tokens) <= COLOURED:
        return (("", verbatim(shown)),)
    return tuple((kind, verbatim(token)) for kind, token in tokens)
