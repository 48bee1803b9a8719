"""Run the commands of a comment, or one that a person gave on a run's page: each once, after crashes and edits too."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from bot.errors import UserError
from bot.github.repository import RepositoryClient
from bot.jobs import MAX_ARGUMENT, PageCommand
from bot.ports import CommandEffects, Comment, Issue, IssueRef, Permission
from bot.report.sanitise import code
from bot.settings.repository import RepositoryConfig
from bot.settings.repository_file import FoundConfig
from bot.store.tables import IssueStore
from bot.worker.commands import directions, judgements, show
from bot.worker.commands.kinds import CommandContext, CommandKind, is_allowed
from bot.worker.commands.parse import Command, Edit, new_commands, parse
from bot.worker.issue_job import IssueJob
from bot.worker.publish import Publisher
from bot.worker.publish.replies import Replies

COMMANDS: Final[Mapping[str, CommandKind]] = {
    kind.name: kind
    for kind in (
        directions.AGAIN,
        show.HELP,
        show.STATUS,
        show.WHY,
        directions.REDIRECT,
        directions.ANSWER,
        directions.STOP,
        directions.RESUME,
        judgements.RIGHT,
        judgements.WRONG,
        directions.COMPONENT,
        judgements.DUPLICATE,
        judgements.NOT_DUPLICATE,
        judgements.LABEL,
        judgements.UNLABEL,
    )
}
NO_PERMISSION = CommandEffects(reaction="confused")
MayAnswer = Callable[[], Awaitable[bool]]
DONE = "done"
"""The message of a job whose command was accepted; every other message gives the reason of a refusal."""


async def always() -> bool:
    """Allow every reply."""
    return True


@dataclass(frozen=True, slots=True)
class CommandComment:
    """A comment that may contain commands, and the person who wrote what is new in it."""

    ref: IssueRef
    comment: Comment
    """The comment as the job's payload has it."""
    sender: str
    """Login of the delivery's sender. For an edit that may be a person other than the comment's author."""
    sender_id: int | None
    found: FoundConfig
    may_answer: MayAnswer = always
    """Called once per comment; returns whether it may be answered. Commands run in any case."""
    edit: Edit | None = None
    """The edit, if the delivery is about one."""


@dataclass(frozen=True, slots=True)
class CommandsResult:
    """The result of a comment's commands."""

    new: int = 0
    """Number of commands that were run."""
    moved_to: IssueRef | None = None
    """The issue's new place, if it was moved. Its commands must run there, and none ran here."""


async def execute(request: CommandComment, store: IssueStore, publisher: Publisher) -> CommandsResult:
    """Run the new commands of a comment and answer them in one reply.

    The answer to a command is stored before the command is recorded as run, so that a crash loses neither.
    """
    commands = await _new(request, store)
    replies = Replies.of(publisher, request.ref, request.found)
    if commands and request.found.config.enabled:
        github = publisher.github_for(request.ref.repository)
        issue = await github.issue(request.ref.number)
        if issue is None or issue.is_pull_request:
            return CommandsResult()
        # Before any command runs: the job is handed over to the new place with all of them.
        if issue.ref.key != request.ref.key:
            return CommandsResult(moved_to=issue.ref)
        # One request for the permission at most, and none if the author's role is sufficient for all commands.
        context = await _context(request, issue, store, github, commands)
        await _run(request, commands, context, replies)
    await replies.catch_up()
    return CommandsResult(len(commands))


async def _run(request: CommandComment, commands: list[Command], context: CommandContext, replies: Replies) -> None:
    """Run commands in order. The budget of replies is checked once, and only if there is something to answer."""
    answers: bool | None = None
    for previous, command in zip((None, *commands), commands, strict=False):
        effects = CommandEffects() if _repeats(previous, command) else await _effects(command, context)
        if effects.reply is not None or effects.reaction is not None:
            answers = await request.may_answer() if answers is None else answers
            effects = effects if answers else replace(effects, reply=None, reaction=None)
        await replies.note(request.comment.id, command, effects)
        # Last, because it marks the command as run.
        await context.store.control.apply(request.comment, command.ordinal, command.canonical, effects)


async def _new(request: CommandComment, store: IssueStore) -> list[Command]:
    """Return the commands that the sender wrote and that no version of the comment has run yet."""
    commands = parse(request.comment.body)
    if request.edit is not None:
        commands = new_commands(commands, request.edit)
    if not commands:
        return []
    # Counted, because a comment may contain a command twice: an edit that adds the second one runs it.
    before = Counter(await store.control.commands_run(request.comment.id))
    new: list[Command] = []
    for command in commands:
        if before[command.canonical]:
            before[command.canonical] -= 1
        else:
            new.append(command)
    return new


def _repeats(previous: Command | None, command: Command) -> bool:
    """Return whether the previous command is the same, so that it runs once.

    `stop`, `resume`, `stop` are three commands.
    """
    return previous is not None and previous.canonical == command.canonical


async def _context(
    request: CommandComment, issue: Issue, store: IssueStore, github: RepositoryClient, commands: list[Command]
) -> CommandContext:
    is_author = request.sender_id is not None and request.sender_id == issue.author_id
    context = CommandContext(
        issue=issue,
        sender=request.sender,
        permission=Permission.NONE,
        is_author=is_author,
        config=request.found.config,
        store=store,
        github=github,
    )
    kinds = [COMMANDS.get(command.name) for command in commands]
    if all(kind is not None and is_allowed(kind, context) for kind in kinds):
        return context
    return replace(context, permission=await github.permission(request.sender))


async def _effects(command: Command, context: CommandContext) -> CommandEffects:
    kind = COMMANDS.get(command.name)
    if kind is None:
        # A stranger gets no reply, or anyone could make the App post comments.
        known_here = context.is_author or context.permission >= Permission.TRIAGE
        return CommandEffects(reaction="confused", reply=_unknown(command)) if known_here else NO_PERMISSION
    if not is_allowed(kind, context):
        return NO_PERMISSION
    try:
        return await kind.run(command, context)
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
    try:
        effects = await _page_effects(issue_job, work, issue, found.config, command)
    except UserError as error:
        return await issue_job.settle(str(error))
    await issue_job.store.control.apply(_as_comment(issue_job, work), 0, command.canonical, effects)
    return await issue_job.settle(DONE)


async def _page_effects(
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
        store=issue_job.store,
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
