"""Relate a report to suspect changes, to commits and pull requests that name it, and to earlier issues."""

import asyncio
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePosixPath

from nodes.context.brain import Case, IssueOrigin, OpenPull
from nodes.context.ports import Context, PastIssue, PastPort, PastUnreadableError
from nodes.evidence import MAX_QUOTE, Evidence, Locator, numbers_of
from nodes.report import RelatedChange, RelatedIssue, SuspectChange, TriageReport
from nodes.search.git.errors import SearchError
from nodes.search.history.mainline import NamingCommit, references
from nodes.search.history.types import History, Spot, SuspectCommit
from nodes.search.issue.similar import Likeness, Report, compare
from nodes.search.sentences import say
from nodes.search.types import Query
from nodes.state import AgentFinding
from nodes.trust.citations import still_matches

SHOWN, KNOWN_SHOWN = 3, 4
"""Maximum number of suspect changes, and of other changes, in a report."""
PLACES, MAX_FILES = 2, 20
"""Files of a report for which open pull requests are searched; files of a pull request that is about a place, because
larger ones touch everything."""
READ, RELATED = 6, 3
"""Number of nearest issues that are read again, and of those in a report besides a possible duplicate."""
# A report on a security issue must not name any place in public.
_NEEDS_NO_HISTORY = frozenset({"feature", "question", "spam", "security"})
_NOT_LOOKED_UP = frozenset({"spam", "security"})
_NUMBER = re.compile(r"[/#=]([1-9]\d{0,8})$")
Found = tuple[PastIssue, Likeness]
"""Another issue, and its similarity to this one."""
Added = tuple[TriageReport, tuple[AgentFinding, ...]]
"""A report with what was added to it, and the finding that lists this."""


async def add_history(report: TriageReport, case: Case, context: Context) -> Added:
    """Return the report with the changes that may have broken its places, and the finding that lists them.

    Every change becomes evidence and is read again: it must be an ancestor of the commit, and its subject must match.
    """
    if report.kind in _NEEDS_NO_HISTORY or not (report.suspects or case.facts.traces):
        return report, ()
    # Answers and redirects may name versions, dates or commits too.
    query = Query(case.title, case.body, extra=(*case.state.redirect_instructions, *case.state.answers))
    spots = [
        Spot(it.path, it.start_line, it.end_line, (it.quote_start, it.quote_end), symbol=it.symbol, weight=it.score)
        for it in report.suspects
    ]
    try:
        history = await context.code.history(query, spots)
    except SearchError as error:
        note = f"The history could not be read: {error}"[:300]
        return report.model_copy(update={"notes": (*report.notes, note)}), ()
    return await _with_history(report, history, case, context)


async def _with_history(report: TriageReport, history: History, case: Case, context: Context) -> Added:
    found = history.suspicion
    # Recent changes are evidence as well, although the report calls them no suspects.
    changes = [
        Evidence(
            kind="commit",
            locator=Locator(sha=change.commit.sha),
            quote=change.commit.subject,
            score=round(max(0.0, change.score), 4),
            reasons=tuple(reason.text[:200] for reason in change.reasons[:4]),
        )
        for change in (*found.changes[:SHOWN], *found.recent[:SHOWN])
    ]
    matches = await asyncio.gather(*(still_matches(item, context.code, "") for item in changes))
    gathered = [item for item, is_right in zip(changes, matches, strict=True) if is_right]
    await context.evidence.put(gathered)
    keys = tuple(item.key for item in gathered)
    by_key = numbers_of((*case.state.evidence, *keys))
    numbers = {item.locator.sha: by_key[item.key] for item in gathered}
    owner = history.owners[0] if history.owners else None
    because = dict.fromkeys(reason.text for reason in owner.reasons) if owner else {}

    def reported(changes: Sequence[SuspectCommit]) -> tuple[SuspectChange, ...]:
        shown = (change for change in changes[:SHOWN] if change.commit.sha in numbers)
        return tuple(_change(change, numbers[change.commit.sha]) for change in shown)

    update = {
        "suspect_changes": reported(found.changes),
        "recent_changes": reported(found.recent),
        "no_suspect_change": found.explanation[:300] if found.doubt else "",
        "owner": owner.name if owner else None,
        "owner_reason": _whole("; ".join(list(because)[:2])),
        "fingerprints": tuple(fingerprint.value for fingerprint in history.fingerprints),
    }
    count = len(found.changes[:SHOWN])
    summary = f"{count} suspect changes" if count else "no suspect change, only recent ones"
    finding = AgentFinding(agent_name="history", summary=summary, evidence=keys)
    return report.model_copy(update=update), (finding,) if gathered else ()


