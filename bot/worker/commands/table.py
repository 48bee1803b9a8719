"""All commands, in the order in which ``/triage help`` lists them."""

import difflib
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from bot.errors import UserError
from bot.limits.ceilings import describe_limit
from bot.ports import AskedQuestion, CommandEffects, Judgement, NewSignal, Relation
from bot.report.document import Result
from bot.report.explain import Account, render_markdown
from bot.report.sanitise import cell, code, prose
from bot.settings.repository import CommandName
from bot.store.runs.issue_runs import Run
from bot.worker.commands.kinds import STOPPED, CommandContext, CommandKind, Role, check_can_run, check_writable

WHO = {"author": "the author, maintainers", "maintainer": "maintainers", "nobody": "no one in this repository"}
_PATH = re.compile(r"=?\s{0,9}`?(?P<path>[^\s`=<>|\"'][^`=<>|\"']{0,299}?)/?`?\s{0,9}")
_NUMBER = re.compile(r"#?([1-9]\d{0,8})")
_MAX_LABELS = 10
"""Labels of one command; the rest is ignored."""


Action = Callable[[CommandContext], Awaitable[CommandEffects]]
COMMANDS: Final[dict[str, CommandKind]] = {}
"""Filled by the decorator `command`."""


def command(name: CommandName, usage: str, text: str, role: Role) -> Callable[[Action], Action]:
    """Add a function to the table; `CommandKind` describes the arguments."""

    def add(run: Action) -> Action:
        COMMANDS[name] = CommandKind(name, usage, text, role, run)
        return run

    return add


@command("triage", "", "Triage this issue again from the start.", "author")
async def run_again(context: CommandContext) -> CommandEffects:
    """Queue a new run; if triage was stopped, resume it."""
    check_writable(context)
    # ``muted=False``: an explicit request revokes an earlier stop.
    return CommandEffects(start=True, muted=False, reaction="rocket")


@command("help", "help", "List the commands.", "author")
async def run_help(context: CommandContext) -> CommandEffects:
    """List the commands as this repository's configuration allows them."""
    rows = ((kind, WHO[kind.required_role(context.config)]) for kind in COMMANDS.values())
    intro = "Write each command on its own line. To answer a question, just reply; no command is needed."
    return CommandEffects(reply=f"{intro}\n\n{table(rows)}", reaction="rocket")


def table(rows: Iterable[tuple[CommandKind, str]]) -> str:
    """Return a Markdown table of commands, with their effects and who may use them."""
    lines = [f"| {cell(code(f'/triage {kind.usage}'))} | {kind.help} | {who} |" for kind, who in rows]
    return "\n".join(("| Command | What it does | Who |", "|---|---|---|", *lines))


@command("status", "status", "Show the status of the run.", "author")
async def run_status(context: CommandContext) -> CommandEffects:
    """Report the last run, whether triage is stopped, open questions and reached limits."""
    lines = [_last_run(await context.store.runs.last())]
    if (await context.store.row.state()).muted:
        lines.append(STOPPED)
    questions = await context.store.repository.questions.all(context.issue.ref.key)
    lines += [_waiting(question) for question in questions if question.state == "open"]
    reached = dict.fromkeys(map(describe_limit, await context.store.repository.limited.today()))
    if reached:
        lines.append(f"Limits reached: {'; '.join(reached)}.")
    return CommandEffects(reply="\n\n".join(lines), reaction="rocket")


def _last_run(last: Run | None) -> str:
    if last is None:
        return "No run yet."
    commit = f", on commit {code(last.sha[:12])}" if last.sha else ""
    return f"Run {last.number} is **{prose(last.status)}**{commit}, by {code(last.brain)}."


def _waiting(question: AskedQuestion) -> str:
    return f"It waits for an answer to **Q{question.slot}**: {prose(question.text)}"


@command(
    "why", "why", "Explain the last report: path, evidence, guards, dropped claims, scores, retries, cost.", "author"
)
async def run_why(context: CommandContext) -> CommandEffects:
    """Reply with the folded explanation of the last report."""
    run, result = await _last_report(context)
    if run is None or result is None:
        raise UserError("No run of this issue has finished yet.")
    gathered = result.numbered(await context.store.evidence(run.number).get(result.evidence))
    account = Account(run.number, run.sha, run.brain, run.config_hash, result, gathered)
    return CommandEffects(reply=render_markdown(account), reaction="rocket")


async def _last_report(context: CommandContext) -> tuple[Run | None, Result | None]:
    """Return the newest run, and its result if it has one."""
    run = await context.store.runs.last()
    return run, Result.model_validate_json(run.result) if run is not None and run.result else None


@command(
    "redirect",
    "redirect <text>",
    "Say where to search; a run in progress follows it at its next decision.",
    "maintainer",
)
async def run_redirect(context: CommandContext) -> CommandEffects:
    """Store a signal. A running run reads it before its next decision; otherwise a new step starts with it."""
    if not context.argument:
        raise UserError("Say where to look, as in `/triage redirect look at the parser`.")
    await check_can_run(context)
    return CommandEffects(signals=(NewSignal("redirect", context.argument),), start=True, reaction="rocket")


