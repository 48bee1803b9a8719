"""Choose the confidence from which a repository's reports claim, so that claims are right as often as it asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.cli.backtest.score import recommend
from bot.settings.repository import RepositoryConfig

ENOUGH = 20
"""Known fixes from which a repository's own outcomes decide; with fewer, the shipped calibration does."""
NEVER = 1.01
"""A bound that no confidence reaches."""


@dataclass(frozen=True, slots=True)
class Promise:
    """The bound of claims, and what it rests on."""

    claim_from: float
    note: str = ""
    """For the report; empty if the repository asks for no precision."""


def promise_of(config: RepositoryConfig, outcomes: Sequence[tuple[float, bool]] = ()) -> Promise:
    """Return the bound for a repository.

    Args:
        config: the repository's configuration.
        outcomes: of its scored reports, the confidence in the first file, and whether it was fixed.
    """
    wanted = config.precision
    if wanted is None:
        return Promise(config.limits.claim_from)
    if len(outcomes) < ENOUGH:
        # A calibrated confidence is the share of right places, so above it at least this share is right.
        says = f"A claim needs a confidence of {wanted:.0%} here, by the shipped calibration: "
        return Promise(wanted, f"{says}fewer than {ENOUGH} fixes are known.")
    found = recommend(outcomes, wanted)
    if found is None:
        says = f"Nothing is claimed here: no confidence reached {wanted:.0%} right first files in "
        return Promise(NEVER, f"{says}{len(outcomes)} known fixes.")
    right = f"{round(found.precision * found.cases)} of {found.cases} known fixes were right (wanted {wanted:.0%})."
    says = f"A claim needs a confidence of {found.confidence:.0%} here: at or above it, {right}"
    return Promise(found.confidence, says)
