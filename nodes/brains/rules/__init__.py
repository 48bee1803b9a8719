"""Judgements by rules: they need no key and no network, and are deterministic."""

from collections.abc import Sequence

from nodes.brains.rules.audit import audit, read_code, read_web
from nodes.brains.rules.decide import decide
from nodes.brains.rules.investigate import investigate
from nodes.brains.rules.write import write
from nodes.context.brain import Case, Judged
from nodes.evidence import NumberedEvidence
from nodes.judgements import Audit, CodeReading, Draft, Investigation, WebReading
from nodes.state import SupervisorDecision

__all__ = ["RulesBrain"]


class RulesBrain:
    """Judges by rules. This is the default without a model, and the fallback if a model fails."""

    name = "rules"

    async def decide(self, case: Case) -> Judged[SupervisorDecision]:
        """Choose the next step."""
        return Judged(decide(case))

    async def investigate(self, case: Case) -> Judged[Investigation]:
        """Read the issue."""
        return Judged(investigate(case))

    async def read_code(self, case: Case, candidates: Sequence[NumberedEvidence]) -> Judged[CodeReading]:
        """Judge the results of the search."""
        return Judged(read_code(case, candidates))

    async def read_web(self, case: Case, results: Sequence[NumberedEvidence]) -> Judged[WebReading]:
        """Judge the results from outside the repository."""
        return Judged(read_web(case, results))

    async def audit(self, case: Case) -> Judged[Audit]:
        """Try to refute the main hypothesis."""
        return Judged(audit(case))

    async def write(self, case: Case) -> Judged[Draft]:
        """Propose the report."""
        return Judged(write(case))
