"""Judge results from the code and from outside it, and try to refute the main hypothesis with them."""

from collections.abc import Sequence

from nodes.brains.rules.places import is_source, leading, name, rank, reason_kinds, rival, shared_words, why, words_of
from nodes.context.brain import Case
from nodes.evidence import NumberedEvidence
from nodes.judgements import Audit, CodeReading, WebReading
from nodes.search.tokens import plain_words, query_terms

AMBIGUOUS, NO_SOURCE = 0.85, 0.5
"""Factors for the confidence if two files are nearly equal, and if only tests, examples or documents were found."""
_SUPPORTED, _DOUBTED = 0.8, 0.6
"""Confidence in a place with two kinds of reasons or a frame of the trace, and in any other place."""
_ENOUGH = 2
"""Words that issue and quote must share if nothing else links them, and rare terms that a result must share with the
error message."""


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
    # The engine's calibrated confidence, which a rule may lower but never raise.
    factor = (AMBIGUOUS if rival(ranked) is not None else 1.0) * (1.0 if is_source(first) else NO_SOURCE)
    return CodeReading(
        summary=f"Top suspect: {name(first)}."[:300],
        details=f"{ranked[0].id}: {why(case, first) or 'ranked first'}.{f' Then {others}.' if others else ''}"[:600],
        suspects=tuple(item.id for item in ranked[:10]),
        confidence=round(min(max(case.search_confidence, 0.0), 1.0) * factor, 4),
    )


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
    gaps = _gaps(case, ranked)
    # Terms for a wider search: what the issue names, never the suspects' own names.
    named = dict.fromkeys(text[:300] for text in (*case.facts.symbols[:3], *case.facts.errors[:1]))
    return Audit(
        approved=True,
        gaps=gaps,
        required_evidence=tuple(named) if gaps else (),
        contradictions=_contradictions(case, ranked),
        # With one kind of reason there is a gap, unless it is the trace.
        confidence=_DOUBTED if gaps else _SUPPORTED,
    )


def _gaps(case: Case, ranked: Sequence[NumberedEvidence]) -> tuple[str, ...]:
    first, other = ranked[0].evidence, rival(ranked)
    kinds = reason_kinds(case, first)
    # For an issue about documentation any place may be at fault.
    about_docs = case.state.reading is not None and case.state.reading.kind == "docs"
    links = kinds & {"trace", "answer", "phrase", "symbol", "path"}
    faults = (
        (f"{name(other.evidence)} fits nearly as well as {name(first)}" if other else "", other is not None),
        (
            "Only tests, examples or documents were found, no source code",
            not about_docs and not any(is_source(item.evidence) for item in ranked),
        ),
        (
            f"No evidence links the symptom to {name(first)} except its rank",
            not links and len(shared_words(case, first)) < _ENOUGH,
        ),
        (f"Only one kind of reason supports {name(first)}", len(kinds) < 2 and "trace" not in kinds),
    )
    # Cut to the length that a verdict may have (``nodes.state.Short``).
    return tuple(text[:300] for text, holds in faults if holds)


def _contradictions(case: Case, ranked: Sequence[NumberedEvidence]) -> tuple[str, ...]:
    """Return answers that name the second suspect and not the first."""
    others = [item for item in ranked[1:] if item.evidence.locator.path != ranked[0].evidence.locator.path]
    if not others:
        return ()
    first, second = words_of(ranked[0].evidence), words_of(others[0].evidence)
    own, other = _stems(" ".join(first)), _stems(" ".join(second - first))
    answers = (_stems(exchange.answer or "") for exchange in case.state.human_exchanges)
    text = f"The answer names {name(others[0].evidence)}, which does not belong to {name(ranked[0].evidence)}"
    return tuple(text[:300] for words in answers if words & other and not words & own)[:4]


def _stems(text: str) -> set[str]:
    return set(query_terms(" ".join(plain_words(text))))