def _whole(reasons: str) -> str:
    """Return reasons without those that do not fit into one line of a report."""
    return reasons if len(reasons) <= 300 else reasons[:302].rpartition("; ")[0]


def _change(change: SuspectCommit, evidence: str) -> SuspectChange:
    commit = change.commit
    bounds = [reason.text for reason in change.reasons if reason.kind in ("named", "range")]
    others = [reason.text for reason in change.reasons if reason.kind not in ("named", "range")]
    return SuspectChange(
        sha=commit.sha,
        title=commit.subject,
        why=_whole("; ".join(others[:3])),
        within="; ".join(bounds)[:300],
        basis=change.basis,
        author=commit.author,
        day=datetime.fromtimestamp(commit.committed, UTC).strftime("%Y-%m-%d"),
        touches_place=bool(change.touches),
        evidence=evidence,
        checked=True,
    )


async def add_related_changes(report: TriageReport, context: Context) -> TriageReport:
    """Return the report with the commit that says it fixes the issue, and with pull requests about the issue."""
    origin = context.origin
    if origin is None or report.kind in _NOT_LOOKED_UP:
        return report
    try:
        commits = await context.code.naming(origin.number, origin.project, origin.opened)
    except SearchError:
        commits = ()
    fixing = [commit for commit in commits if commit.closes and not origin.reopened][:1]
    fixes = [
        RelatedIssue(
            reference=commit.sha,
            relation="fixed_by",
            title=commit.subject[:300],
            why=say("its message says that it fixes this issue{released}", released=_released(commit))[:300],
            checked=True,
        )
        for commit in fixing
    ]
    merged = [
        RelatedChange(
            reference=f"#{commit.pull}" if commit.pull is not None else commit.sha,
            state="merged",
            title=commit.subject[:300],
            why=f"its message {'says that it fixes' if commit.closes else 'names'} this issue{_released(commit)}",
        )
        for commit in commits
        if commit not in fixing or commit.pull is not None
    ]
    opened = await _opened(report, origin, context)
    changes = tuple({item.reference: item for item in (*opened, *merged)}.values())[:KNOWN_SHOWN]
    return report.model_copy(update={"related": (*fixes, *report.related), "changes": changes})


def _released(commit: NamingCommit) -> str:
    return say("; {release} contains it", release=commit.release) if commit.release else ""


async def _opened(report: TriageReport, origin: IssueOrigin, context: Context) -> list[RelatedChange]:
    """Return open pull requests that name the issue, or that change a file which the report states a fact about."""
    if context.pulls is None:
        return []
    claimed = report.suspects[:1] if report.root_cause else ()
    paths = [item.path for item in claimed or report.suspects if item.facts or claimed][:PLACES]
    found = [(pull, _why(pull, origin, paths)) for pull in await context.pulls(paths)]
    return [
        RelatedChange(reference=f"#{pull.number}", state="open", title=pull.title[:300], why=why[:300])
        for pull, why in found
        if why
    ]


def _why(pull: OpenPull, origin: IssueOrigin, paths: Sequence[str]) -> str:
    named = references(f"{pull.title}\n\n{pull.body}", origin.project)
    if origin.number in named.closes:
        return "says that it fixes this issue"
    if origin.number in named.names:
        return "its title names this issue"
    touched = [path for path in paths if path in pull.paths] if len(pull.paths) <= MAX_FILES else []
    return f"changes `{PurePosixPath(touched[0]).name}`, which is named here" if touched else ""


async def title_of(past: PastPort, url: str) -> str | None:
    """Return the title of the earlier issue at an address, or None if no such issue exists."""
    number = _NUMBER.search(url)
    issue = await past.read(int(number[1])) if number else None
    return _quote(issue) if issue is not None and _address(issue) == url else None


