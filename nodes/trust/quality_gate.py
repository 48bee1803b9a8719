"""Accept a draft, request a wider search, or hand the draft to a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LOW_CONFIDENCE = 0.65
"""The default confidence below which no cause is claimed (PRD section 7)."""

RetryCause = Literal["quality_issue_detected", "conflicting_evidence_attempting_resolution"]


@dataclass(frozen=True, slots=True)
class Signals:
    """The signals against a draft that the quality gate judges."""

    confidence: float
    citation_issue: bool = False
    hallucination: bool = False
    critic_retry: bool = False
    unreadable: bool = False
    """There was no code to search, so another search cannot help."""
    conflict: bool = False
    nothing_found: bool = False
    """The search had no candidate at all, so another search cannot help."""
    all_filtered: bool = False
    """Every candidate fell below the score threshold; this is worth one wider search, but no second."""
    reported: float | None = None
    """The confidence that the report shows, which may be an earlier draft's; None if it is this one's."""
    threshold: float = LOW_CONFIDENCE
    """The confidence below which a draft is not accepted."""

    @property
    def quality_issue(self) -> bool:
        """Whether any one of these signals is set."""
        return self.confidence < self.threshold or self.citation_issue or self.hallucination or self.critic_retry


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict on a draft."""

    outcome: Literal["accept", "retry", "review"]
    cause: RetryCause | None = None
    message: str = ""
    """For maintainers: what a person should check."""


def gate(signals: Signals, *, retry_count: int, max_retries: int) -> Gate:
    """Choose the outcome for a draft; retries come before a human review."""
    # The causes that another search cannot change come first.
    if signals.unreadable:
        return Gate("review", message=_UNREADABLE)
    if signals.nothing_found:
        return Gate("review", message=_NOTHING_FOUND)
    if signals.all_filtered:
        spent = retry_count >= min(1, max_retries)
        return Gate("review", message=_ALL_FILTERED) if spent else Gate("retry", "quality_issue_detected")
    if not (signals.quality_issue or signals.conflict):
        return Gate("accept")
    if retry_count < max_retries:
        only_conflict = signals.conflict and not signals.quality_issue
        cause: RetryCause = "conflicting_evidence_attempting_resolution" if only_conflict else "quality_issue_detected"
        return Gate("retry", cause)
    reported = signals.confidence if signals.reported is None else signals.reported
    return Gate("review", message=_CONFLICT if signals.conflict else _low_confidence(reported, retry_count))


_UNREADABLE = "The code could not be read, so nothing was searched. Once the App can read it, `/triage` searches it."
_NOTHING_FOUND = (
    "Nothing in the repository matched the words, names or traces of this issue. "
    "An error message, a stack trace or the name of the feature would give the search something to match."
)
_ALL_FILTERED = (
    "Some code shares words with this issue, but no place matches strongly enough to name. "
    "A name or a message from the program itself would narrow it down."
)
_CONFLICT = (
    "The evidence points in different directions and searching wider did not settle it. "
    "Please compare the suspects and decide which one to follow."
)


READ_THE_LIST = "use the list as a starting point."
"""The end of a review message that is about the places of the report."""


def _low_confidence(confidence: float, retries: int) -> str:
    times = {0: "Without a second attempt", 1: "After one wider search"}.get(retries, f"After {retries} wider searches")
    return f"{times}, confidence in the first place is {confidence:.0%}: {READ_THE_LIST}"