@command("answer", "answer <text>", "Answer the open question; a plain reply works too.", "author")
async def run_answer(context: CommandContext) -> CommandEffects:
    """Store the answer as a signal for the waiting run."""
    if not context.argument:
        raise UserError("Write the answer on the same line, as in `/triage answer only with --no-cache`.")
    await check_can_run(context)
    asked = await context.store.repository.questions.all(context.issue.ref.key)
    if all(question.state != "open" for question in asked):
        raise UserError("No question is open here.")
    return CommandEffects(signals=(NewSignal("answer", context.argument),), start=True, reaction="rocket")


@command(
    "stop", "stop", "Stop triage of this issue: a run in progress writes nothing more, and no run starts.", "author"
)
async def run_stop(context: CommandContext) -> CommandEffects:
    """End a run before its next write, and start no new one."""
    if (await context.store.row.state()).muted:
        raise UserError("Triage is already stopped for this issue.")
    # The mute also stops a run in progress, which reads it before each write. The signal records who asked.
    return CommandEffects(signals=(NewSignal("stop"),), muted=True, reaction="rocket")


@command("resume", "resume", "Continue triage of this issue after a stop.", "maintainer")
async def run_resume(context: CommandContext) -> CommandEffects:
    """Unmute the issue and queue a new run."""
    if not (await context.store.row.state()).muted:
        raise UserError("Triage is not stopped for this issue.")
    check_writable(context)
    return CommandEffects(muted=False, start=True, reaction="rocket")


@command("right", "right", "Say that the report is right.", "maintainer")
async def run_right(context: CommandContext) -> CommandEffects:
    """Store the judgement of the last report. No run starts, and a closed issue's report can be judged too."""
    _, result = await _last_report(context)
    if result is None:
        raise UserError("This issue has no report yet.")
    return CommandEffects(judgement=Judgement(right=True), reaction="rocket")


@command(
    "wrong",
    "wrong <why>",
    "Say that the report is wrong, and why; triage runs again with that information.",
    "maintainer",
)
async def run_wrong(context: CommandContext) -> CommandEffects:
    """Store the correction, which every later run receives, and queue a new run."""
    if not context.argument:
        raise UserError("Say what is wrong, as in `/triage wrong the lexer is never reached`.")
    await check_can_run(context)
    if await context.store.runs.last() is None:
        raise UserError("This issue has no report yet.")
    return CommandEffects(
        signals=(NewSignal("correction", context.argument),),
        judgement=Judgement(right=False, why=context.argument),
        start=True,
        reaction="rocket",
    )


@command(
    "component",
    "component = <path>",
    "Name the file or folder at fault; triage runs again and searches there.",
    "maintainer",
)
async def run_component(context: CommandContext) -> CommandEffects:
    """Search in the place; a report that names it already is right, so no new run starts."""
    found = _PATH.fullmatch(context.argument)
    if found is None:
        raise UserError("Name one path, as in `/triage component = src/parser`.")
    path = found["path"]
    _, result = await _last_report(context)
    report = result.report if result is not None else None
    suspects = report.suspects if report is not None else ()
    if suspects and (suspects[0].path == path or suspects[0].path.startswith(f"{path}/")):
        return CommandEffects(judgement=Judgement(right=True), reaction="rocket")
    await check_can_run(context)
    return CommandEffects(
        signals=(NewSignal("redirect", f"`{path}`"),),
        judgement=Judgement(right=False, why=f"`{path}`") if report is not None else None,
        start=True,
        reaction="rocket",
    )


@command("not-duplicate", "not-duplicate #n", "Mark this issue as not a duplicate of another.", "maintainer")
@command("duplicate", "duplicate #n", "Mark this issue as a duplicate of another; nothing is closed.", "maintainer")
async def run_related(context: CommandContext) -> CommandEffects:
    """Store the relation and queue a run. Reports name a duplicate, and never one that a person denied."""
    found = _NUMBER.fullmatch(context.argument)
    if found is None:
        raise UserError(f"Name one issue of this repository, as in `/triage {context.command} #12`.")
    other, duplicate = int(found[1]), context.command == "duplicate"
    if other == context.issue.ref.number:
        raise UserError("That is this issue itself.")
    # A denial needs no check: it must also apply to an issue that was deleted.
    if duplicate and await context.github.issue(other) is None:
        raise UserError(f"This repository has no issue `#{other}`.")
    await check_can_run(context)
    return CommandEffects(relations=(Relation(other, duplicate),), start=True, reaction="rocket")


@command("label", "label <name>, …", "Add existing labels.", "maintainer")
async def run_label(context: CommandContext) -> CommandEffects:
    """Add labels. They count as a person's choice, so the App does not change them from then on."""
    named = await _named(context)
    if _folded(named) <= _folded(context.issue.labels):
        raise UserError("The issue has these labels already.")
    return CommandEffects(add_labels=named, reaction="rocket")


@command("unlabel", "unlabel <name>, …", "Remove labels; triage does not add them again.", "maintainer")
async def run_unlabel(context: CommandContext) -> CommandEffects:
    """Remove labels. The App does not add them again."""
    named = await _named(context)
    if _folded(named).isdisjoint(_folded(context.issue.labels)):
        raise UserError("The issue has no such label.")
    return CommandEffects(remove_labels=named, reaction="rocket")


def _folded(labels: Iterable[str]) -> frozenset[str]:
    return frozenset(label.casefold() for label in labels)


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
