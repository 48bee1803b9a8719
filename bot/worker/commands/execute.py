"""Run the commands of a comment, or one that a person gave on a run's page: each once, after crashes and edits too."""

import difflib
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace

from bot.errors import UserError
from bot.jobs import MAX_ARGUMENT, Commands, PageCommand
from bot.ports import CommandEffects, Comment, IssueRef, Permission
from bot.report.sanitise import code
from bot.store.tables import IssueStore
from bot.worker.commands.parse import Command, new_commands, parse
from bot.worker.commands.table import COMMANDS, CommandContext, is_allowed
from bot.worker.issue_job import IssueJob
from bot.worker.publish import replies
from bot.worker.publish.target import Target

NO_PERMISSION = CommandEffects(reaction="confused")
MayAnswer = Callable[[], Awaitable[bool]]
DONE = "done"
"""The message of a job whose command was accepted; every other message gives the reason of a refusal."""


async def execute(work: Commands, store: IssueStore, target: Target, may_answer: MayAnswer) -> int | IssueRef:
    """Run the new commands of a comment and answer them in one reply.

    The answer to a command is stored before the command is recorded as run, so that a crash loses neither.
    ``may_answer`` is called at most once, before a reply or a reaction; commands run in any case.

    Returns:
        The number of commands that were run, or the issue's new place, if it was moved: its commands must run there,
        and none ran here.
    """
    commands = await _new(work, store)
    config, github = target.found.config, target.github
    if commands and config.enabled:
        issue = await github.issue(work.ref.number)
        if issue is None or issue.is_pull_request:
            return 0
        # Before any command runs: the job is handed over to the new place with all of them.
        if issue.ref.key != work.ref.key:
            return issue.ref
        is_author = work.sender_id is not None and work.sender_id == issue.author_id
        context = CommandContext(issue, Permission.NONE, is_author, config, store, github)
        # One request for the permission at most, and none if the author's role is sufficient for all commands.
        kinds = [COMMANDS.get(command.name) for command in commands]
        if not all(kind is not None and is_allowed(kind, context) for kind in kinds):
            context = replace(context, permission=await github.permission(work.sender))
        await _run(work.comment, commands, context, target, may_answer)
    await replies.catch_up(target)
    return len(commands)


async def _run(
    comment: Comment, commands: list[Command], context: CommandContext, target: Target, may_answer: MayAnswer
) -> None:
    """Run commands in order. The budget of replies is checked once, and only if there is something to answer."""
    answers: bool | None = None
    for previous, command in zip((None, *commands), commands, strict=False):
        is_repeated = previous is not None and previous.canonical == command.canonical
        effects = CommandEffects() if is_repeated else await _effects(command, context)
        if effects.reply is not None or effects.reaction is not None:
            answers = await may_answer() if answers is None else answers
            effects = effects if answers else replace(effects, reply=None, reaction=None)
        await replies.note(target, comment.id, command, effects)
        # Last, because it marks the command as run.
        await context.store.control.apply(comment, command.ordinal, command.canonical, effects)


async def _new(work: Commands, store: IssueStore) -> list[Command]:
    """Return the commands that the sender wrote and that no version of the comment has run yet."""
    commands = parse(work.comment.body)
    if work.edited:
        by_author = work.sender_id is not None and work.sender_id == work.comment.author_id
        commands = new_commands(commands, work.before, by_author=by_author)
    if not commands:
        return []
    # Counted, because a comment may contain a command twice: an edit that adds the second one runs it.
    before = Counter(await store.control.commands_run(work.comment.id))
    new: list[Command] = []
    for command in commands:
        if before[command.canonical]:
            before[command.canonical] -= 1
        else:
            new.append(command)
    return new


async def _effects(command: Command, context: CommandContext) -> CommandEffects:
    kind = COMMANDS.get(command.name)
    if kind is None:
        # A stranger gets no reply, or anyone could make the App post comments.
        known_here = context.is_author or context.permission >= Permission.TRIAGE
        return CommandEffects(reaction="confused", reply=_unknown(command)) if known_here else NO_PERMISSION
    if not is_allowed(kind, context):
        return NO_PERMISSION
    try:
        effects = await kind.run(replace(context, command=command.name, argument=command.argument))
        return replace(effects, reaction="rocket")
    except UserError as error:
        return CommandEffects(reaction="confused", reply=str(error))


def _unknown(command: Command) -> str:
    matches = difflib.get_close_matches(command.name, COMMANDS, 1, 0.5)
    nearest = f"Did you mean `/triage {matches[0]}`?" if matches else "`/triage help` lists them."
    return f"There is no command {code(command.name)}. {nearest}"


async def page_command(issue_job: IssueJob, work: PageCommand) -> None:
    """Check the person's permission on GitHub, then apply the command. The page shows the job's message."""
    issue = await issue_job.github.issue(issue_job.ref.number)
    if issue is None or issue.ref.key != issue_job.ref.key:
        return await issue_job.settle("the issue is not here any more")
    found = await issue_job.config()
    if not found.config.enabled:
        return await issue_job.settle("triage is disabled in this repository")
    command = Command(work.name, " ".join(work.argument.split())[:MAX_ARGUMENT])
    is_author = work.by_id is not None and work.by_id == issue.author_id
    permission = Permission.ADMIN if work.is_operator else await issue_job.github.permission(work.by)
    context = CommandContext(issue, permission, is_author, found.config, issue_job.store, issue_job.github)
    effects = await _effects(command, context)
    if effects.reaction == "confused":
        return await issue_job.settle(effects.reply or "You may not give this command here.")
    await issue_job.store.control.apply(_as_comment(issue_job, work), 0, command.canonical, effects)
    return await issue_job.settle(DONE)


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
