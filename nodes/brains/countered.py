"""A statement that contradicts a model's submission, judged in the same request, so that a careless approval shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pydantic import Field

from nodes.context import Case
from nodes.evidence import NumberedEvidence
from nodes.judgements import Audit, Objections, Sentence

UNCRITICAL = "The critic did not refute an explanation that contradicts this one, so its approval does not count."
_ASKED = (
    "## Another explanation\n"
    "What the first place does is correct, so the change does not belong there but in {place}, as {id} shows.\n\n"
    "Say in against_other what speaks against this explanation, with the id of the code that shows it; then set "
    "other_holds to true if it is the right one all the same. Judge it as strictly as the hypothesis."
)
_ID = re.compile(r"\bE\d{1,4}\b")


class ComparedAudit(Objections):
    """A second reading of two explanations, of which at most one is right."""

    against_other: Sentence = Field(default="", description="What speaks against the other explanation, as [E1].")
    other_holds: bool = Field(default=True, description="Whether the other explanation is the right one.")
    approved: bool
    confidence: float = Field(default=0.0, ge=0, le=1)

    def judged(self, gathered: Collection[str]) -> Audit:
        """Return the audit; an approval counts only with an id of the evidence that refutes the other one.

        Who approves both explanations has refuted neither, and who does not answer has not compared them.
        """
        audit = Audit.model_validate(self.model_dump(exclude={"against_other", "other_holds"}))
        refuted = not self.other_holds and not set(_ID.findall(self.against_other)).isdisjoint(gathered)
        if not self.approved or refuted:
            return audit
        return audit.model_copy(update={"approved": False, "gaps": (UNCRITICAL,)})


def other_place(case: Case, shown: Sequence[NumberedEvidence]) -> NumberedEvidence | None:
    """Return the rival that the submission names, else the best place of the search in a file that it does not cite.

    If it cites every file, a file that it does not want to change is enough. What the critic sees anyway is preferred,
    because it costs no tokens. None if there is no such place.
    """
    given = case.state.submitted
    if given is None or not given.places:
        return None
    places = {place.evidence for place in given.places}
    if given.rival is not None and given.rival.evidence not in places:
        rivals = [item for item in case.evidence if item.evidence.key == given.rival.evidence]
        if rivals and rivals[0].evidence.kind == "code":
            return rivals[0]
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
