"""Add what is already known as a change: commits that name the issue, and open pull requests about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from nodes.context import Context, IssueOrigin, OpenPull
from nodes.report import RelatedChange, RelatedIssue, TriageReport
from nodes.search.git.errors import SearchError
from nodes.search.history.mainline import references
from nodes.search.history.naming import NamingCommit

SHOWN = 4
"""Maximum number of changes in a report."""
PLACES = 2
"""Number of files of a report for which open pull requests are searched."""
MAX_FILES = 20
"""Maximum number of files of a pull request that is about a place; larger ones touch everything."""
_NOT_LOOKED_UP = frozenset({"spam", "security"})


async def add_related_changes(report: TriageReport, context: Context) -> TriageReport:
    """Return the report with the commit that says it fixes the issue, and with pull requests about the issue."""
    origin = context.origin
    if origin is None or report.kind in _NOT_LOOKED_UP:
        return report
    try:
        commits = await context.code.naming(origin.number, origin.project, origin.opened)
    except SearchError:
        commits = ()
    fixes = [_fix(one) for one in commits if one.closes and not origin.reopened][:1]
    known = {one.reference for one in fixes}
    merged = [_merged(one) for one in commits if one.sha not in known or one.pull is not None]
    opened = await _opened(report, origin, context)
    changes = tuple({one.reference: one for one in (*opened, *merged)}.values())[:SHOWN]
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
    paths = [one.path for one in claimed or report.suspects if one.facts or claimed][:PLACES]
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
