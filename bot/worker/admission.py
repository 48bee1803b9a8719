"""Decide whether a run, question or answer is within the budgets, and reply to a command that starts nothing."""

from __future__ import annotations

from bot.errors import RateLimitedError, RefusedError
from bot.jobs import Commands
from bot.limits.ceilings import Amount, ReachedCeiling, Scope, seconds_until_tomorrow
from bot.ports import Issue, Permission
from bot.settings.repository import RepositoryConfig
from bot.settings.repository_file import FoundConfig
from bot.store.runs import Run
from bot.worker.issue_job import IssueJob
from bot.worker.publish.replies import Replies

_QUESTION, _ANSWER = Amount(questions=1), Amount(answers=1)


class OverLimitError(RefusedError):
    """A limit is reached and the issue is left alone; a maintainer's `/triage` still starts a run."""


async def admit(
    issue_job: IssueJob, issue: Issue, config: RepositoryConfig, *, leave: int | None = None, by_author: bool = True
) -> Run:
    """Return the issue's unfinished run, or a new one that is counted.

    Args:
        issue_job: The attempt of the job.
        issue: The issue as it is now.
        config: The repository's configuration.
        leave: Number of a waiting run that is ended first.
        by_author: The run counts for the issue's author. False if a maintainer asked for it.

    Raises:
        RateLimitedError: The day's limit of runs is reached; the job is retried tomorrow.
        OverLimitError: The same if the repository's configuration says "skip", or the author's limit is reached.
    """
    now = issue_job.tools.store.clock()
    day = issue_job.tools.budgets.day(issue_job.ref.repository, config, now)
    writer = issue_job.tools.budgets.writer(issue, config, now) if by_author else ()
    opened = await issue_job.store.runs.begin((*writer, *day), leave=leave)
    # The author's limit does not apply to people who may triage, so the run counts without the author's scopes.
    if isinstance(opened, ReachedCeiling) and opened.kind == "author" and await _may_triage(issue_job, issue):
        opened = await issue_job.store.runs.begin(day, leave=leave)
    if isinstance(opened, Run):
        return opened
    await issue_job.count_limit_reached(opened.code, str(opened))
    if opened.kind == "author" or config.limits.over == "skip":
        raise OverLimitError(str(opened))
    # ``limit=None``, because the limit is counted above and `instrumented` would count a named one again.
    raise RateLimitedError(str(opened), after=seconds_until_tomorrow(now), limit=None)


async def may_ask(issue_job: IssueJob, run: Scope, config: RepositoryConfig) -> bool:
    """Count one question to a reporter. Returns False, without counting, if a budget is used up."""
    day = issue_job.tools.budgets.day(issue_job.ref.repository, config, issue_job.tools.store.clock())
    reached = await issue_job.tools.store.usage.reserve((run, *day), _QUESTION)
    if reached is not None:
        await issue_job.count_limit_reached(reached.code, f"{reached}; the report is written without asking")
    return reached is None


async def may_answer(issue_job: IssueJob, work: Commands, found: FoundConfig) -> bool:
    """Count one comment whose commands are answered. Returns False if a limit is reached.

    The author's limit does not apply to authors who may triage.
    """
    now = issue_job.tools.store.clock()
    scopes = issue_job.tools.budgets.answered(issue_job.ref.repository, found.config, work.sender_id or 0, now)
    reached = await issue_job.tools.store.usage.reserve(scopes, _ANSWER)
    if reached is None:
        return True
    if reached.kind == "author" and await issue_job.github.permission(work.sender) >= Permission.TRIAGE:
        return True
    await issue_job.count_limit_reached(reached.code, f"{reached}; a comment is not answered")
    return False


async def _may_triage(issue_job: IssueJob, issue: Issue) -> bool:
    """Return whether the author may triage and so has no limit. GitHub is asked only after a limit is reached."""
    return bool(issue.author) and await issue_job.github.permission(issue.author) >= Permission.TRIAGE


STOPPED = "Triage is stopped for this issue; `/triage resume` continues it."


async def explain_refusal(issue_job: IssueJob, found: FoundConfig, asked_in: int | None, why: str) -> None:
    """Reply once to a command whose run does nothing. Without a command there is no reply.

    Args:
        issue_job: The attempt of the job.
        found: The repository's configuration.
        asked_in: Id of the comment with the command.
        why: One or two sentences.
    """
    if asked_in is None or not found.config.enabled:
        return
    replies = Replies.of(issue_job.publisher(issue_job.check_ownership), issue_job.ref, found)
    await replies.explain_refusal(asked_in, why)
    await replies.catch_up()
