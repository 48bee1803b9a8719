"""Findings on a run's page: what the report states, with the lines, changes and related issues; and its evidence."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from markupsafe import Markup

from bot.report.comment.folds import sentence_without_path
from bot.report.links import Links
from bot.report.record import Record
from bot.report.words import NOT_FOUND, confidence_word
from bot.server.web.views.words import line, prose, verbatim
from nodes.agents.writing.statement import function_of, probable_place
from nodes.evidence import Evidence
from nodes.report import RelatedChange, RelatedIssue, Suspect, TriageReport
from nodes.search.facts import Fact
from nodes.trust.secrets import mask

_PLACES, _RANKED, _FACTS = 3, 5, 6
_ISSUE = re.compile(r"#(\d{1,9})")
_MARK = re.compile(r" ?\[E\d{1,6}\]")
"""Numbers of evidence, which this part of the page does not show."""
_RELATIONS = {"duplicate": "May be the same", "related": "Similar", "fixed_by": "May have fixed it"}
_CITED = re.compile(r"\bE\d{1,6}\b")
_WHERE = {"trace": "a trace in the issue", "human": "a person's answer"}


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


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines of a file."""

    where: str
    """The name for screen readers."""
    numbers: str
    """Line numbers, one per line; empty if the text is not from a file."""
    quote: str
    """The lines without secrets."""


def numbers_of(text: str, first: int | None) -> str:
    """Return the line numbers of a text that begins at a line, one per line; empty without a first line."""
    return "\n".join(str(first + line) for line in range(text.count("\n") + 1)) if first else ""


class Linked(NamedTuple):
    """A sentence with a link to what it is about; the link is empty if there is none."""

    text: Markup
    where: str
    link: str


class Place(NamedTuple):
    """A place in the code, with its lines and what is known about them."""

    where: str
    link: str
    symbol: str
    code: Lines | None
    says: tuple[Linked, ...]


def answer(report: TriageReport, links: Links, record: Record | None) -> dict[str, Any]:
    """Build the answer: its places with lines, other ranked places without, and facts about further files.

    ``record`` adjusts the confidence to the repository's outcomes; None if there are too few.
    """
    placed = _placed(report)
    shown = {place.path for place in placed}
    ranked = [_place(suspect, report, links, lines=False) for suspect in report.suspects if suspect.path not in shown]
    return {
        "claim": _claim(report),
        "confidence": _confidence(report, record),
        "why_not": NOT_FOUND[report.not_found] if report.not_found and report.root_cause is None else "",
        "places": [_place(place, report, links) for place in placed],
        "ranked": ranked[:_RANKED],
        "facts": _others(report, links, shown),
        "related": [
            *(_related(other, links) for other in report.related),
            *(_related_change(change, links) for change in report.changes),
        ],
        "notes": _notes(report),
    }


def _placed(report: TriageReport) -> tuple[Suspect, ...]:
    """Return the places that the report shows with lines, by the extent of its statement."""
    if report.statement in ("claim", "first_place"):
        return report.suspects[:1]
    if report.statement == "facts":
        return tuple(suspect for suspect in report.suspects if suspect.facts or suspect.pointed)[:_PLACES]
    return ()


def _claim(report: TriageReport) -> Markup:
    if report.statement != "claim" or not report.suspects:
        return Markup("")
    function = function_of(report)
    inside = f", in `{function}`" if function else ""
    return prose(f"{probable_place(report.kind)} `{report.suspects[0].path}`{inside}.")


def _confidence(report: TriageReport, record: Record | None) -> str:
    # It is about the search's order of files, so it says nothing about what a model explains.
    if report.root_cause is None or report.is_explained:
        return ""
    worth = record.confidence(report.confidence) if record else report.confidence
    basis = f"by {record.basis} here" if record else ""
    # Code that was only read, not run, gives no certainty.
    return f"{confidence_word(worth)}, {min(worth, 0.99):.0%} {basis}".rstrip()


