"""Each command has a section in the docs with the command's own help text."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from bot.settings.repository import CommandName
from bot.worker.commands.table import COMMANDS, WHO

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
SECTIONS = {
    heading.replace("\\", ""): " ".join(text.split())
    for heading, _, text in (part.partition("\n") for part in PAGE.split("\n## ")[1:])
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_section(name: str) -> None:
    kind = COMMANDS[name]
    text = SECTIONS[f"/triage {kind.usage}".rstrip()]
    assert text.startswith(f"{kind.help} Who: {WHO[kind.role]}.")


def test_only_commands_have_a_section_and_the_configuration_lists_the_same() -> None:
    assert len(SECTIONS) == len(COMMANDS)
    assert set(COMMANDS) == set(get_args(CommandName))
