"""Whether there is a look at an issue now: today's share of a repository, an account, an author."""

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
    """The issue is left alone; a maintainer's `/triage` still has it looked at."""


async def admit(
    turn: Turn, issue: Issue, config: RepositoryConfig, *, leave: int | None = None, by_author: bool = True
) -> Run:
    """The issue's unfinished run, or a new one that is counted.

    Args:
        turn: the job's.
        issue: as it is now.
        config: its repository's.
        leave: a run that waits and is left first.
        by_author: whoever wrote the issue is who wants the look; a look that a maintainer asks for is not theirs.

    Raises:
        RateLimitedError: the day's issues were looked at; tomorrow.
        OverLimitError: the same where the repository says so, or the author had as many as an author may have.
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
    """Count one question to a reporter; False, and it is not, where the run's or today's are used up."""
    day = turn.tools.budgets.day(turn.ref.repository, config, turn.tools.store.clock())
    reached = await turn.tools.store.usage.reserve((run, *day), _QUESTION)
    if reached is not None:
        await turn.limited(reached.code, f"{reached}; the report is written without asking")
    return reached is None


async def may_answer(turn: Turn, asked: Commands, found: FoundConfig) -> bool:
    """Count one comment with commands that is answered; False if its author has had as many as an author may have."""
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
    """Maintainers may open as many issues as they like; asked only of those who open very many."""
    return bool(issue.author) and await turn.github.permission(issue.author) >= Permission.TRIAGE
