"""Changes in a report: suspects, commits that name the issue, and open pull requests about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath

from nodes.context import Case, Context, IssueOrigin, OpenPull
from nodes.evidence import Evidence, Locator, numbers_of
from nodes.report import RelatedChange, RelatedIssue, Suspect, SuspectChange, TriageReport
from nodes.search.git.errors import SearchError
from nodes.search.history.mainline import NamingCommit, references
from nodes.search.history.types import History, Spot, SuspectCommit
from nodes.search.types import Query
from nodes.state import AgentFinding
from nodes.trust.citations import still_matches

SHOWN = 3
"""The maximum number of changes in a report."""
# A report on a security issue must not name any place in public.
_NEEDS_NO_HISTORY = frozenset({"feature", "question", "spam", "security"})
KNOWN_SHOWN = 4
"""Maximum number of changes in a report."""
PLACES = 2
"""Number of files of a report for which open pull requests are searched."""
MAX_FILES = 20
"""Maximum number of files of a pull request that is about a place; larger ones touch everything."""
_NOT_LOOKED_UP = frozenset({"spam", "security"})


async def add_history(
    report: TriageReport, case: Case, context: Context
) -> tuple[TriageReport, tuple[AgentFinding, ...]]:
    """Return the report with the changes that may have broken its places, and the finding that lists them.

    Every change becomes evidence and is read again: it must be an ancestor of the commit, and its subject must match.
    """
    if report.kind in _NEEDS_NO_HISTORY or not (report.suspects or case.facts.traces):
        return report, ()
    # Answers and redirects may name versions, dates or commits too.
    answers = tuple(exchange.answer for exchange in case.state.human_exchanges if exchange.answer)
    query = Query(case.title, case.body, extra=(*case.state.redirect_instructions, *answers))
    try:
        history = await context.code.history(query, [_spot(suspect) for suspect in report.suspects])
    except SearchError as error:
        note = f"The history could not be read: {error}"[:300]
        return report.model_copy(update={"notes": (*report.notes, note)}), ()
    return await _with(report, history, case, context)


async def _with(
    report: TriageReport, history: History, case: Case, context: Context
) -> tuple[TriageReport, tuple[AgentFinding, ...]]:
    found = history.suspicion
    # Recent changes are evidence as well, although the report calls them no suspects.
    changes = (*found.changes[:SHOWN], *found.recent[:SHOWN])
    gathered = [item for item in map(_evidence, changes) if await still_matches(item, context.code, "")]
    await context.evidence.put(gathered)
    by_key = numbers_of((*case.state.evidence, *(item.key for item in gathered)))
    numbers = {str(item.locator.sha): by_key[item.key] for item in gathered}
    owner = history.owners[0] if history.owners else None
    because = list(dict.fromkeys(reason.text for reason in owner.reasons)) if owner else []
    update = {
        "suspect_changes": _reported(found.changes, numbers),
        "recent_changes": _reported(found.recent, numbers),
        "no_suspect_change": found.explanation[:300] if found.doubt else "",
        "owner": owner.name if owner else None,
        "owner_reason": "; ".join(because[:2])[:300],
        "fingerprints": tuple(fingerprint.value for fingerprint in history.fingerprints),
    }
    return report.model_copy(update=update), _finding(found.changes, gathered)


def _spot(suspect: Suspect) -> Spot:
    return Spot(
        suspect.path,
        suspect.start_line,
        suspect.end_line,
        focus=(suspect.quote_start, suspect.quote_end),
        symbol=suspect.symbol,
        weight=suspect.score,
    )


def _evidence(change: SuspectCommit) -> Evidence:
    return Evidence(
        kind="commit",
        locator=Locator(sha=change.commit.sha),
        quote=change.commit.subject,
        score=round(max(0.0, change.score), 4),
        reasons=tuple(reason.text[:200] for reason in change.reasons[:4]),
    )


def _reported(changes: Sequence[SuspectCommit], numbers: dict[str, str]) -> tuple[SuspectChange, ...]:
    return tuple(_change(change, numbers) for change in changes[:SHOWN] if change.commit.sha in numbers)


def _change(change: SuspectCommit, numbers: dict[str, str]) -> SuspectChange:
    commit = change.commit
    bounds = [reason.text for reason in change.reasons if reason.kind in ("named", "range")]
    others = [reason.text for reason in change.reasons if reason.kind not in ("named", "range")]
    return SuspectChange(
        sha=commit.sha,
        title=commit.subject,
        why="; ".join(others[:3])[:300],
        within="; ".join(bounds)[:300],
        basis=change.basis,
        author=commit.author,
        day=datetime.fromtimestamp(commit.committed, UTC).strftime("%Y-%m-%d"),
        touches_place=bool(change.touches),
        evidence=numbers[commit.sha],
        checked=True,
    )


def _finding(changes: Sequence[SuspectCommit], gathered: Sequence[Evidence]) -> tuple[AgentFinding, ...]:
    if not gathered:
        return ()
    summary = f"{len(changes[:SHOWN])} suspect changes" if changes else "no suspect change, only recent ones"
    keys = tuple(item.key for item in gathered)
    return (AgentFinding(agent_name="history", summary=summary, evidence=keys),)


async def add_related_changes(report: TriageReport, context: Context) -> TriageReport:
    """Return the report with the commit that says it fixes the issue, and with pull requests about the issue."""
    origin = context.origin
    if origin is None or report.kind in _NOT_LOOKED_UP:
        return report
    try:
        commits = await context.code.naming(origin.number, origin.project, origin.opened)
    except SearchError:
        commits = ()
    fixes = [_fix(commit) for commit in commits if commit.closes and not origin.reopened][:1]
    known = {fix.reference for fix in fixes}
    merged = [_merged(commit) for commit in commits if commit.sha not in known or commit.pull is not None]
    opened = await _opened(report, origin, context)
    changes = tuple({item.reference: item for item in (*opened, *merged)}.values())[:KNOWN_SHOWN]
    return report.model_copy(update={"related": (*fixes, *report.related), "changes": changes})


def _fix(commit: NamingCommit) -> RelatedIssue:
    why = f"its message says that it fixes this issue{_released(commit)}"
    return RelatedIssue(
        reference=commit.sha, relation="fixed_by", title=commit.subject[:300], why=why[:300], checked=True
    )


def _merged(commit: NamingCommit) -> RelatedChange:
    verb = "says that it fixes" if commit.closes else "names"
    return RelatedChange(
        reference=f"#{commit.pull}" if commit.pull is not None else commit.sha,
        state="merged",
        title=commit.subject[:300],
        why=f"its message {verb} this issue{_released(commit)}",
    )


def _released(commit: NamingCommit) -> str:
    return f"; {commit.release} contains it" if commit.release else ""


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
