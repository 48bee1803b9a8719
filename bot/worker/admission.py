"""Decides whether a run, question or answer is within the budgets of the repository, installation and author."""

from __future__ import annotations

from bot.ceilings import Amount, Reached, Scope, until_tomorrow
from bot.errors import RateLimitedError, RefusedError
from bot.jobs import Commands
from bot.ports import Issue, Permission
from bot.repo_config import FoundConfig, RepositoryConfig
from bot.store.runs import Run
from bot.worker.turn import Turn

_QUESTION, _ANSWER = Amount(questions=1), Amount(answers=1)


class OverLimitError(RefusedError):
    """A limit is reached and the issue is left alone; a maintainer's `/triage` still starts a run."""


async def admit(
    turn: Turn, issue: Issue, config: RepositoryConfig, *, leave: int | None = None, by_author: bool = True
) -> Run:
    """Return the issue's unfinished run, or a new one that is counted.

    Args:
        turn: The job's turn.
        issue: The issue as it is now.
        config: The repository's configuration.
        leave: Number of a waiting run that is given up first.
        by_author: The run counts for the issue's author. False if a maintainer asked for it.

    Raises:
        RateLimitedError: The day's limit of runs is reached; the job is retried tomorrow.
        OverLimitError: The same if the repository's configuration says "skip", or the author's limit is reached.
    """
    now = turn.tools.store.clock()
    day = turn.tools.budgets.day(turn.ref.repository, config, now)
    writer = turn.tools.budgets.writer(issue, config, now) if by_author else ()
    begun = await turn.store.runs.begin((*writer, *day), leave=leave)
    if isinstance(begun, Reached) and begun.kind == "author" and await _may_triage(turn, issue):
        begun = await turn.store.runs.begin(day, leave=leave)
    if isinstance(begun, Run):
        return begun
    await turn.limited(begun.code, str(begun))
    if begun.kind == "author" or config.limits.over == "skip":
        raise OverLimitError(str(begun))
    raise RateLimitedError(str(begun), after=until_tomorrow(now), limit=None)


async def may_ask(turn: Turn, run: Scope, config: RepositoryConfig) -> bool:
    """Count one question to a reporter. Returns False, without counting, if a budget is used up."""
    day = turn.tools.budgets.day(turn.ref.repository, config, turn.tools.store.clock())
    reached = await turn.tools.store.usage.reserve((run, *day), _QUESTION)
    if reached is not None:
        await turn.limited(reached.code, f"{reached}; the report is written without asking")
    return reached is None


async def may_answer(turn: Turn, asked: Commands, found: FoundConfig) -> bool:
    """Count one comment whose commands are answered. Returns False if a limit is reached.

    The author's limit does not hold for authors who may triage.
    """
    now = turn.tools.store.clock()
    scopes = turn.tools.budgets.answered(turn.ref.repository, found.config, asked.sender_id or 0, now)
    reached = await turn.tools.store.usage.reserve(scopes, _ANSWER)
    if reached is None:
        return True
    if reached.kind == "author" and await turn.github.permission(asked.sender) >= Permission.TRIAGE:
        return True
    await turn.limited(reached.code, f"{reached}; a comment is not answered")
    return False


async def _may_triage(turn: Turn, issue: Issue) -> bool:
    """Whether the author may triage and so has no limit. GitHub is asked only about authors who reached theirs."""
    return bool(issue.author) and await turn.github.permission(issue.author) >= Permission.TRIAGE
