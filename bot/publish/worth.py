"""Which results of a run are worth a comment."""

from __future__ import annotations

from bot.ports import Finished, Outcome
from bot.repo_config import RepositoryConfig


def is_worth_a_comment(outcome: Outcome, config: RepositoryConfig, *, asked: bool) -> bool:
    """Whether a comment is written where none stands yet.

    Args:
        outcome: the result of the run; one that waits or withholds always speaks to the reporter.
        config: the repository's.
        asked: whether a person's command asked for it.
    """
    if asked or not isinstance(outcome, Finished) or outcome.state.report is None:
        return True
    report = outcome.state.report
    if report.kind == "security":
        return True
    if report.kind not in config.comment_on:
        return False
    return report.kind == "bug" or report.headline is not None or bool(report.related)
