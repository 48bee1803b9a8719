"""Propose the report from what was found: every sentence of the cause cites its evidence."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.brains.rules.investigate import acting_kind, investigate
from nodes.brains.rules.missing import main_trace, missing_from
from nodes.brains.rules.places import (
    frame_in,
    is_source,
    leading,
    name,
    why,
)
from nodes.context import Case
from nodes.evidence import NumberedEvidence
from nodes.judgements import Draft, DraftSuspect, Investigation
from nodes.report import Kind

_SIMPLE = 0.9
"""How sure the rules are of what kind an issue is, once they name one that needs no code."""
_SUSPECTS = 5
_PER_FILE = 2
_PLAIN_FOLDERS = frozenset(
    {"src", "lib", "libs", "app", "apps", "pkg", "packages", "source", "crates", "internal", "cmd"}
)
_LABELS: dict[Kind, tuple[str, ...]] = {
    "bug": ("bug",),
    "feature": ("enhancement",),
    "question": ("question",),
    "docs": ("documentation",),
    "spam": (),
    "security": (),
}
_SIMPLE_VERDICTS: dict[Kind, str] = {
    "feature": "This is probably a feature request: it describes no fault, so no cause was searched for.",
    "question": "This is probably a question: it describes no fault, so no cause was searched for.",
    "spam": "The issue is probably not about this project; a maintainer should check it.",
    "security": "This is probably a security report; continue it in private.",
    "bug": "The issue has too little information to search for a cause.",
}


def write(case: Case) -> Draft:
    """The report as the rules see it; its cause and headline follow from facts, which the program adds."""
    reading = case.state.reading or investigate(case)
    ranked = leading(case)
    if not ranked and not _searched(case):
        return _simple(reading)
    chosen = _choose(ranked)
    return Draft(
        verdict=f"The search ranks {name(chosen[0].evidence)} first." if chosen else "",
        root_cause="",
        suspects=tuple(DraftSuspect(evidence=item.id, why=why(case, item.evidence)) for item in chosen),
        missing=missing_from(case, reading.kind) if case.state.human_exchanges else reading.missing,
        ruled_out=_ruled_out(case, ranked, chosen),
        labels=(*_kind_labels(case, reading.kind), *_area(chosen, case.state.repository)),
        kind=reading.kind,
        severity=reading.severity,
        severity_reason=reading.severity_reason,
        confidence=case.state.search_confidence if chosen else 0.0,
    )


def _kind_labels(case: Case, kind: Kind) -> tuple[str, ...]:
    """None for what was only searched as a bug, and reads like something else: no label is better than a wrong one."""
    return () if kind == "bug" and acting_kind(case.title, case.body, case.facts).rather else _LABELS[kind]


def _searched(case: Case) -> bool:
    return any(entry.node == "codebase_search" for entry in case.state.trace)


def _simple(reading: Investigation) -> Draft:
    return Draft(
        verdict=_SIMPLE_VERDICTS.get(reading.kind, _SIMPLE_VERDICTS["bug"]),
        root_cause="",
        missing=reading.missing,
        labels=_LABELS[reading.kind],
        kind=reading.kind,
        severity=reading.severity,
        severity_reason=reading.severity_reason,
        confidence=_SIMPLE if reading.kind in ("feature", "question", "spam", "security") else 0.0,
    )


def _choose(ranked: Sequence[NumberedEvidence]) -> tuple[NumberedEvidence, ...]:
    """The best places, no file more than twice, and tests only where there is nothing else."""
    source = [item for item in ranked if is_source(item.evidence)] or list(ranked)
    kept: list[NumberedEvidence] = []
    for item in source:
        if sum(item.evidence.locator.path == other.evidence.locator.path for other in kept) < _PER_FILE:
            kept.append(item)
    return tuple(kept[:_SUSPECTS])


def _ruled_out(case: Case, ranked: Sequence[NumberedEvidence], chosen: Sequence[NumberedEvidence]) -> tuple[str, ...]:
    """Places that were found and are not suspects, with the reason, best first."""
    sentences = [
        f"{name(item.evidence)}: a test, example or document, not code at fault [{item.id}]"
        for item in ranked
        if item not in chosen and not is_source(item.evidence)
    ]
    trace = main_trace(case.facts)
    off_trace = [
        f"{name(item.evidence)}: not on the stack trace [{item.id}]"
        for item in ranked
        if item not in chosen and is_source(item.evidence) and trace is not None and not frame_in(case, item.evidence)
    ]
    return tuple(line[:300] for line in (*sentences, *off_trace))[:3]


def _area(chosen: Sequence[NumberedEvidence], repository: str) -> tuple[str, ...]:
    """The first folder of the top suspect that means something: the repository's own name does not."""
    if not chosen:
        return ()
    folders = str(chosen[0].evidence.locator.path).split("/")[:-1]
    plain = _PLAIN_FOLDERS | {repository.rpartition("/")[2].lower()}
    area = next((folder for folder in folders if folder.lower() not in plain), None)
    return (f"area: {area}"[:50],) if area else ()
