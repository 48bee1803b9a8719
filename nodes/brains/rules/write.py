"""Propose the report from what was found: every sentence of the cause cites its evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nodes.brains.rules.audit import is_linked
from nodes.brains.rules.investigate import investigate
from nodes.brains.rules.kind import taken_for
from nodes.brains.rules.missing import main_trace
from nodes.brains.rules.places import (
    frame_in,
    is_pointed,
    is_source,
    leading,
    name,
    plain_words,
    reason_kinds,
    rival,
    why,
    words_of,
)
from nodes.context import Case
from nodes.evidence import Evidence, NumberedEvidence
from nodes.judgements import Draft, DraftSuspect, Investigation
from nodes.report import Kind
from nodes.search.roles import role_of
from nodes.state import CORRECTION
from nodes.trust.quality_gate import LOW_CONFIDENCE

_SIMPLE = 0.9
"""How sure the rules are of what kind an issue is, once they name one that needs no code."""
_SUSPECTS = 5
_PER_FILE = 2
_NEAR = 0.75
_OWN_KINDS = 3
"""Kinds of reasons, a maintainer's word among them, from which on a place speaks for itself."""
_PLAIN_FOLDERS = frozenset(
    {"src", "lib", "libs", "app", "apps", "pkg", "packages", "source", "crates", "internal", "cmd"}
)
_TYPE = re.compile(r"[\w.:$]{1,80}")
_LABELS: dict[Kind, tuple[str, ...]] = {
    "bug": ("bug",),
    "feature": ("enhancement",),
    "question": ("question",),
    "docs": ("documentation",),
    "spam": (),
    "security": (),
}
_SIMPLE_VERDICTS: dict[Kind, str] = {
    "feature": "Reads as a feature request: it describes no fault, so no cause was looked for.",
    "question": "Reads as a question: it describes no fault, so no cause was looked for.",
    "spam": "Says nothing about this project; a maintainer may want to look before anyone answers.",
    "security": "Reads as a security report; it should be continued in private.",
    "bug": "Says too little to look for a cause.",
}


def write(case: Case) -> Draft:
    """The report as the rules see it; where no cause can be claimed it says where to start reading."""
    reading = case.state.reading or investigate(case)
    ranked = leading(case)
    if not ranked and not _searched(case):
        return _simple(reading)
    chosen = _choose(ranked)
    claims = bool(chosen) and _may_claim(case, chosen)
    return Draft(
        verdict=_verdict(case, chosen, claims=claims)[:300],
        root_cause=_root_cause(case, chosen)[:1_200] if claims else "",
        suspects=tuple(DraftSuspect(evidence=item.id, why=why(case, item.evidence)) for item in chosen),
        missing=reading.missing,
        ruled_out=_ruled_out(case, ranked, chosen),
        how_to_confirm=_how_to_confirm(case, ranked, chosen)[:1_200],
        labels=(*_kind_labels(case, reading.kind), *_area(chosen, case.state.repository)),
        kind=reading.kind,
        severity=reading.severity,
        severity_reason=reading.severity_reason,
        confidence=case.state.search_confidence if chosen else 0.0,
    )


def _kind_labels(case: Case, kind: Kind) -> tuple[str, ...]:
    """None for what was only searched as a bug, and reads like something else: no label is better than a wrong one."""
    return () if kind == "bug" and taken_for(case.title, case.body, case.facts).rather else _LABELS[kind]


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


def _may_claim(case: Case, chosen: Sequence[NumberedEvidence]) -> bool:
    first = chosen[0]
    if is_pointed(first.evidence) and len(reason_kinds(case, first.evidence)) < _OWN_KINDS:
        return False  # that somebody said to look there is no evidence that the fault is there
    if _is_refuted(case, first.evidence):
        return False
    return case.state.search_confidence >= LOW_CONFIDENCE and is_linked(case, first)


def _is_refuted(case: Case, evidence: Evidence) -> bool:
    """Was a report called wrong by words that do not name this place? Then it is not claimed again."""
    corrections = [text for text in case.state.redirect_instructions if text.startswith(CORRECTION)]
    return any(not words_of(evidence) & set(plain_words(text.removeprefix(CORRECTION))) for text in corrections)


def _verdict(case: Case, chosen: Sequence[NumberedEvidence], *, claims: bool) -> str:
    if not chosen:
        return "Nothing in the code matches this report strongly enough to name a place."
    first = chosen[0].evidence
    if not claims:
        return f"No cause claimed; the place to start reading is {name(first)}."
    symbol = f" — `{first.symbol}`" if first.symbol else ""
    return f"Likely in `{first.locator.path}`{symbol}, {_short_why(case, first)}."


