"""The one comment, and the draft for a tracker."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.report.folds import about, change_line, maintainers, sentence
from bot.report.known import known
from bot.report.links import Links
from bot.report.record import Record
from bot.report.sanitise import cell, code, plain, prose
from bot.report.wording import FOOTER, KINDS, NOT_FOUND, SECURITY, confidence_word
from bot.report.words import cut
from nodes.report import RelatedIssue, Suspect, Ticket, TriageReport

MAX_COMMENT = 65_536
"""GitHub's own limit, in characters."""
VISIBLE_WORDS = 250
"""What is read without unfolding anything."""
SUSPECTS = 3
_VERDICT_WORDS = 36
_WORDS_A_ROW = 12
_CAUSE_WORDS = 50
_CHANGE_WORDS = 8
_CAUSE_WORDS_BESIDE_A_CHANGE = 20
_MISSING_WORDS = 32
_NO_VERDICT = "No verdict."
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Sections:
    """The parts of a comment, each sanitised Markdown."""

    verdict: str
    tried: str
    places: str
    cause: str
    change: str
    facts: str
    missing: str
    maintainers: str
    about: str

    @property
    def visible(self) -> tuple[str, ...]:
        """What is read without unfolding anything, in its order."""
        return (self.verdict, self.tried, self.places, self.cause, self.change, self.facts, self.missing)


class MarkdownRenderer:
    """Renders reports with links into a repository; without an address, places are plain paths."""

    def __init__(
        self, *, server_url: str = "https://github.com", repository: str | None = None, record: Record | None = None
    ) -> None:
        """Render for a repository; with its record, confidences are what they were worth there."""
        self._server_url = server_url
        self._repository = repository
        self._record = record

    def comment(self, report: TriageReport) -> str:
        """Verdict first, then at most three places; everything for maintainers is folded."""
        if report.kind == "security":
            return f"{SECURITY}\n\n{FOOTER}\n"
        shown = self.sections(report)
        headline = known(report, self._links(report))
        visible = (headline, *shown.visible[:-1]) if headline else shown.visible  # what is missing may stand there
        return join((*visible, shown.maintainers), (shown.about, FOOTER), fallback=visible)

    def sections(self, report: TriageReport, *, suspects: int = SUSPECTS) -> Sections:
        """The parts of a comment in their order; an empty one is an empty string."""
        links = self._links(report)
        change = _change(report, links)
        return Sections(
            verdict=_verdict(report, self._record),
            tried=_tried(report),
            places=_places(report, links, suspects),
            cause=_cause(report, _CAUSE_WORDS_BESIDE_A_CHANGE if change else _CAUSE_WORDS),
            change=change,
            facts=_facts(report),
            missing=_missing(report),
            maintainers=maintainers(report, links),
            about=about(report, self._record),
        )

    def ticket(self, report: TriageReport) -> Ticket:
        """The same for a tracker: a title, a body, and fields."""
        fields: dict[str, str] = {"type": report.kind, "priority": report.severity}
        if report.kind == "security":
            return Ticket(title="Possible security problem: see the repository's security policy", fields=fields)
        places = _places(report, self._links(report), SUSPECTS)
        change = _change(report, self._links(report))
        parts = [prose(report.verdict), places, _cause(report), change, sentence("To confirm", report.how_to_confirm)]
        if report.suspects:
            fields["component"] = report.suspects[0].path
        if report.labels:
            fields["labels"] = ", ".join(report.labels)
        return Ticket(title=_title(report), body=_whole_parts(parts, 3_000), fields=fields)

    def _links(self, report: TriageReport) -> Links:
        return Links(self._server_url, self._repository or report.repository, report.commit)


def join(parts: Iterable[str], always: Iterable[str], *, fallback: Iterable[str]) -> str:
    """The parts as one comment, within GitHub's limit: where they are too long the fallback takes their place."""
    last = tuple(always)
    whole = "\n\n".join(filter(None, (*parts, *last)))
    if len(whole) >= MAX_COMMENT:
        whole = "\n\n".join(filter(None, (*fallback, *last)))
    return whole + "\n"


def _title(report: TriageReport) -> str:
    """Trackers show titles as they are, without mark-up: nothing is escaped."""
    return plain(report.verdict.replace("`", ""))[:140]


