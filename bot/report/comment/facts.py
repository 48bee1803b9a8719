"""The facts that a comment shows below its headline, and those that it folds."""

from collections.abc import Callable, Sequence

from nodes.report import TriageReport
from nodes.search.facts import Fact
from nodes.search.facts.levels import is_stated, precedence
from nodes.search.facts.places.moved import is_gone, is_unsure

SUSPECTS = 3
"""Places that a comment shows."""
FACTS = 3
"""Facts that a comment shows outside its folded sections, or that a ticket shows."""
_SUPPORTING = ("guarded_by", "called_from", "used_here", "named_change", "introduced_in", "changed_in")
"""Kinds of facts that are shown below the leading one; tests and all others are folded."""
_WITHOUT_PLACE = {("older_release", None), ("changed_in", 1)}
"""Kinds of facts, with the number of their changes, that are worth a look if no fact leads."""


def shown_facts(report: TriageReport) -> tuple[Fact, ...]:
    """Return the facts below the headline: those that explain it, then others that the report states."""
    lead = report.lead
    if lead is None:
        return tuple(fact for fact in report.facts if (fact.kind, fact.count) in _WITHOUT_PLACE)[: FACTS - 1]
    others = [fact for fact in report.facts if fact is not lead]
    kinds: dict[str, Fact] = {}
    supporting = (fact for fact in others if fact.kind in _SUPPORTING)
    # Where else the same code is matters more than who calls it.
    for fact in sorted(supporting, key=lambda fact: (not _has_same_code(fact), _SUPPORTING.index(fact.kind))):
        # It is about the leading fact's line or file, and not about another fact's line.
        explains = fact.follows == (lead.path, lead.line) if fact.follows else fact.path == lead.path
        # One that names the change of the headline repeats it.
        if explains and not (fact.change is not None and fact.change == lead.change):
            kinds.setdefault(fact.kind, fact)
    # The change that the line came in with says more than another one of its file.
    is_known = "introduced_in" in kinds
    kinds = {kind: fact for kind, fact in kinds.items() if kind != "changed_in" or fact.follows or not is_known}
    others = [fact for fact in others if not (is_echo(fact) and (fact.path == lead.path or fact.is_echo))]
    lines: dict[tuple[str | None, int | None], Fact] = {}
    shown = {(lead.path, lead.says)}
    # "One of 2 places" is worth little without the other one.
    worth = [fact for fact in others if is_stated(fact) or (fact.kind, fact.words) == (lead.kind, lead.words)]
    for fact in sorted(worth, key=precedence(report.facts)):
        # Two lines of one function can have the same sentence, which tells a reader nothing the second time.
        if (fact.path, fact.line) != (lead.path, lead.line) and (fact.path, fact.says) not in shown:
            lines.setdefault((fact.path, fact.line), fact)
            shown.add((fact.path, fact.says))
    # Further lines that the report only names tell a reader less than what the code says.
    found = sorted(lines.values(), key=lambda fact: fact.says.startswith("The report names this line"))
    elsewhere = [fact for fact in found if fact.path != lead.path][: SUSPECTS - 1]
    same = [fact for fact in found if fact.path == lead.path and fact.line]
    # Without a claim, the other places of the report matter as much as what surrounds the first.
    stated = (*elsewhere, *same) if report.statement != "claim" else (*same, *elsewhere)
    first = (*stated, *kinds.values()) if report.statement != "claim" and elsewhere else (*kinds.values(), *stated)
    # What a program printed is always shown.
    frames = [fact for fact in stated if fact.kind == "raised_here"] if lead.kind == "built_here" else []
    # The line of an older release may have moved since.
    older = [fact for fact in report.facts if fact.kind == "older_release" and is_unsure(lead)]
    # When a line came in matters less than what else the report names, or more if it names the release.
    came = [fact for fact in kinds.values() if fact.kind == "introduced_in"]
    recent = [fact for fact in came if fact.words is None]
    later = [fact for fact in stated if fact.kind == "changed_in" and fact.chosen]
    first = (*later, *(fact for fact in came if fact.words), *(fact for fact in first if fact not in recent))
    chosen = [*dict.fromkeys((*frames, *first, *older, *recent))][: FACTS - 1]
    # Below a fact about another line, "it" would be that line.
    chosen.sort(key=lambda fact: fact.kind != "guarded_by" and fact not in frames)
    return tuple(chosen) if leads_with_fact(report) else (lead, *chosen)


def _has_same_code(fact: Fact) -> bool:
    return fact.kind == "used_here" and fact.words is None


def folded_facts(report: TriageReport, shown: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the facts that are neither the headline nor shown below it."""
    visible = {(fact.path, fact.says) for fact in (*shown, *filter(None, [report.lead]))}
    kept: dict[tuple[str | None, str], Fact] = {}
    for fact in filter(_is_about(report), report.facts):
        # "It" would have no meaning without its line.
        if (fact.path, fact.says) not in visible and fact.kind != "guarded_by":
            kept.setdefault((fact.path, fact.says), fact)
    return tuple(sorted(kept.values(), key=lambda fact: (is_echo(fact), not is_stated(fact))))


def _is_about(report: TriageReport) -> Callable[[Fact], bool]:
    """Return a test for facts to fold: a test is listed if the report names it, or the function of a place."""
    symbols = [fact.symbol for fact in report.facts if is_stated(fact)]
    symbols += [suspect.symbol for suspect in report.suspects[:1]]
    functions = {_last(symbol) for symbol in symbols if symbol}
    return lambda fact: fact.kind != "tested_here" or _last(fact.words or "") in {*functions, _last(fact.symbol or "")}


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def is_echo(fact: Fact) -> bool:
    """Return whether a fact only says where a name of the report is."""
    return fact.kind == "defined_once" or (fact.kind == "named_here" and not fact.is_named_line)


def is_elsewhere(fact: Fact) -> bool:
    """Return whether the line that a fact is about is another one at this commit, and no function of it is known."""
    return is_gone(fact) and not fact.symbol


def leads_with_fact(report: TriageReport) -> bool:
    """Return whether the verdict is the leading fact; then its lines are shown, and no list item repeats it."""
    return report.lead is not None and report.verdict == report.lead.says[:300]
