"""The difference between two reports on the same issue, in sentences."""

from collections.abc import Iterator

from bot.report.words import count, percent
from nodes.report import Statement, TriageReport

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


def _finding(report: TriageReport) -> tuple[object, ...]:
    first = report.suspects[0].path if report.suspects and report.statement not in ("ranked", "nothing") else None
    same = tuple(sorted(other.reference for other in report.related if other.relation != "related"))
    return (report.kind, report.statement, first, same)


def differences(before: TriageReport, after: TriageReport) -> Iterator[str]:
    """Yield the differences of the second report, most important first; paths and titles in them are untrusted."""
    if before.kind != after.kind:
        yield f"The kind is {after.kind} instead of {before.kind}."
    if before.statement != after.statement:
        yield f"Now {_STATES[after.statement]}; before, {_STATES[before.statement]}."
    yield from _first_file(*(report.suspects[0].path if report.suspects else "" for report in (before, after)))
    then = _listed(before)
    for name, texts in _listed(after).items():
        if new := [text for key, text in texts.items() if key not in then[name]]:
            yield f"{count(len(new), f'new {name}')}: {_some(new)}"
        if removed := [text for key, text in then[name].items() if key not in texts]:
            yield f"{count(len(removed), name)} no longer shown: {_some(removed)}"
    if before.missing and not after.missing:
        yield "Nothing is missing any more."
    elif after.missing and not before.missing:
        yield f"Missing now: {after.missing[0]}."
    if percent(before.confidence) != percent(after.confidence):
        yield f"The confidence is {percent(after.confidence)} instead of {percent(before.confidence)}."
    if before.commit and after.commit and before.commit != after.commit:
        yield f"The code was read at `{after.commit[:7]}` instead of `{before.commit[:7]}`."


def _first_file(old: str, new: str) -> Iterator[str]:
    if old and new and old != new:
        yield f"The first file is `{new}` instead of `{old}`."
    elif new and not old:
        yield f"The first file is `{new}`; before, none was found."
    elif old and not new:
        yield f"No file is named any more; before, `{old}` was the first."


def _listed(report: TriageReport) -> dict[str, dict[object, str]]:
    """Return what a report lists, by its name and by what identifies an entry."""
    return {
        # Without the line number: a commit in between moves lines, and the fact remains the same.
        "fact": {(fact.kind, fact.path, fact.text or fact.says, fact.change): fact.says for fact in report.facts},
        "suspect change": {change.sha: f"`{change.sha[:7]}` “{change.title}”." for change in report.suspect_changes},
        "related issue": {(it.reference, it.relation): f"{it.reference} ({it.relation})." for it in report.related},
    }


def _some(texts: list[str]) -> str:
    more = f" And {len(texts) - _NAMED} more." if len(texts) > _NAMED else ""
    return " ".join(texts[:_NAMED]) + more