def _whole_parts(parts: list[str], most: int) -> str:
    """As many parts as fit, none of them cut: half a table is no table."""
    kept = ""
    for part in filter(None, parts):
        longer = f"{kept}\n\n{part}" if kept else part
        kept = longer if len(longer) <= most else kept
    return kept


def _verdict(report: TriageReport, record: Record | None) -> str:
    # Two pairs of asterisks with nothing between them are a rule across the page.
    line = f"**{prose(cut(report.verdict, _VERDICT_WORDS)) or _NO_VERDICT}**"
    if report.root_cause:
        worth = record.confidence(report.confidence) if record else report.confidence
        return f"{line} Confidence: {confidence_word(worth)} · found by reading code, not by running it."
    if report.not_found and report.kind in ("bug", "docs"):
        return f"{line} Why no cause is named: {NOT_FOUND[report.not_found]}."
    return line


def _tried(report: TriageReport) -> str:
    """Where nothing was found, what was tried is the finding."""
    if report.suspects or report.not_found in (None, "not_a_bug_report", "text_too_short"):
        return ""
    return "\n".join(f"- {prose(line)}" for line in dict.fromkeys(report.tried) if line.strip())


def _places(report: TriageReport, links: Links, most: int) -> str:
    if not report.suspects:
        return ""
    rows = [
        f"| {cell(links.place(suspect))} | {cell(prose(cut(suspect.why, _WORDS_A_ROW)))} | {_mark(suspect)} |"
        for suspect in report.suspects[:most]
    ]
    return "\n".join(["| Where | Why | Checked |", "|---|---|---|", *rows])


def _mark(suspect: Suspect) -> str:
    checked = "quote matches" if suspect.checked else "not checked"
    return f"{checked}; named in the report" if suspect.named_by_reporter else checked


def _cause(report: TriageReport, most: int = _CAUSE_WORDS) -> str:
    """As many whole sentences as a reader without time is willing to read, the first of them always."""
    if not report.root_cause:
        return ""
    kept: list[str] = []
    for sentence_ in _SENTENCE_END.split(report.root_cause):
        if kept and len(" ".join((*kept, sentence_)).split()) > most:
            break
        kept.append(cut(sentence_, most))
    return prose(" ".join(kept))


def _change(report: TriageReport, links: Links) -> str:
    """The first suspect change, if the issue names it, or a cause is claimed and it touches a place or is alone.

    A change that is one of several in the range and only near a place would be a guess.
    """
    change = next(iter(report.suspect_changes), None)
    if change is None:
        return ""
    bears = change.touches_place or len(report.suspect_changes) == 1
    if change.basis != "named" and not (report.root_cause and bears):
        return ""
    short = change.model_copy(
        update={
            "title": cut(change.title, _CHANGE_WORDS),
            "within": cut(change.within, _CHANGE_WORDS),
            "why": cut(change.why.partition(";")[0], _CHANGE_WORDS),
        }
    )
    return f"**Suspect change:** {change_line(short, links)} *Not bisected.*"


def _facts(report: TriageReport) -> str:
    said = [f"**Kind:** {KINDS[report.kind]}"]
    if report.severity != "unknown":
        reason = prose(cut(report.severity_reason, _WORDS_A_ROW)).rstrip(".")
        said.append(f"**Impact:** {report.severity}{f' — {reason}' if reason else ''}")
    area = next((label for label in report.labels if label.startswith("area: ")), None)
    if area:
        said.append(f"**Area:** {code(area.removeprefix('area: '))}")
    related = [_short(issue) for issue in report.related if issue.relation == "related"]
    if related:
        said.append(f"**Related:** {', '.join(related)}")
    return " · ".join(said)


def _short(issue: RelatedIssue) -> str:
    """In a code span, because a live reference would write into the other issue's history."""
    return f"{code(issue.reference)}{f' ({issue.state})' if issue.state else ''}"


def _missing(report: TriageReport) -> str:
    """Questions and gaps, for the reporter: a list, so that each can be answered."""
    most = _MISSING_WORDS // max(len(report.missing), 1)
    items = [prose(cut(item, max(most, 8))) for item in report.missing[:4]]
    lines = [f"- {item}" for item in items if item]
    if not lines:
        return ""
    return "\n".join(("**Would help, as a reply here:**", *lines))
