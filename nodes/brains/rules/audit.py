"""Try to refute the first suspect: is there a rival, is there a link, does an answer speak against it?"""

from __future__ import annotations

from nodes.brains.rules.questions import EQUAL
from nodes.brains.rules.suspects import latest_suspects
from nodes.context import Case
from nodes.evidence import NumberedEvidence
from nodes.judgements import Audit

RIVAL_FACTOR, SINGLE_REASON_FACTOR = 0.9, 0.95
"""What a rival as strong as the first, and a suspicion resting on one kind of reason, take off the confidence."""
MAX_GAPS = 3


def audit(case: Case) -> Audit:
    """Doubt lowers the confidence; the gaps are what a wider search should look for.

    By rules nothing is rejected for lack of proof: the quality gate decides by the confidence, and a rejection that
    no search can answer would only spend the rounds. What is rejected is what is not there, by the critic itself.
    """
    suspects = latest_suspects(case)
    if not suspects:
        return Audit(approved=True, gaps=_unseen(case, suspects), confidence=0.0)
    confidence = case.state.search_confidence
    first = suspects[0].evidence
    rivals = [s for s in suspects[1:] if s.evidence.locator.path != first.locator.path]
    if rivals and rivals[0].evidence.score >= EQUAL * first.score:
        confidence *= RIVAL_FACTOR
    if len(first.reasons) < 2:
        confidence *= SINGLE_REASON_FACTOR
    return Audit(approved=True, gaps=_unseen(case, suspects), confidence=round(confidence, 4))


def _unseen(case: Case, suspects: list[NumberedEvidence]) -> tuple[str, ...]:
    """Names that the issue gives and no quote or path of a suspect shows."""
    shown = " ".join(f"{s.evidence.locator.path} {s.evidence.symbol} {s.evidence.quote}" for s in suspects).lower()
    names = (*case.facts.symbols, *case.facts.paths)
    return tuple(name[:300] for name in names if name.rsplit(".", 1)[-1].lower() not in shown)[:MAX_GAPS]
