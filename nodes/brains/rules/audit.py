"""Try to refute the main hypothesis with the gathered evidence."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.brains.rules.places import (
    is_source,
    leading,
    name,
    plain_words,
    reason_kinds,
    rival,
    shared_words,
    words_of,
)
from nodes.context import Case
from nodes.evidence import NumberedEvidence
from nodes.judgements import Audit
from nodes.search.tokens import query_terms

_SUPPORTED, _DOUBTED = 0.8, 0.6
"""Confidence in a place with two kinds of reasons or a frame of the trace, and in any other place."""
_ENOUGH_WORDS = 2
"""Number of words that issue and quote must share if nothing else links them."""


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
