"""All commands, in the order in which ``/triage help`` lists them: each with its usage, its role and its function."""

import difflib
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from bot.errors import UserError
from bot.github.repository import RepositoryClient
from bot.limits.ceilings import describe_limit
from bot.ports import AskedQuestion, CommandEffects, Issue, NewSignal, Permission, PersonJudgement, Relation
from bot.report.document import Result
from bot.report.explain import Account, render_markdown
from bot.report.sanitise import cell, code, prose
from bot.settings.repository import CommandName, CommandRole, RepositoryConfig
from bot.store.runs.rows import ListedRun
from bot.store.tables import IssueStore
from bot.worker.publish.labels import folded
from bot.worker.publish.wanted import reason_to_skip, remedy_for

Role = Literal["author", "maintainer"]
STOPPED = "Triage is stopped for this issue; `/triage resume` continues it."
_STRICTNESS: tuple[CommandRole, ...] = ("author", "maintainer", "nobody")
WHO = {"author": "the author, maintainers", "maintainer": "maintainers", "nobody": "no one in this repository"}
_NUMBER = re.compile(r"#?([1-9]\d{0,8})")
_MAX_LABELS = 10
"""Labels of one command; the rest is ignored."""


@dataclass(frozen=True, slots=True)
class CommandContext:
    """The input of a command's function."""

    issue: Issue
    permission: Permission
    """The sender's permission according to the API; NONE if it was not queried."""
    is_author: bool
    config: RepositoryConfig
    store: IssueStore
    github: RepositoryClient
    command: str = ""
    argument: str = ""


@dataclass(frozen=True, slots=True)
class CommandKind:
    """A command of the table."""

    name: CommandName
    usage: str
    """The command as typed, without ``/triage``."""
    help: str
    role: Role
    """``author``: the issue's author and maintainers; ``maintainer``: users with at least triage permission."""
    run: Callable[[CommandContext], Awaitable[CommandEffects]]

    def required_role(self, config: RepositoryConfig) -> CommandRole:
        """Return the role that may use it in a repository; a configuration can only restrict the default."""
        return max(self.role, config.commands.get(self.name, self.role), key=_STRICTNESS.index)


Action = Callable[[CommandContext], Awaitable[CommandEffects]]
COMMANDS: Final[dict[str, CommandKind]] = {}
"""Filled by the decorator `command`."""


def command(name: CommandName, usage: str, role: Role) -> Callable[[Action], Action]:
    """Add a function to the table; its docstring is the help, and `CommandKind` describes the arguments."""

    def add(run: Action) -> Action:
        COMMANDS[name] = CommandKind(name, usage, str(run.__doc__), role, run)
        return run

    return add


@command("triage", "", "author")
async def run_again(context: CommandContext) -> CommandEffects:
    """Triage this issue again from the start."""
    check_writable(context)
    # ``muted=False``: an explicit request revokes an earlier stop.
    return CommandEffects(start=True, muted=False)


@command("help", "help", "author")
async def run_help(context: CommandContext) -> CommandEffects:
    """List the commands."""
    rows = ((kind, WHO[kind.required_role(context.config)]) for kind in COMMANDS.values())
    intro = "Write each command on its own line. To answer a question, just reply; no command is needed."
    return CommandEffects(reply=f"{intro}\n\n{table(rows)}")


def table(rows: Iterable[tuple[CommandKind, str]]) -> str:
    """Return a Markdown table of commands, with their effects and who may use them."""
    lines = [f"| {cell(code(f'/triage {kind.usage}'))} | {kind.help} | {who} |" for kind, who in rows]
    return "\n".join(("| Command | What it does | Who |", "|---|---|---|", *lines))


@command("status", "status", "author")
async def run_status(context: CommandContext) -> CommandEffects:
    """Show the status of the run."""
    lines = [_last_run(await context.store.runs.last())]
    if (await context.store.row.state()).muted:
        lines.append(STOPPED)
    question = await context.store.questions.open()
    if question is not None:
        lines.append(_waiting(question))
    reached = dict.fromkeys(map(describe_limit, await context.store.repository.limited.today()))
    if reached:
        lines.append(f"Limits reached: {'; '.join(reached)}.")
    return CommandEffects(reply="\n\n".join(lines))


def _last_run(last: ListedRun | None) -> str:
    if last is None:
        return "No run yet."
    commit = f", on commit {code(last.sha[:12])}" if last.sha else ""
    return f"Run {last.number} is **{prose(last.status)}**{commit}, by {code(last.brain)}."


def _waiting(question: AskedQuestion) -> str:
    return f"It waits for an answer to **Q{question.slot}**: {prose(question.text)}"


@command("why", "why", "author")
async def run_why(context: CommandContext) -> CommandEffects:
    """Explain the last report: path, evidence, guards, dropped claims, scores, retries, cost."""
    run, result = await _last_report(context)
    if run is None or result is None:
        raise UserError("No run of this issue has finished yet.")
    gathered = result.numbered(await context.store.evidence(run.number).get(result.evidence))
    account = Account(run.number, run.sha, run.brain, run.config_hash, result, gathered)
    return CommandEffects(reply=render_markdown(account))


async def _last_report(context: CommandContext) -> tuple[ListedRun | None, Result | None]:
    """Return the newest run, and its result if it has one."""
    run = await context.store.runs.last()
    return run, Result.model_validate_json(run.result) if run is not None and run.result else None


@command("redirect", "redirect <text>", "maintainer")
async def run_redirect(context: CommandContext) -> CommandEffects:
    """Say where to search; a run in progress follows it at its next decision."""
    if not context.argument:
        raise UserError("Say where to look, as in `/triage redirect look at the parser`.")
    await check_can_run(context)
    return CommandEffects(signals=(NewSignal("redirect", context.argument),), start=True)


