"""What a comment keeps folded: the evidence for maintainers, and how the report came about."""

from __future__ import annotations

from collections.abc import Iterable

from bot.report.links import Links
from bot.report.record import Record
from bot.report.sanitise import block, code, prose
from bot.report.words import cut
from nodes.report import OutsideSource, RelatedIssue, Suspect, SuspectChange, TriageReport

_REASON_WORDS = 16
_TITLE_WORDS = 16


def maintainers(report: TriageReport, links: Links) -> str:
    """Quotes, rivals, the next step."""
    parts = [
        *(_quote(number, suspect) for number, suspect in enumerate(report.suspects, 1)),
        *_changes(report, links),
        affected(report),
        bullets("Less likely", map(prose, report.ruled_out)),
        sentence("How to confirm", report.how_to_confirm),
        sentence("For review", report.review_message),
        bullets("Related", map(_related, report.related)),
        bullets("Outside this repository, not checked", map(_outside, report.outside)),
        bullets("Tried", map(prose, dict.fromkeys(report.tried))) if report.suspects or not report.not_found else "",
        f"**Labels that would fit:** {', '.join(map(code, report.labels))}" if report.labels else "",
        _owner(report),
    ]
    return fold("For maintainers: evidence, what is less likely, next step", "\n\n".join(filter(None, parts)))


def affected(report: TriageReport) -> str:
    """What the issue says it happens with and on."""
    versions, platforms = (", ".join(map(code, names)) for names in (report.affected_versions, report.platforms))
    said = [f"**Versions named:** {versions}" if versions else "", f"**Platforms:** {platforms}" if platforms else ""]
    return " · ".join(filter(None, said))


def about(report: TriageReport, record: Record | None = None) -> str:
    """Commit, brain, what a confidence is measured by, and what checking took out."""
    audit, score = report.citation_audit, report.evaluation.overall_score
    lines = [
        f"- Commit read: {code(report.commit)}" if report.commit else "",
        f"- Written by: {code(report.written_by)}",
        f"- {_confidence(report, record)}Score of this report: {score:.2f}",
        f"- Crash: {', '.join(map(code, report.fingerprints))}" if report.fingerprints else "",
        f"- Citations checked: {audit.citations}; claims dropped in checking: {len(audit.dropped)}",
        *(f"- {prose(note)}" for note in report.notes),
    ]
    return fold("About this report", "\n".join(filter(None, lines)))


def _confidence(report: TriageReport, record: Record | None) -> str:
    """In the cause that is claimed, where one is."""
    return f"Confidence: {_measured(report, record)} · " if report.root_cause else ""


def _measured(report: TriageReport, record: Record | None) -> str:
    """Nothing that is read and not run is certain."""
    shipped = f"{min(report.confidence, 0.99):.0%}"
    if record is None:
        return f"{shipped} (shipped calibration)"
    here = f"{min(record.confidence(report.confidence), 0.99):.0%}"
    return f"{here} by {record.outcomes} known fixes of this repository ({shipped} as shipped)"


def fold(title: str, body: str) -> str:
    """A closed section, or nothing where it would be empty."""
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>" if body else ""


def sentence(title: str, text: str) -> str:
    """A titled sentence of foreign prose."""
    return f"**{title}:** {prose(text)}" if text else ""


def bullets(title: str, lines: Iterable[str]) -> str:
    """A titled list of lines that are Markdown already."""
    items = [f"- {line}" for line in lines if line]
    return "\n".join((f"**{title}:**", *items)) if items else ""


def change_line(change: SuspectChange, links: Links) -> str:
    """A change in one line: which, what bounds it, and what speaks for it."""
    within = f" ({prose(change.within)})" if change.within else ""
    why = f" — {prose(change.why)}" if change.why else ""
    return f"{links.change(change)} “{prose(change.title)}”{within}{why}."


def _changes(report: TriageReport, links: Links) -> list[str]:
    why_none = f"No change is suspected: {prose(report.no_suspect_change)}." if report.no_suspect_change else ""
    return [
        bullets("Suspect changes, not bisected", (change_line(c, links) for c in report.suspect_changes)),
        why_none,
        bullets("Latest changes of these lines", (change_line(c, links) for c in report.recent_changes)),
    ]


def _owner(report: TriageReport) -> str:
    """In a code span: naming someone must not notify them."""
    if not report.owner:
        return ""
    reason = f" — {prose(report.owner_reason)}" if report.owner_reason else ""
    return f"**Knows this code:** {code(report.owner)}{reason}; not notified"


def _quote(number: int, suspect: Suspect) -> str:
    where = code(f"{suspect.path}:{suspect.quote_start}-{suspect.quote_end}")
    return f"{number}. {where} [{suspect.evidence}]\n\n{block(suspect.quote)}"


def related_reason(issue: RelatedIssue) -> str:
    """Why another issue is named, as the end of a sentence."""
    return f": {prose(cut(issue.why, _REASON_WORDS)).rstrip('.')}." if issue.why else "."


def _outside(source: OutsideSource) -> str:
    # In a code span: an address that strangers gave is nothing to click on.
    title = f" “{prose(cut(source.title, _TITLE_WORDS))}”" if source.title else ""
    return f"{code(source.address)}{title}, by {code(source.found_by)}"


def _related(issue: RelatedIssue) -> str:
    # In a code span, because a live reference would write into the other issue's history.
    relation = {"duplicate": "may be the same", "related": "is close", "fixed_by": "may have fixed it"}[issue.relation]
    state = f" ({issue.state})" if issue.state else ""
    title = f" “{prose(cut(issue.title, _TITLE_WORDS))}”" if issue.title else ""
    return f"{code(issue.reference)}{state}{title} {relation}{f': {prose(issue.why)}' if issue.why else ''}"
