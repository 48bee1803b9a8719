"""Judgement without a model: no key, no network, the same answer every time."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.brains.rules.audit import audit
from nodes.brains.rules.decide import decide
from nodes.brains.rules.investigate import investigate
from nodes.brains.rules.suspects import place, why
from nodes.brains.rules.write import write
from nodes.context import Case, Judged
from nodes.evidence import NumberedEvidence
from nodes.judgements import Audit, CodeReading, Draft, Investigation, WebReading
from nodes.state import SupervisorDecision


class RulesBrain:
    """The embedded default, and what everything falls back to."""

    name = "rules"

    async def decide(self, case: Case) -> Judged[SupervisorDecision]:
        """Choose the next step."""
        return Judged(decide(case))

    async def investigate(self, case: Case) -> Judged[Investigation]:
        """Read the issue."""
        return Judged(investigate(case))

    async def read_code(self, case: Case, candidates: Sequence[NumberedEvidence]) -> Judged[CodeReading]:
        """Keep the engine's order and its calibrated confidence."""
        if not candidates:
            return Judged(CodeReading(summary="No code matches the issue.", details="", confidence=0.0))
        first = candidates[0]
        return Judged(
            CodeReading(
                summary=f"First place: {place(first)}"[:300],
                details="; ".join(f"{place(item)} ({why(item, 1)})" for item in candidates[:3])[:600],
                suspects=tuple(item.id for item in candidates[:10]),
                confidence=case.search_confidence,
            )
        )

    async def read_web(self, case: Case, results: Sequence[NumberedEvidence]) -> Judged[WebReading]:  # noqa: ARG002
        """Keep what was found; a program cannot tell whether a page matters."""
        titles = "; ".join(item.evidence.quote.split("\n", 1)[0] for item in results)
        return Judged(
            WebReading(
                summary=f"{len(results)} pages mention it.",
                details=titles[:600],
                relevant=tuple(item.id for item in results[:10]),
                confidence=0.2 if results else 0.0,
            )
        )

    async def audit(self, case: Case) -> Judged[Audit]:
        """Try to refute the first suspect."""
        return Judged(audit(case))

    async def write(self, case: Case) -> Judged[Draft]:
        """Propose the report."""
        return Judged(write(case))