async def add_past_issues(
    report: TriageReport, case: Case, context: Context, gathered: Sequence[AgentFinding]
) -> Added:
    """Return the report with earlier issues on the same subject, each read again, and the finding that lists them.

    The evidence of the gathered findings is numbered before the evidence of this one.
    """
    if context.past is None or report.kind in _NOT_LOOKED_UP:
        return report, ()
    try:
        known, found = await _compared(case, context, context.past)
        chosen = [(issue, likeness, _evidence(issue, likeness)) for issue, likeness in _chosen(found)]
        title = partial(title_of, context.past)
        confirmed = [entry for entry in chosen if await still_matches(entry[2], context.code, "", title)]
    except PastUnreadableError as error:
        note = f"Earlier issues could not be read: {error}"[:300]
        return report.model_copy(update={"notes": (*report.notes, note)}), ()
    await context.evidence.put([item for _, _, item in confirmed])
    keys = tuple(item.key for _, _, item in confirmed)
    numbers = numbers_of((*case.state.evidence, *(key for finding in gathered for key in finding.evidence), *keys))
    related = tuple(_related(issue, likeness, item, numbers[item.key]) for issue, likeness, item in confirmed)
    result = f"{len(found)} of them duplicates or similar" if found else "none of them similar"
    tried = f"Compared with {known} earlier {'issue' if known == 1 else 'issues'}: {result}."
    named = ", ".join(f"{other.reference} ({other.relation})" for other in related)
    finding = AgentFinding(agent_name="past_issues", summary=f"Earlier issues: {named}"[:300], evidence=keys)
    update = {"related": related, "tried": (*report.tried, tried) if known else report.tried}
    return report.model_copy(update=update), (finding,) if related else ()


def _evidence(issue: PastIssue, likeness: Likeness) -> Evidence:
    return Evidence(
        kind="issue",
        locator=Locator(url=_address(issue)),
        quote=_quote(issue),
        score=round(likeness.score, 4),
        reasons=(likeness.why[:200],),
    )


def _related(issue: PastIssue, likeness: Likeness, item: Evidence, number: str) -> RelatedIssue:
    return RelatedIssue(
        reference=f"#{issue.number}",
        relation="duplicate" if likeness.relation == "duplicate" else "related",
        state=issue.state,
        why=likeness.why[:300],
        title=item.quote[:300],
        evidence=number,
        checked=True,
    )


async def _compared(case: Case, context: Context, past: PastPort) -> tuple[int, list[Found]]:
    """Return the number of known issues, and the nearest ones that are still similar by their current text."""
    nearby = await past.similar(case.title, case.body, READ)
    if not nearby.numbers:
        return len(nearby.past), []
    this_report = await _read(case.title, case.body, context)
    found: list[Found] = []
    for number in nearby.numbers:
        # No issue text is stored, so each candidate is judged by its current text.
        issue = await past.read(number)
        if issue is None:
            continue
        other_report = await _read(issue.title, issue.body, context)
        # The comparison is pure computation, so it runs in a thread and does not block the event loop.
        likeness = await asyncio.to_thread(compare, this_report, other_report, nearby.past)
        if likeness.relation is not None:
            found.append((issue, likeness))
    return len(nearby.past), found


async def _read(title: str, body: str, context: Context) -> Report:
    crashes = await context.code.fingerprints(body)
    return await asyncio.to_thread(Report.of, title, body, crashes)


def _chosen(found: Sequence[Found]) -> list[Found]:
    """Choose the oldest open duplicate, so that no two reports name each other, then the most similar issues."""
    # A closed issue is never the duplicate: the reporter cannot continue there.
    same = [match for match in found if match[1].relation == "duplicate" and match[0].state == "open"]
    original = min(same, key=lambda match: match[0].number, default=None)
    rest = sorted((match for match in found if match is not original), key=lambda match: -match[1].score)
    chosen = [original] if original else []
    for issue, likeness in rest[:RELATED]:
        back = say("it was closed, so this may be back or not yet released")
        closed = say("it was closed as not planned") if issue.not_planned else back
        was_same = likeness.relation == "duplicate" and issue.state == "closed"
        why = say("{reason}; {other}", reason=likeness.why, other=closed) if was_same else likeness.why
        chosen.append((issue, Likeness("related", likeness.score, why)))
    return chosen


def _address(issue: PastIssue) -> str:
    return issue.url or f"#{issue.number}"


def _quote(issue: PastIssue) -> str:
    """Return a title as one line, with a placeholder for an empty title."""
    return " ".join(issue.title.split())[:MAX_QUOTE] or "(no title)"
