"""Options that several commands have, with one name, one default and one text."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from bot.errors import UserError

Command = Callable[..., None]

_REPOSITORY = "A git repository, bare or not; it is not changed."
REPO = click.option("--repo", default=".", show_default=True, metavar="PATH", help=_REPOSITORY)
REV = click.option("--rev", default="HEAD", show_default=True, help="The commit, branch or tag to read.")
BRAIN = click.option(
    "--brain",
    type=click.Choice(["rules", "llm", "auto"]),
    help="The brain: rules (no model), llm, or auto: llm if OPENAI_API_KEY or OPENAI_BASE_URL is set.",
)

DRY_RUN = click.option("--dry-run", is_flag=True, help="Print what would be done or written, and change nothing.")
ISSUE = (
    click.argument("argument", metavar="[ISSUE]", required=False, type=click.Path()),
    click.option("--issue", metavar="ISSUE", type=click.Path(), help="The same as the argument ISSUE."),
    click.option("--text", help="The issue text itself."),
    click.option("--title", help="The title; without it the first line is the title."),
    click.option(
        "--repo", metavar="PATH", help=f"{_REPOSITORY} Default: the issue's repository, else the current one."
    ),
)


def prints(contents: str, *forms: str, more: str = "") -> Callable[[Command], Command]:
    """Give a command ``--format`` and ``--json``, which is short for ``--format json``.

    Args:
        contents: what the JSON contains.
        forms: the other forms, the default first; without any, the command's parameter is ``as_json``, else ``form``.
        more: what the other forms contain.
    """
    choices = click.Choice([*(forms or ("text",)), "json"])

    def decorate(command: Command) -> Command:
        @wraps(command)
        def chosen(*, asked: bool, form: str, **given: Any) -> None:
            is_json = asked or form == "json"
            command(**given, **({"form": "json" if is_json else form} if forms else {"as_json": is_json}))

        says = f"json: {contents}{more}"
        form = click.option("--format", "form", type=choices, default=choices.choices[0], show_default=True, help=says)
        return form(click.option("--json", "asked", is_flag=True, help="The same as --format json.")(chosen))

    return decorate


def prints_only_json(command: Command) -> Command:
    """Give a command that always prints JSON lines the same options; they change nothing there."""
    flag = click.option("--json", is_flag=True, expose_value=False, help="The same as --format json.")
    only, says = click.Choice(["json"]), "json: one object per line."
    form = click.option("--format", type=only, default="json", show_default=True, expose_value=False, help=says)
    return form(flag(command))


@dataclass(frozen=True, slots=True)
class NamedIssue:
    """The issue and the repository that a command line names."""

    issue: str | None
    text: str | None = None
    title: str | None = None
    repo: str | None = None


def names_issue(command: Command) -> Command:
    """Give a command the ways to name an issue and its repository, as one parameter ``named``."""

    @wraps(command)
    def packed(*, argument: str | None, issue: str | None, **given: Any) -> None:
        if argument is not None and issue is not None:
            raise UserError("name the issue once: as the argument or with --issue")
        named = {name: given.pop(name) for name in ("text", "title", "repo")}
        command(named=NamedIssue(argument if issue is None else issue, **named), **given)

    for option in reversed(ISSUE):
        packed = option(packed)
    return packed