def _short_why(case: Case, evidence: Evidence) -> str:
    kinds = reason_kinds(case, evidence)
    return next((words for kind, words in _SHORT_WHY if kind in kinds), "the best match for the report as a whole")


_SHORT_WHY = (
    ("pointed", "where a maintainer said to look"),
    ("trace", "which is on the reporter's stack trace"),
    ("answer", "which an answer names"),
    ("phrase", "which holds the message the report quotes"),
    ("symbol", "which the report names"),
    ("path", "which the report names"),
    ("words", "which shares the report's rarest words"),
)


def _root_cause(case: Case, chosen: Sequence[NumberedEvidence]) -> str:
    first = chosen[0]
    sentences = [_first_sentence(case, first)]
    if "phrase" in reason_kinds(case, first.evidence) and frame_in(case, first.evidence):
        sentences.append(f"The same place holds a message that the report quotes [{first.id}].")
    other = rival(chosen)
    second = other or (chosen[1] if len(chosen) > 1 and chosen[1].evidence.score >= _NEAR else None)
    if second is not None:
        fits = "fits nearly as well" if other else "comes next"
        sentences.append(f"If the fault is not there, {name(second.evidence)} {fits} [{second.id}].")
    return " ".join(sentences)


def _first_sentence(case: Case, first: NumberedEvidence) -> str:
    evidence = first.evidence
    trace = main_trace(case.facts)
    cited = ", ".join(dict.fromkeys((*_trace_ids(case), first.id)))
    if trace is not None and frame_in(case, evidence):
        error = f"`{trace.error}`" if trace.error and _TYPE.fullmatch(trace.error) else "The error"
        return f"{error} is probably raised in or through {name(evidence)}, which is on the stack trace [{cited}]."
    said = {
        "answer": f"The fault is probably in {name(evidence)}, which an answer names [{first.id}].",
        "phrase": f"The message quoted probably comes from {name(evidence)}, which holds its words [{first.id}].",
        "symbol": f"The fault is probably in {name(evidence)}, which the report names [{first.id}].",
        "path": f"The fault is probably in {name(evidence)}, a file the report names [{first.id}].",
    }
    kinds = reason_kinds(case, evidence)
    plain = f"The fault is probably in {name(evidence)}, whose code uses the report's words [{first.id}]."
    return next((sentence for kind, sentence in said.items() if kind in kinds), plain)


def _trace_ids(case: Case) -> list[str]:
    """The reporter's trace, as evidence."""
    return [item.id for item in case.evidence if item.evidence.kind == "trace"][-1:]


def _ruled_out(case: Case, ranked: Sequence[NumberedEvidence], chosen: Sequence[NumberedEvidence]) -> tuple[str, ...]:
    """Places that were found and are not suspects, with the reason, best first."""
    said = [
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
    return tuple(line[:300] for line in (*said, *off_trace))[:3]


def _how_to_confirm(case: Case, ranked: Sequence[NumberedEvidence], chosen: Sequence[NumberedEvidence]) -> str:
    if not chosen:
        return ""
    first = chosen[0].evidence
    frame = frame_in(case, first)
    line = frame.line if frame is not None and frame.line and _inside(first, frame.line) else first.locator.start_line
    place = f"`{first.locator.path}:{line}`"
    given = "Run the code from the report" if case.facts.code_blocks else "Repeat what the report describes"
    step = f"{given} with a breakpoint at {place}: if it is never reached, this suspect is out."
    test = next(
        (item.evidence.locator.path for item in ranked if role_of(str(item.evidence.locator.path)) == "test"), None
    )
    return f"{step} The tests nearest to it are in `{test}`." if test else step


def _inside(evidence: Evidence, line: int) -> bool:
    where = evidence.locator
    return (where.start_line or 0) <= line <= (where.end_line or 0)


def _area(chosen: Sequence[NumberedEvidence], repository: str) -> tuple[str, ...]:
    """The first folder of the top suspect that means something: the repository's own name does not."""
    if not chosen:
        return ()
    folders = str(chosen[0].evidence.locator.path).split("/")[:-1]
    plain = _PLAIN_FOLDERS | {repository.rpartition("/")[2].lower()}
    area = next((folder for folder in folders if folder.lower() not in plain), None)
    return (f"area: {area}"[:50],) if area else ()