@command("answer", "answer <text>", "author")
async def run_answer(context: CommandContext) -> CommandEffects:
    """Answer the open question; a plain reply works too."""
    if not context.argument:
        raise UserError("Write the answer on the same line, as in `/triage answer only with --no-cache`.")
    await check_can_run(context)
    if await context.store.questions.open() is None:
        raise UserError("No question is open here.")
    return CommandEffects(signals=(NewSignal("answer", context.argument),), start=True)


@command("stop", "stop", "author")
async def run_stop(context: CommandContext) -> CommandEffects:
    """Stop triage of this issue: a run in progress writes nothing more, and no run starts."""
    if (await context.store.row.state()).muted:
        raise UserError("Triage is already stopped for this issue.")
    # The mute also stops a run in progress, which reads it before each write. The signal records who asked.
    return CommandEffects(signals=(NewSignal("stop"),), muted=True)


@command("resume", "resume", "maintainer")
async def run_resume(context: CommandContext) -> CommandEffects:
    """Continue triage of this issue after a stop."""
    if not (await context.store.row.state()).muted:
        raise UserError("Triage is not stopped for this issue.")
    check_writable(context)
    return CommandEffects(muted=False, start=True)


@command("right", "right", "maintainer")
async def run_right(context: CommandContext) -> CommandEffects:
    """Say that the report is right."""
    _, result = await _last_report(context)
    if result is None:
        raise UserError("This issue has no report yet.")
    return CommandEffects(judgement=PersonJudgement(right=True))


@command("wrong", "wrong <why>", "maintainer")
async def run_wrong(context: CommandContext) -> CommandEffects:
    """Say that the report is wrong, and why; triage runs again with that information."""
    if not context.argument:
        raise UserError("Say what is wrong, as in `/triage wrong the lexer is never reached`.")
    await check_can_run(context)
    if await context.store.runs.last() is None:
        raise UserError("This issue has no report yet.")
    return CommandEffects(
        signals=(NewSignal("correction", context.argument),),
        judgement=PersonJudgement(right=False, why=context.argument),
        start=True,
    )


@command("duplicate", "duplicate #n", "maintainer")
async def run_duplicate(context: CommandContext) -> CommandEffects:
    """Mark this issue as a duplicate of another; nothing is closed."""
    return await _related(context, duplicate=True)


@command("not-duplicate", "not-duplicate #n", "maintainer")
async def run_not_duplicate(context: CommandContext) -> CommandEffects:
    """Mark this issue as not a duplicate of another."""
    return await _related(context, duplicate=False)


async def _related(context: CommandContext, *, duplicate: bool) -> CommandEffects:
    found = _NUMBER.fullmatch(context.argument)
    if found is None:
        raise UserError(f"Name one issue of this repository, as in `/triage {context.command} #12`.")
    other = int(found[1])
    if other == context.issue.ref.number:
        raise UserError("That is this issue itself.")
    # A denial needs no check: it must also apply to an issue that was deleted.
    if duplicate and await context.github.issue(other) is None:
        raise UserError(f"This repository has no issue `#{other}`.")
    await check_can_run(context)
    return CommandEffects(relations=(Relation(other, duplicate),), start=True)


@command("label", "label <name>, …", "maintainer")
async def run_label(context: CommandContext) -> CommandEffects:
    """Add existing labels."""
    named = await _named(context)
    if folded(named) <= folded(context.issue.labels):
        raise UserError("The issue has these labels already.")
    return CommandEffects(add_labels=named)


@command("unlabel", "unlabel <name>, …", "maintainer")
async def run_unlabel(context: CommandContext) -> CommandEffects:
    """Remove labels; triage does not add them again."""
    named = await _named(context)
    if folded(named).isdisjoint(folded(context.issue.labels)):
        raise UserError("The issue has no such label.")
    return CommandEffects(remove_labels=named)


async def _named(context: CommandContext) -> tuple[str, ...]:
    """Return the named labels, as the repository spells them."""
    requested = [name.strip(" \t\"'`") for name in context.argument.split(",")][:_MAX_LABELS]
    if not any(requested):
        raise UserError(f"Name labels, with commas between them, as in `/triage {context.command} bug, needs info`.")
    known = {label.casefold(): label for label in await context.github.repository_labels()}
    missing = [name for name in requested if name and name.casefold() not in known]
    if missing:
        # Cut, because the time to compare grows with the square of the length.
        close = difflib.get_close_matches(missing[0].casefold()[:60], known, 1)
        nearest = f" Did you mean {code(known[close[0]])}?" if close else ""
        raise UserError(f"There is no label {code(missing[0][:60])} here.{nearest}")
    return tuple(dict.fromkeys(known[name.casefold()] for name in requested if name))


async def check_can_run(context: CommandContext) -> None:
    """Raise ``UserError`` if triage is stopped on this issue, or a run may not write to it."""
    if (await context.store.row.state()).muted:
        raise UserError(STOPPED)
    check_writable(context)


def check_writable(context: CommandContext) -> None:
    """Raise ``UserError`` if the issue is closed or locked, a bot opened it, or it has the opt-out label."""
    if context.issue.state != "open":
        raise UserError("This issue is closed. Reopen it first.")
    reason = reason_to_skip(context.issue, context.config)
    if reason is not None:
        raise UserError(f"Triage skips this issue: {reason}. {remedy_for(reason)}".rstrip())


def is_allowed(kind: CommandKind, context: CommandContext) -> bool:
    """Return whether the sender may use this command."""
    role = kind.required_role(context.config)
    if role == "nobody":
        return False
    return context.permission >= Permission.TRIAGE or (role == "author" and context.is_author)
