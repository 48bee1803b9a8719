"""Propose the report from the evidence."""

from collections.abc import Sequence

from nodes.brains.rules.investigate import acting_kind, investigate
from nodes.brains.rules.missing import main_trace, missing_from
from nodes.brains.rules.places import frame_in, is_source, leading, name, why
from nodes.context.brain import Case
from nodes.evidence import NumberedEvidence
from nodes.judgements import Draft, DraftSuspect
from nodes.report import Kind
from nodes.search.sentences import say

_SIMPLE_CONFIDENCE = 0.9
"""Confidence of the rules in a kind that needs no code."""
_SUSPECTS, _PER_FILE = 5, 2
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
    "feature": say("This is probably a feature request, so no cause was searched for."),
    "question": say("This is probably a question, so no cause was searched for."),
    "spam": say("The issue is probably not about this project; a maintainer should check it."),
    "security": say("This is probably a security report; continue it in private."),
    "bug": say("The issue has too little information to search for a cause."),
}


def write(case: Case) -> Draft:
    """Propose the report; the program adds its cause and headline from facts."""
    reading = case.state.reading or investigate(case)
    ranked, simple = leading(case), reading.kind in ("feature", "question", "spam", "security")
    given = {"kind": reading.kind, "severity": reading.severity, "severity_reason": reading.severity_reason}
    if not ranked and all(entry.node != "codebase_search" for entry in case.state.trace):
        return Draft(
            verdict=_SIMPLE_VERDICTS.get(reading.kind, _SIMPLE_VERDICTS["bug"]),
            root_cause="",
            missing=reading.missing,
            labels=_LABELS[reading.kind],
            confidence=_SIMPLE_CONFIDENCE if simple else 0.0,
            **given,
        )
    chosen = _choose(ranked)
    return Draft(
        verdict=f"The search ranks {name(chosen[0].evidence)} first." if chosen else "",
        root_cause="",
        suspects=tuple(DraftSuspect(evidence=item.id, why=why(case, item.evidence)) for item in chosen),
        # After an exchange the list is computed again, because the answers may contain what was missing.
        missing=missing_from(case, reading.kind) if case.state.human_exchanges else reading.missing,
        ruled_out=_ruled_out(case, ranked, chosen),
        labels=(*kind_labels(case, reading.kind), *_area(chosen, case.state.repository)),
        confidence=case.state.search_confidence if chosen else 0.0,
        **given,
    )


def kind_labels(case: Case, kind: Kind) -> tuple[str, ...]:
    """Return no label if another kind is more likely: no label is better than a wrong one."""
    return () if kind == "bug" and acting_kind(case.title, case.body, case.facts).rather else _LABELS[kind]


def _choose(ranked: Sequence[NumberedEvidence]) -> tuple[NumberedEvidence, ...]:
    """Choose the best places, at most two per file; tests only if there is nothing else."""
    source = [item for item in ranked if is_source(item.evidence)] or list(ranked)
    selected: list[NumberedEvidence] = []
    for item in source:
        if sum(item.evidence.locator.path == other.evidence.locator.path for other in selected) < _PER_FILE:
            selected.append(item)
    return tuple(selected[:_SUSPECTS])


def _ruled_out(case: Case, ranked: Sequence[NumberedEvidence], chosen: Sequence[NumberedEvidence]) -> tuple[str, ...]:
    """Return places that were found and are not suspects, with the reason, best first."""
    others = [(item, is_source(item.evidence)) for item in ranked if item not in chosen]
    asides = [(item, "a test, example or document, not code at fault") for item, source in others if not source]
    # A trace whose frames are elsewhere, such as in the built package, says nothing about these files.
    is_mapped = main_trace(case.facts) is not None and any(frame_in(case, item.evidence) for item in ranked)
    sources = [item for item, source in others if source and is_mapped]
    off_trace = [(item, "not on the stack trace") for item in sources if not frame_in(case, item.evidence)]
    return tuple(f"{name(item.evidence)}: {why} [{item.id}]"[:300] for item, why in (*asides, *off_trace))[:3]


def _area(chosen: Sequence[NumberedEvidence], repository: str) -> tuple[str, ...]:
    """Return a label for the first specific folder of the top suspect; the repository's own name is not specific."""
    if not chosen:
        return ()
    folders = str(chosen[0].evidence.locator.path).split("/")[:-1]
    plain = _PLAIN_FOLDERS | {repository.rpartition("/")[2].lower()}
    area = next((folder for folder in folders if folder.lower() not in plain), None)
    return (f"area: {area}"[:50],) if area else ()
