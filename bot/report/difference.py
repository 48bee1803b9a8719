"""The difference between two reports on the same issue, in sentences."""

from collections.abc import Iterator, Sequence

from bot.report.words import count, percent
from nodes.report import Statement, TriageReport
from nodes.search.facts import Fact

_NAMED = 3
"""Maximum number of facts or changes that one sentence names."""
_STATES: dict[Statement, str] = {
    "claim": "one file is claimed",
    "facts": "facts are listed, and no file is claimed",
    "first_place": "the first place of the search is shown",
    "ranked": "no place is shown, only a ranked list",
    "nothing": "no place is named",
}


def is_other_finding(before: TriageReport, after: TriageReport) -> bool:
    """Return whether a reader of the first report would be misled by it now: another place, kind or known issue."""
    return _finding(before) != _finding(after)


def differences(before: TriageReport, after: TriageReport) -> tuple[str, ...]:
    """Return the differences of the second report, most important first; empty if there are none.

    Paths and titles are quoted in backticks and are untrusted text.
    """
    return (
        *_kinds(before, after),
        *_places(before, after),
        *_listed("fact", _facts(before), _facts(after)),
        *_listed("suspect change", _changes(before), _changes(after)),
        *_listed("related issue", _related(before), _related(after)),
        *_missing(before, after),
        *_confidence(before, after),
        *_commits(before, after),
    )


def _finding(report: TriageReport) -> tuple[object, ...]:
    first = report.suspects[0].path if report.suspects and report.statement not in ("ranked", "nothing") else None
    same = tuple(sorted(other.reference for other in report.related if other.relation != "related"))
    return (report.kind, report.statement, first, same)


def _kinds(before: TriageReport, after: TriageReport) -> Iterator[str]:
    if before.kind != after.kind:
        yield f"The kind is {after.kind} instead of {before.kind}."


def _places(before: TriageReport, after: TriageReport) -> Iterator[str]:
    if before.statement != after.statement:
        yield f"Now {_STATES[after.statement]}; before, {_STATES[before.statement]}."
    old, new = (report.suspects[0].path if report.suspects else "" for report in (before, after))
    if old and new and old != new:
        yield f"The first file is `{new}` instead of `{old}`."
    elif new and not old:
        yield f"The first file is `{new}`; before, none was found."
    elif old and not new:
        yield f"No file is named any more; before, `{old}` was the first."


def _facts(report: TriageReport) -> dict[object, str]:
    return {_identity(fact): fact.says for fact in report.facts}


def _identity(fact: Fact) -> object:
    # Without the line number: a commit in between moves lines, and the fact remains the same.
    return (fact.kind, fact.path, fact.text or fact.says, fact.change)


def _changes(report: TriageReport) -> dict[object, str]:
    return {change.sha: f"`{change.sha[:7]}` “{change.title}”." for change in report.suspect_changes}


def _related(report: TriageReport) -> dict[object, str]:
    return {(other.reference, other.relation): f"{other.reference} ({other.relation})." for other in report.related}


def _listed(name: str, before: dict[object, str], after: dict[object, str]) -> Iterator[str]:
    new = [text for key, text in after.items() if key not in before]
    removed = [text for key, text in before.items() if key not in after]
    if new:
        yield f"{count(len(new), f'new {name}')}: {_some(new)}"
    if removed:
        yield f"{count(len(removed), name)} no longer shown: {_some(removed)}"


def _some(texts: Sequence[str]) -> str:
    more = f" And {len(texts) - _NAMED} more." if len(texts) > _NAMED else ""
    return " ".join(texts[:_NAMED]) + more


def _missing(before: TriageReport, after: TriageReport) -> Iterator[str]:
    if before.missing and not after.missing:
        yield "Nothing is missing any more."
    elif after.missing and not before.missing:
        yield f"Missing now: {after.missing[0]}."


def _confidence(before: TriageReport, after: TriageReport) -> Iterator[str]:
    old, new = (percent(report.confidence) for report in (before, after))
    if old != new:
        yield f"The confidence is {new} instead of {old}."


def _commits(before: TriageReport, after: TriageReport) -> Iterator[str]:
    if before.commit and after.commit and before.commit != after.commit:
        yield f"The code was read at `{after.commit[:7]}` instead of `{before.commit[:7]}`."