def _place(suspect: Suspect, report: TriageReport, links: Links, *, lines: bool = True) -> Place:
    facts = [report.facts[at] for at in suspect.facts if at < len(report.facts)]
    return Place(
        where=verbatim(line(f"{suspect.path}:{suspect.start_line}-{suspect.end_line}")),
        link=links.lines(suspect.path, suspect.start_line, suspect.end_line, report.commit) or "",
        symbol=line(suspect.symbol or ""),
        code=_code(suspect, facts) if lines and suspect.quote else None,
        says=tuple(_fact(fact, links, suspect.path) for fact in facts if fact.says != report.verdict) if lines else (),
    )


def _code(suspect: Suspect, facts: Iterable[Fact]) -> Lines:
    """Return the quoted lines; an arrow marks those that facts are about."""
    about = {str(fact.line) for fact in facts if fact.path == suspect.path and fact.sha is None}
    numbers = numbers_of(suspect.quote, suspect.quote_start or suspect.start_line)
    marked = "\n".join(f"▸ {number}" if number in about else number for number in numbers.split("\n"))
    where = verbatim(line(f"{suspect.path}, from line {suspect.quote_start or suspect.start_line}"))
    return Lines(where, marked, verbatim(mask(suspect.quote)))


def _fact(fact: Fact, links: Links, here: str = "") -> Linked:
    if fact.path and fact.line:
        name = f"L{fact.line}" if fact.path == here else f"{PurePosixPath(fact.path).name} L{fact.line}"
        link = links.lines(fact.path, fact.line, fact.line, fact.sha or links.commit) or ""
        says = sentence_without_path(fact) if fact.path == here else fact.says
        return Linked(prose(says), verbatim(line(name)), link)
    sha = fact.change or ""
    return Linked(prose(fact.says), sha[:7], links.commit_page(sha) or "" if sha else "")


def _others(report: TriageReport, links: Links, shown: Collection[str]) -> tuple[Linked, ...]:
    """Return the facts that belong to no shown place."""
    known = {at for suspect in report.suspects if suspect.path in shown for at in suspect.facts}
    others = (fact for at, fact in enumerate(report.facts) if at not in known and fact.says != report.verdict)
    return tuple(_fact(fact, links) for fact in others)[:_FACTS]


def _related(issue: RelatedIssue, links: Links) -> Linked:
    number = _ISSUE.fullmatch(issue.reference)
    link = f"{links.server_url}/{links.repository}/issues/{number[1]}" if number else ""
    state = f" ({issue.state})" if issue.state else ""
    title = f" “{issue.title}”" if issue.title else ""
    why = f": {issue.why}" if issue.why else ""
    return Linked(prose(f"{_RELATIONS[issue.relation]}{state}{title}{why}"), line(issue.reference), link)


def _related_change(change: RelatedChange, links: Links) -> Linked:
    number = _ISSUE.fullmatch(change.reference)
    link = f"{links.server_url}/{links.repository}/pull/{number[1]}" if number else links.commit_page(change.reference)
    kind = "Pull request" if number else "Commit"
    says = f"{kind} ({change.state}) “{change.title}”: {change.why}"
    return Linked(prose(says), line(change.reference if number else change.reference[:7]), link or "")


def _notes(report: TriageReport) -> tuple[tuple[str, Markup], ...]:
    owner = (
        f"`{report.owner}`" + (f", who {report.owner_reason}" if report.owner_reason else "") if report.owner else ""
    )
    notes = (
        ("To confirm", report.how_to_confirm),
        ("Who knows this code", owner),
        (
            "Suspect change",
            "" if report.suspect_changes else report.no_suspect_change and f"none: {report.no_suspect_change}",
        ),
        ("Severity", report.severity_reason if report.severity != "unknown" else ""),
        ("Versions named", ", ".join(report.affected_versions)),
        ("Platforms", ", ".join(report.platforms)),
        *(("Less likely", _MARK.sub("", text)) for text in report.ruled_out[:2]),
    )
    return tuple((label, prose(text)) for label, text in notes if text)
