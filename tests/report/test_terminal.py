from __future__ import annotations

import pytest

from bot.report.terminal import render_terminal
from tests.report.reports import FOUND, REPORTS, suspect


def test_suspects_come_with_numbered_lines():
    shown = render_terminal(FOUND, width=100, colour=False)
    assert "1. parser/lexer.py:10-13  Lexer.scan" in shown
    assert "    12 │     while True:" in shown


def test_the_history_is_described_in_words():
    shown = render_terminal(FOUND, width=200, colour=False)
    change = "bbbbbbbbbb “Speed up the lexer” (in the range given, 2.3.2 → 2.4.1) — touches L12 of `Lexer.scan`"
    assert f"Suspect change, not bisected: {change}" in shown
    assert "People who know this code: alice (made 6 of the last 10 changes of `parser/lexer.py`)" in shown
    unknown = FOUND.model_copy(update={"suspect_changes": (), "no_suspect_change": "it names no version"})
    assert "No change is suspected: it names no version" in render_terminal(unknown, width=200, colour=False)


def test_no_color_is_respected(monkeypatch):
    assert "\x1b[" in render_terminal(FOUND, width=100)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in render_terminal(FOUND, width=100)


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_has_its_verdict(name):
    shown = render_terminal(REPORTS[name], width=200, colour=False)
    assert REPORTS[name].verdict in shown or name == "security"


def test_control_characters_of_a_repository_are_removed():
    hostile = FOUND.model_copy(
        update={"suspects": (suspect(path="a\x1b]0;x\x07.py", quote="\x1b[2J\u202ex", symbol="[red]x"),)}
    )
    shown = render_terminal(hostile, width=100, colour=False)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "[red]x" in shown
