"""The fixed sentences of a report, and the words for its numbers."""

from __future__ import annotations

from typing import Final

from nodes.report import NotFoundReason

NOT_FOUND: Final[dict[NotFoundReason, str]] = {
    "no_candidates": "no code in this commit matches what the issue says",
    "only_weak_candidates": "the evidence is too weak to name a cause",
    "several_equal_candidates": "several places match equally well",
    "claims_failed_checking": "what was claimed did not pass checking and was dropped",
    "not_a_bug_report": "this does not report a fault in the code",
    "text_too_short": "the text is too short to search by",
    "code_not_readable": "nothing was searched",
    "not_searched": "the code was not searched",
    "search_and_model_disagree": "the search and the model disagree",
}
SECURITY: Final = (
    "**This may describe a security problem.** Please do not add details here. "
    "Report it privately as the repository's security policy (SECURITY.md) says; a maintainer can then hide this issue."
)
LEAKED: Final = (
    "**This issue shows what looks like a secret: a token, a key or a password.** "
    "Please revoke it first, wherever it is valid: assume it is compromised. Then edit the issue and remove it; "
    "its history still contains the old text, which a maintainer can delete. Nothing was analysed. "
    "Once the text no longer contains it, triage continues automatically."
)
WAITING: Final = (
    "**One question before a place can be named.**",
    "**A few questions before a place can be named.**",
)
FOLLOWS: Final = "*A first report by rules; a model's report will replace it here.*"
FOOTER: Final = "<sub>Automated first read; a maintainer decides.</sub>"


def confidence_word(confidence: float) -> str:
    """Return a word for a calibrated probability; the steps are the graph's thresholds (PRD section 7)."""
    return "high" if confidence >= 0.85 else "medium" if confidence >= 0.65 else "low"
