"""The evidence of a run, with its lines: what its report cites, and the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from bot.report.links import Links
from bot.server.web.views.words import line, verbatim
from nodes.evidence import Evidence
from nodes.report import TriageReport
from nodes.trust.secrets import mask

SHOWN = 40
"""Pieces of evidence on a run's page, the best ones; it stays light with them."""
_CITED = re.compile(r"\bE\d{1,6}\b")
_WHERE = {"trace": "a trace in the issue", "human": "a person's answer"}


def pieces(
    report: TriageReport | None, keys: Sequence[str], gathered: Sequence[Evidence], links: Links
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the evidence that a report cites, and the other evidence, the best first.

    ``keys`` are those of the numbered evidence; without them the run goes on and nothing has a number.
    """
    cited = _cited_in(report) if report else frozenset()
    numbers = {key: f"E{number}" for number, key in enumerate(keys, 1)}
    known = [(numbers.get(item.key, ""), item) for item in gathered if item.key in numbers or not keys]
    first = sorted((pair for pair in known if pair[0] in cited), key=lambda pair: int(pair[0][1:]))
    others = [pair for pair in known if pair[0] not in cited][: max(SHOWN - len(first), 0)]
    return [_piece(*pair, links) for pair in first], [_piece(*pair, links) for pair in others]


def _cited_in(report: TriageReport) -> frozenset[str]:
    """Return the short numbers of the evidence that a report cites."""
    texts = " ".join((report.root_cause or "", *report.ruled_out))
    named = (
        *(suspect.evidence for suspect in report.suspects),
        *(change.evidence for change in (*report.suspect_changes, *report.recent_changes)),
        *(related.evidence for related in report.related),
    )
    return frozenset((*_CITED.findall(texts), *filter(None, named)))


def _piece(number: str, evidence: Evidence, links: Links) -> dict[str, Any]:
    """Build the view of one piece of evidence, without active content; its number is empty while the run goes on."""
    at = evidence.locator
    return {
        "id": number,
        "found": evidence,
        "link": _link(evidence, links),
        "where": _WHERE.get(evidence.kind, "the issue")
        if not (at.path or at.url or at.sha)
        else verbatim(line(str(at))),
        "numbers": _numbers_of(evidence.quote, at.start_line if at.path is not None else None),
        "quote": verbatim(mask(evidence.quote)),
    }


def _link(evidence: Evidence, links: Links) -> str:
    at = evidence.locator
    if at.path is not None and at.start_line is not None:
        return links.lines(at.path, at.start_line, at.end_line or at.start_line, at.sha or links.commit) or ""
    if at.url is not None:
        # Search results are untrusted, so only http and https addresses become links.
        return at.url if urlsplit(at.url).scheme in ("http", "https") else ""
    return links.commit_page(at.sha) or "" if at.sha else ""


def _numbers_of(text: str, first: int | None) -> str:
    """Return the line numbers of a text that begins at a line, one per line; empty without a first line."""
    return "\n".join(str(first + line) for line in range(text.count("\n") + 1)) if first else ""
