"""Options mean the same in all commands."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from bot.cli.group import cli
from bot.cli.options import prints
from bot.settings.environment import load_settings
from bot.store.databases.sqlite import SqliteStore
from tests.cli.process import ROOT, triage
from tests.support.repositories import make_repository

WRITE = {
    *("init", "backfill", "replay", "jobs", "forget", "migrate", "backup", "action", "app create"),
}
"""Commands that change something other than a cache or a file that an option names."""


def leaves(group: click.Group = cli, found: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield each command that is no group, with its name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, f"{found}{name} ")
        elif command is not None:
            yield f"{found}{name}", command


def options(command: click.Command) -> dict[str, click.Option]:
    return {
        name: one
        for one in command.params
        if isinstance(one, click.Option)
        for name in (*one.opts, *one.secondary_opts)
    }


COMMANDS = dict(leaves())
REQUIRED = {"export": ("--repository", "o/r"), "classify": ("-",)}
"""What these commands cannot do without."""
ONLY_JSON = {"export", "classify"}


def read(name: str, *words: str) -> object:
    """Return what a command makes of its form."""
    words = (*words, *REQUIRED.get(name, ()))
    parameters = COMMANDS[name].make_context(name, list(words), resilient_parsing=False).params
    return "json" if parameters.get("asked") or name in ONLY_JSON else parameters["form"]


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if "--json" in options(command)])
def test_json_is_short_for_its_format(name: str) -> None:
    assert read(name, "--json") == read(name, "--format", "json") == "json"
    assert read(name) in (("json",) if name in ONLY_JSON else ("text", "md"))


@pytest.mark.parametrize("words", [(), ("--json",), ("--format", "json"), ("--json", "--format", "md")])
def test_a_command_learns_its_form(words: tuple[str, ...]) -> None:
    seen: list[object] = []

    @click.command()
    @prints("everything.", "md")
    def one(*, form: str) -> None:
        seen.append(form)

    @click.command()
    @prints("everything.")
    def other(*, as_json: bool) -> None:
        seen.append(as_json)

    one.main(list(words), standalone_mode=False)
    other.main([word.replace("md", "text") for word in words], standalone_mode=False)
    assert seen == (["json", True] if words else ["md", False])


def test_the_repository_has_one_default() -> None:
    repo = {name: options(command)["--repo"] for name, command in COMMANDS.items() if "--repo" in options(command)}
    assert {name for name, option in repo.items() if option.default == "."} == {"init", "ask", "index", "backtest"}
    assert {name for name, option in repo.items() if "else the current one" in str(option.help)} == {"run", "locate"}
    assert set(repo) == {"init", "ask", "index", "backtest", "run", "locate", "mcp", "doctor"}


def test_what_writes_can_be_tried() -> None:
    assert {name for name, command in COMMANDS.items() if "--dry-run" in options(command)} == WRITE


def test_a_backup_can_be_tried(tmp_path: Path) -> None:
    data = tmp_path / "data"
    store = SqliteStore(load_settings().triage_data_dir / "store.db")
    asyncio.run(store.aclose())
    done = triage(tmp_path, "backup", "copy", "--dry-run", TRIAGE_DATA_DIR=str(data))
    assert (done.returncode, done.stdout) == (0, "copy: store.db would be copied\n")
    assert not (tmp_path / "copy").exists()
    done = triage(tmp_path, "jobs", "--replay", "1", "--dry-run", TRIAGE_DATA_DIR=str(data))
    assert (done.returncode, done.stderr) == (2, "triage: no dead job has the number 1; `triage jobs` lists them\n")


def test_an_error_of_the_network_names_the_host(tmp_path: Path) -> None:
    make_repository(tmp_path / "app", {"a.py": ""})
    nowhere = {"GITHUB_API_URL": "http://127.0.0.1:9", "GITHUB_SERVER_URL": "http://127.0.0.1:9"}
    for command in ("run", "locate"):
        done = triage(tmp_path / "app", command, "octo/app#1", **nowhere)
        assert (done.returncode, done.stderr) == (2, "triage: octo/app#1: 127.0.0.1 cannot be reached\n")


def test_the_hook_of_pre_commit_is_a_command() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    _, *words = hook["entry"].split()
    assert " ".join(words) in COMMANDS
