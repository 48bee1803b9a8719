"""Read the issue: the problem in the program's words, a first lead, and what is missing."""

from __future__ import annotations

from nodes.brains.rules.understand import kind_of, severity_of
from nodes.context import Case
from nodes.facts import IssueFacts
from nodes.judgements import Investigation
from nodes.search.types import Frame, StackTrace

LEAD_BY_TRACE, LEAD_BY_NAME, LEAD_BY_WORDS = 0.5, 0.35, 0.15
"""How much a reading alone is worth: never enough to write by (PRD section 7)."""


def investigate(case: Case) -> Investigation:
    """What is certain from the text alone."""
    facts = case.facts
    kind = kind_of(case.title, case.body, facts)
    severity, reason = severity_of(case.title, case.body, facts, kind)
    hypothesis, confidence = _lead(facts)
    return Investigation(
        problem=_problem(facts, kind)[:300],
        hypothesis=hypothesis[:300],
        missing=_missing(facts) if kind == "bug" else (),
        kind=kind,
        severity=severity,
        severity_reason=reason[:300],
        confidence=confidence,
    )


def _problem(facts: IssueFacts, kind: str) -> str:
    if facts.traces:
        trace = facts.traces[0]
        where = f" in {_frame(trace.frames[0])}" if trace.frames else ""
        return f"{trace.error or 'An error'} is raised{where}."
    if facts.errors:
        return f"The program reports “{facts.errors[0]}”."
    named = ", ".join(f"`{name}`" for name in facts.symbols[:3])
    if kind == "bug":
        return f"A wrong result around {named}." if named else "A wrong result, described in words alone."
    return f"A {kind} about {named}." if named else f"A {kind}, described in words alone."


def _frame(frame: Frame) -> str:
    place = frame.path or frame.module or "unknown code"
    return f"`{frame.function}` ({place})" if frame.function else f"`{place}`"


def _lead(facts: IssueFacts) -> tuple[str, float]:
    if facts.traces and facts.traces[0].frames:
        return f"The way to it leads through {_path_of(facts.traces[0])}.", LEAD_BY_TRACE
    if facts.paths:
        return f"The issue names {', '.join(f'`{path}`' for path in facts.paths[:3])}.", LEAD_BY_NAME
    if facts.symbols:
        return f"The issue names {', '.join(f'`{name}`' for name in facts.symbols[:3])}.", LEAD_BY_NAME
    return "", LEAD_BY_WORDS


def _path_of(trace: StackTrace) -> str:
    return " ← ".join(_frame(frame) for frame in trace.frames[:3])


def _missing(facts: IssueFacts) -> tuple[str, ...]:
    """What a maintainer would ask for next; only what is really absent."""
    absent = [heading for heading, content in facts.form if not content.strip()]
    wanted = (
        (bool(facts.traces or facts.errors or facts.code_blocks), "the exact error message or wrong output"),
        (bool(facts.versions), "the version in use"),
        (bool(facts.code_blocks), "a snippet or steps that show it"),
    )
    lacking = [name for there, name in wanted if not there]
    return tuple(f"{name}"[:300] for name in dict.fromkeys((*lacking, *(f"“{h}” of the form" for h in absent))))[:4]
