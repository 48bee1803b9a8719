"""Add earlier issues to a report: duplicates and related issues. Each one is read again before it is shown."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from nodes.context import Case, Context, PastIssue, PastPort, PastUnreadableError
from nodes.evidence import MAX_QUOTE, Evidence, Locator, numbers_of
from nodes.report import RelatedIssue, TriageReport
from nodes.search.issue.similar import Likeness, Report, compare
from nodes.state import AgentFinding
from nodes.trust.citations import still_matches

READ = 6
"""Number of nearest issues that are read again."""
RELATED = 3
"""Issues in a report in addition to a possible duplicate."""
_NOT_LOOKED_UP = frozenset({"spam", "security"})
_NUMBER = re.compile(r"[/#=]([1-9]\d{0,8})$")


@dataclass(frozen=True, slots=True)
class Found:
    """Another issue, and its similarity to this one."""

    issue: PastIssue
    likeness: Likeness


async def title_of(past: PastPort, url: str) -> str | None:
    """Return the title of the earlier issue at an address, or None if no such issue exists."""
    number = _NUMBER.search(url)
    issue = await past.read(int(number[1])) if number else None
    return _quote(issue) if issue is not None and _address(issue) == url else None


async def add_past_issues(
    report: TriageReport, case: Case, context: Context, gathered: Sequence[AgentFinding]
) -> tuple[TriageReport, tuple[AgentFinding, ...]]:
    """Return the report with earlier issues on the same subject, and the finding that lists them.

    Args:
        report: the report without earlier issues.
        case: the issue.
        context: what the run may call.
        gathered: findings whose evidence is numbered before the evidence of this one.
    """
    if context.past is None or report.kind in _NOT_LOOKED_UP:
        return report, ()
    try:
        known, found = await _compared(case, context, context.past)
        chosen = _chosen(found)
        evidence = [_evidence(entry) for entry in chosen]
        confirmed = [await still_matches(item, context.code, "", partial(title_of, context.past)) for item in evidence]
    except PastUnreadableError as error:
        note = f"Earlier issues could not be read: {error}"[:300]
        return report.model_copy(update={"notes": (*report.notes, note)}), ()
    pairs = [(one, item) for one, item, holds in zip(chosen, evidence, confirmed, strict=True) if holds]
    await context.evidence.put([item for _, item in pairs])
    before = (key for finding in gathered for key in finding.evidence)
    numbers = numbers_of((*case.state.evidence, *before, *(item.key for _, item in pairs)))
    related = tuple(_related(one, numbers[item.key]) for one, item in pairs)
    update = {"related": related, "tried": (*report.tried, *_tried(known, found))}
    return report.model_copy(update=update), _finding(related, [item for _, item in pairs])


async def _compared(case: Case, context: Context, past: PastPort) -> tuple[int, list[Found]]:
    """Return the number of known issues, and the nearest ones that are still similar by their current text."""
    nearby = await past.similar(case.title, case.body, READ)
    this_report = await _read(case.title, case.body, context) if nearby.numbers else None
    found: list[Found] = []
    for number in nearby.numbers if this_report is not None else ():
        # No issue text is stored, so each candidate is judged by its current text.
        issue = await past.read(number)
        if issue is None or this_report is None:
            continue
        other_report = await _read(issue.title, issue.body, context)
        # The comparison is pure computation, so it runs in a thread and does not block the event loop.
        likeness = await asyncio.to_thread(compare, this_report, other_report, nearby.past)
        if likeness.relation is not None:
            found.append(Found(issue, likeness))
    return len(nearby.past), found


async def _read(title: str, body: str, context: Context) -> Report:
    crashes = await context.code.fingerprints(body)
    return await asyncio.to_thread(Report.of, title, body, crashes)


def _chosen(found: Sequence[Found]) -> list[Found]:
    """Choose one duplicate at most, then the most similar issues.

    The duplicate is the oldest open one; otherwise two reports could name each other as the original.
    """
    # A closed issue is never the duplicate: the reporter cannot continue there.
    same = [item for item in found if item.likeness.relation == "duplicate" and item.issue.state == "open"]
    original = min(same, key=lambda item: item.issue.number, default=None)
    rest = sorted((item for item in found if item is not original), key=lambda item: -item.likeness.score)
    return [*([original] if original else []), *map(_demoted, rest[:RELATED])]


def _demoted(one: Found) -> Found:
    """Turn a match into a related issue: it is closed, or an older issue reports the same failure."""
    why = one.likeness.why
    if one.likeness.relation == "duplicate" and one.issue.state == "closed":
        closed = "it was closed as not planned"
        why = f"{why}; {closed if one.issue.not_planned else 'it was closed, so this may be back or not yet released'}"
    return Found(one.issue, Likeness("related", one.likeness.score, why))


def _evidence(one: Found) -> Evidence:
    return Evidence(
        kind="issue",
        locator=Locator(url=_address(one.issue)),
        quote=_quote(one.issue),
        score=round(one.likeness.score, 4),
        reasons=(one.likeness.why[:200],),
    )


def _address(issue: PastIssue) -> str:
    return issue.url or f"#{issue.number}"


def _quote(issue: PastIssue) -> str:
    """Return a title as one line, with a placeholder for an empty title."""
    return " ".join(issue.title.split())[:MAX_QUOTE] or "(no title)"


def _related(one: Found, number: str) -> RelatedIssue:
    return RelatedIssue(
        reference=f"#{one.issue.number}",
        relation="duplicate" if one.likeness.relation == "duplicate" else "related",
        state=one.issue.state,
        why=one.likeness.why[:300],
        title=_quote(one.issue)[:300],
        evidence=number,
        checked=True,
    )


def _tried(known: int, found: Sequence[Found]) -> tuple[str, ...]:
    if not known:
        return ()
    result = f"{len(found)} of them duplicates or similar" if found else "none of them similar"
    return (f"Compared with {known} earlier {'issue' if known == 1 else 'issues'}: {result}.",)


def _finding(related: Sequence[RelatedIssue], evidence: Sequence[Evidence]) -> tuple[AgentFinding, ...]:
    if not related:
        return ()
    named = ", ".join(f"{other.reference} ({other.relation})" for other in related)
    keys = tuple(item.key for item in evidence)
    return (AgentFinding(agent_name="past_issues", summary=f"Earlier issues: {named}"[:300], evidence=keys),)
