"""Run a command that a person gave on the page of a run, as if they had written it in a comment."""

from __future__ import annotations

from bot.errors import UserError
from bot.jobs import MAX_ARGUMENT, PageCommand
from bot.ports import CommandEffects, Comment, Issue, Permission
from bot.settings.repository import RepositoryConfig
from bot.worker.commands import COMMANDS
from bot.worker.commands.kinds import CommandContext, is_allowed
from bot.worker.commands.parse import Command
from bot.worker.issue_job import IssueJob

DONE = "done"
"""The message of a job whose command was accepted; every other message gives the reason of a refusal."""


async def page_command(issue_job: IssueJob, work: PageCommand) -> None:
    """Check the person's permission on GitHub, then apply the command. The page shows the job's message."""
    issue = await issue_job.github.issue(issue_job.ref.number)
    if issue is None or issue.ref.key != issue_job.ref.key:
        return await issue_job.settle("the issue is not here any more")
    found = await issue_job.config()
    if not found.config.enabled:
        return await issue_job.settle("triage is disabled in this repository")
    command = Command(work.name, " ".join(work.argument.split())[:MAX_ARGUMENT])
    try:
        effects = await _effects(issue_job, work, issue, found.config, command)
    except UserError as error:
        return await issue_job.settle(str(error))
    await issue_job.store.control.apply(_as_comment(issue_job, work), 0, command.canonical, effects)
    return await issue_job.settle(DONE)


async def _effects(
    issue_job: IssueJob, work: PageCommand, issue: Issue, config: RepositoryConfig, command: Command
) -> CommandEffects:
    """Return the command's effects.

    Raises:
        UserError: The person may not give it, or it has no effect here.
    """
    kind = COMMANDS[work.name]
    context = CommandContext(
        issue=issue,
        sender=work.by,
        permission=Permission.ADMIN if work.is_operator else await issue_job.github.permission(work.by),
        is_author=work.by_id is not None and work.by_id == issue.author_id,
        config=config,
        control=issue_job.store.control,
        github=issue_job.github,
    )
    if not is_allowed(kind, context):
        raise UserError("You may not give this command here.")
    return await kind.run(command, context)


def _as_comment(issue_job: IssueJob, work: PageCommand) -> Comment:
    """Return the request as a comment; its negative id belongs to no comment and to no other request."""
    # No time: the id and the time are the key by which a repeated attempt changes nothing.
    # The author id 0 belongs to no person: the operator's request must not count as the author's.
    return Comment(
        id=-issue_job.job.id,
        author_id=work.by_id or 0,
        author=work.by,
        author_is_bot=False,
        body="",
        url="",
        created_at="",
        updated_at="",
    )
