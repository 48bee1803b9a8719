"""A statement that contradicts a model's submission, judged in the same request, so that a careless approval shows."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from nodes.context import Case
from nodes.evidence import NumberedEvidence
from nodes.judgements import Audit

UNCRITICAL = "The critic also approved an explanation that contradicts this one, so its approval does not count."
_ASKED = (
    "## Another explanation\n"
    "The first place of the hypothesis is right as it is. The fault is in {place} instead, where {id} shows it.\n\n"
    "Set other_holds to true if this one is the right explanation. Judge it as strictly as the hypothesis."
)


class ComparedAudit(Audit):
    """A second reading of two explanations, of which at most one is right."""

    other_holds: bool = Field(default=False, description="Whether the other explanation is the right one.")

    def judged(self) -> Audit:
        """Return the audit; who approves both explanations has refuted neither, so the first is rejected."""
        audit = Audit.model_validate(self.model_dump(exclude={"other_holds"}))
        if not (self.approved and self.other_holds):
            return audit
        return audit.model_copy(update={"approved": False, "gaps": (UNCRITICAL,)})


def other_place(case: Case, shown: Sequence[NumberedEvidence]) -> NumberedEvidence | None:
    """Return the best place of the search in a file that the submission does not cite; None if there is none.

    If it cites every file, a file that it does not want to change is enough. What the critic sees anyway is preferred,
    because it costs no tokens.
    """
    given = case.state.submitted
    if given is None or not given.places:
        return None
    places = {place.evidence for place in given.places}
    for named in ({*given.cited, *places}, places):
        files = {item.evidence.locator.path for item in case.evidence if item.evidence.key in named}
        for items in (shown, case.evidence):
            others = [
                item for item in items if item.evidence.kind == "code" and item.evidence.locator.path not in files
            ]
            if others:
                return max(others, key=lambda item: item.evidence.score)
    return None


def build_question(other: NumberedEvidence) -> str:
    """Return the other explanation, and what to answer about it."""
    place = f"`{other.evidence.symbol}`" if other.evidence.symbol else f"`{other.evidence.locator.path}`"
    return _ASKED.format(place=place, id=other.id)
