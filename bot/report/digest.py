"""The digest of a repository: what the reports on its open issues state, grouped by place and by change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from bot.ports import OpenReport, OpenReports, UnansweredQuestion
from nodes.agents.writing.statement import function_of
from nodes.report import Suspect, TriageReport

DAY = 86_400.0
Basis = Literal["claim", "facts", "first_place"]
"""The extent of the report's statement about the place, as ``TriageReport.statement``."""


@dataclass(frozen=True, slots=True)
class OpenBug:
    """An open bug with a report."""

    number: int
    title: str
    new: bool
    """Its first report was written in the period."""
    basis: Basis | None = None
    """None if its report states no place."""


@dataclass(frozen=True, slots=True)
class PlaceBugs:
    """A place in the code and the open bugs whose reports state it."""

    path: str
    symbol: str | None
    """The function or class; None if the reports state the file only."""
    line: int
    """First line of the place at the commit, 1-based."""
    end_line: int
    commit: str
    """The commit that the newest of the reports read."""
    bugs: tuple[OpenBug, ...]
    """The newest first."""


@dataclass(frozen=True, slots=True)
class ChangeBugs:
    """A commit and the open bugs whose reports suspect it."""

    sha: str
    title: str
    day: str
    bugs: tuple[int, ...]
    """Numbers, the newest first."""


@dataclass(frozen=True, slots=True)
class DuplicateIssue:
    """An open issue that reports the same failure as another one."""

    number: int
    title: str
    of: int
    confirmed: bool
    """A maintainer named the duplicate; otherwise the report did."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The digest of one repository."""

    repository: str
    since: str
    """The first day of the period, such as 2026-01-31 (UTC)."""
    until: str
    bugs: int
    """Number of open bugs with a report that were read."""
    new: int
    """Number of those whose first report was written in the period; a bug itself may be older, as after a backfill."""
    closed: int
    """Number of issues with a report that were closed in the period."""
    not_read: int
    """Number of older open issues with a report that were not read."""
    places: tuple[PlaceBugs, ...]
    """Those with the most bugs first."""
    without_place: tuple[OpenBug, ...]
    changes: tuple[ChangeBugs, ...]
    questions: tuple[UnansweredQuestion, ...]
    """The oldest first."""
    duplicates: tuple[DuplicateIssue, ...]

    @property
    def empty(self) -> bool:
        """Whether nothing is open."""
        return not (self.bugs or self.questions or self.duplicates)


def build_digest(repository: str, found: OpenReports, now: float, days: int) -> Digest:
    """Return the digest of the last days; the same store at the same time leads to the same digest.

    ``now`` is in seconds since 1970; ``days`` is the length of the period in which reports count as new.
    """
    since = now - days * DAY
    bugs = [report for report in found.reports if report.report.kind == "bug"]
    placed = [(bug, place) for bug in bugs if (place := _place(bug.report)) is not None]
    known = {one.number for one, _ in placed}
    return Digest(
        repository=repository,
        since=_day(since),
        until=_day(now),
        bugs=len(bugs),
        new=sum(bug.since >= since for bug in bugs),
        closed=found.closed,
        not_read=found.all - len(found.reports),
        places=_places(placed, since),
        without_place=tuple(_bug(item, since) for item in _newest_first(bugs) if item.number not in known),
        changes=_changes(bugs),
        questions=found.questions,
        duplicates=tuple(_duplicates(_newest_first(found.reports))),
    )


def only(found: OpenReports, titles: dict[int, str]) -> OpenReports:
    """Return what is about these issues, with their current titles."""
    reports = tuple(replace(report, title=titles[report.number]) for report in found.reports if report.number in titles)
    questions = tuple(
        replace(question, title=titles[question.number]) for question in found.questions if question.number in titles
    )
    dropped = len(found.reports) - len(reports)
    return replace(found, reports=reports, questions=questions, all=found.all - dropped)


@dataclass(frozen=True, slots=True)
class _Stated:
    """The place that a report states."""

    suspect: Suspect
    symbol: str | None
    basis: Basis


def _place(report: TriageReport) -> _Stated | None:
    """Return the place by the extent of the report's statement; a list of ranked places states none."""
    if not report.suspects:
        return None
    first = report.suspects[0]
    if report.statement == "claim":
        return _Stated(first, function_of(report), "claim")
    if report.statement == "first_place":
        return _Stated(first, first.symbol, "first_place")
    with_facts = (suspect for suspect in report.suspects if suspect.facts or suspect.pointed)
    stated = next(with_facts, None) if report.statement == "facts" else None
    return _Stated(stated, stated.symbol, "facts") if stated else None


def _places(placed: Sequence[tuple[OpenReport, _Stated]], since: float) -> tuple[PlaceBugs, ...]:
    groups: defaultdict[tuple[str, str], list[tuple[OpenReport, _Stated]]] = defaultdict(list)
    for one, place in placed:
        groups[place.suspect.path, place.symbol or ""].append((one, place))
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    return tuple(_place_bugs(path, symbol, group, since) for (path, symbol), group in ordered)


def _place_bugs(path: str, symbol: str, group: list[tuple[OpenReport, _Stated]], since: float) -> PlaceBugs:
    ordered = sorted(group, key=lambda pair: -pair[0].number)
    newest, stated = ordered[0]
    bugs = tuple(replace(_bug(one, since), basis=place.basis) for one, place in ordered)
    suspect = stated.suspect
    return PlaceBugs(path, symbol or None, suspect.start_line, suspect.end_line, newest.report.commit, bugs)


def _changes(bugs: Iterable[OpenReport]) -> tuple[ChangeBugs, ...]:
    found: dict[str, ChangeBugs] = {}
    for item in _newest_first(bugs):
        for change in item.report.suspect_changes:
            known = found.get(change.sha) or ChangeBugs(change.sha, change.title, change.day, ())
            if change.checked:
                found[change.sha] = replace(known, bugs=(*known.bugs, item.number))
    return tuple(sorted(found.values(), key=lambda item: (-len(item.bugs), -max(item.bugs), item.sha)))


def _duplicates(reports: Iterable[OpenReport]) -> Iterable[DuplicateIssue]:
    for report in reports:
        corrections = {relation.other: relation.duplicate for relation in report.relations}
        confirmed = [other for other, duplicate in corrections.items() if duplicate]
        # As in the comment: people's statements replace those of the report.
        named = [] if confirmed else [other for other in _named(report.report) if other not in corrections]
        yield from (
            DuplicateIssue(report.number, report.title, other, other in confirmed) for other in (*confirmed, *named)
        )


def _named(report: TriageReport) -> list[int]:
    references = (other.reference for other in report.related if other.relation == "duplicate" and other.checked)
    return [int(reference[1:]) for reference in references if reference[:1] == "#" and reference[1:].isdecimal()]


def _bug(one: OpenReport, since: float) -> OpenBug:
    return OpenBug(one.number, one.title, one.since >= since)


def _newest_first(reports: Iterable[OpenReport]) -> list[OpenReport]:
    return sorted(reports, key=lambda item: -item.number)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
