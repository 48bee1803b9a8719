"""Judge results from the code and from outside it, and try to refute the main hypothesis with them."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.brains.rules.places import (
    is_source,
    leading,
    name,
    rank,
    reason_kinds,
    rival,
    shared_words,
    why,
    words_of,
)
from nodes.context import Case
from nodes.evidence import NumberedEvidence
from nodes.judgements import Audit, CodeReading, WebReading
from nodes.search.tokens import plain_words, query_terms

AMBIGUOUS = 0.85
"""Factor for the confidence if two files are nearly equal."""
NO_SOURCE = 0.5
"""Factor for the confidence if only tests, examples or documents were found."""
_SUPPORTED, _DOUBTED = 0.8, 0.6
"""Confidence in a place with two kinds of reasons or a frame of the trace, and in any other place."""
_ENOUGH_WORDS = 2
"""Number of words that issue and quote must share if nothing else links them."""


def read_code(case: Case, candidates: Sequence[NumberedEvidence]) -> CodeReading:
    """Name the top suspect with its reason and confidence."""
    ranked = rank(case, candidates)
    if not ranked:
        return CodeReading(
            summary="No place in the code matches the issue strongly enough to name.",
            details="The names, messages and rare words of the issue match no place clearly.",
        )
    first = ranked[0].evidence
    others = "; ".join(f"{item.id} {name(item.evidence)}" for item in ranked[1:4])
    return CodeReading(
        summary=f"Top suspect: {name(first)}."[:300],
        details=f"{ranked[0].id}: {why(case, first) or 'ranked first'}.{f' Then {others}.' if others else ''}"[:600],
        suspects=tuple(item.id for item in ranked[:10]),
        confidence=_confidence(case, ranked),
    )


def _confidence(case: Case, ranked: Sequence[NumberedEvidence]) -> float:
    """Return the engine's calibrated confidence; a rule may lower it but never raise it."""
    ambiguous = AMBIGUOUS if rival(ranked) is not None else 1.0
    no_source = 1.0 if is_source(ranked[0].evidence) else NO_SOURCE
    return round(min(max(case.search_confidence, 0.0), 1.0) * ambiguous * no_source, 4)


_ENOUGH = 2
"""Rare terms that a result must share with the error message."""


def read_web(case: Case, results: Sequence[NumberedEvidence]) -> WebReading:
    """Select the results about the same error."""
    messages = [trace.message or trace.error or "" for trace in case.facts.traces]
    terms = set(query_terms(" ".join((case.title, *messages, *case.facts.errors))))
    shared = {item.id: len(terms & set(query_terms(item.evidence.quote))) for item in results}
    relevant = [item for item in results if shared[item.id] >= _ENOUGH]
    relevant.sort(key=lambda item: -shared[item.id])
    if not relevant:
        return WebReading(summary="No outside result is about this error.", details="")
    where = ", ".join(str(item.evidence.locator) for item in relevant[:3])
    return WebReading(
        summary=f"{len(relevant)} results are about the same error.",
        details=f"Closest: {where}"[:600],
        relevant=tuple(item.id for item in relevant[:10]),
        confidence=0.5,
    )


def audit(case: Case) -> Audit:
    """State every doubt as a gap or a contradiction, and lower the confidence.

    Rules reject nothing: a rejection that no search can resolve would block the writer until the rounds are spent.
    Gaps, contradictions and a low confidence reach the quality gate, which widens the search or requests a review.
    """
    ranked = leading(case)
    if not ranked:
        return Audit(approved=True, gaps=("No code was found to support any hypothesis",), confidence=0.0)
    contradictions = _contradictions(case, ranked)
    gaps = _gaps(case, ranked)
    kinds = reason_kinds(case, ranked[0].evidence)
    supported = "trace" in kinds or len(kinds) >= 2
    return Audit(
        approved=True,
        gaps=gaps,
        required_evidence=_required(case) if gaps else (),
        contradictions=contradictions,
        confidence=_SUPPORTED if supported and not gaps else _DOUBTED,
    )


def is_linked(case: Case, item: NumberedEvidence) -> bool:
    """Return whether evidence links the quoted code to the symptom."""
    if reason_kinds(case, item.evidence) & {"trace", "answer", "phrase", "symbol", "path"}:
        return True
    return len(shared_words(case, item.evidence)) >= _ENOUGH_WORDS


def _has_source(case: Case, ranked: Sequence[NumberedEvidence]) -> bool:
    """Return whether a place may be at fault: for an issue about documentation any place, for others source code."""
    about_docs = case.state.reading is not None and case.state.reading.kind == "docs"
    return about_docs or any(is_source(item.evidence) for item in ranked)


def _gaps(case: Case, ranked: Sequence[NumberedEvidence]) -> tuple[str, ...]:
    first, other = ranked[0], rival(ranked)
    kinds = reason_kinds(case, first.evidence)
    faults = (
        (f"{name(other.evidence)} fits nearly as well as {name(first.evidence)}" if other else "", other is not None),
        ("Only tests, examples or documents were found, no source code", not _has_source(case, ranked)),
        (f"No evidence links the symptom to {name(first.evidence)} except its rank", not is_linked(case, first)),
        (f"Only one kind of reason supports {name(first.evidence)}", len(kinds) < 2 and "trace" not in kinds),
    )
    # Cut to the length that a verdict may have (``nodes.state.Short``).
    return tuple(text[:300] for text, holds in faults if holds)


def _required(case: Case) -> tuple[str, ...]:
    """Return terms for a wider search: what the issue names, never the suspects' own names."""
    named = [*case.facts.symbols[:3], *case.facts.errors[:1]]
    return tuple(dict.fromkeys(text[:300] for text in named))[:4]


def _contradictions(case: Case, ranked: Sequence[NumberedEvidence]) -> tuple[str, ...]:
    """Return answers that name the second suspect and not the first."""
    others = [item for item in ranked[1:] if item.evidence.locator.path != ranked[0].evidence.locator.path]
    if not others:
        return ()
    first, second = words_of(ranked[0].evidence), words_of(others[0].evidence)
    found = []
    for exchange in case.state.human_exchanges:
        words = _stems(exchange.answer or "")
        if words & _stems(" ".join(second - first)) and not words & _stems(" ".join(first)):
            found.append(
                f"The answer names {name(others[0].evidence)}, which does not belong to {name(ranked[0].evidence)}"[
                    :300
                ]
            )
    return tuple(found[:4])


def _stems(text: str) -> set[str]:
    return set(query_terms(" ".join(plain_words(text))))
