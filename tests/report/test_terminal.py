"""A comment on a terminal."""

from __future__ import annotations

import pytest

from bot.report.comment.markdown import MarkdownRenderer
from bot.report.terminal import render_terminal
from nodes.report import TriageReport
from tests.report.reports import FOUND, REPORTS, suspect


def laid_out(report: TriageReport) -> str:
    return render_terminal(MarkdownRenderer().comment(report), width=200, colour=False)


def test_marks_are_laid_out_and_folds_are_open():
    shown = laid_out(FOUND)
    assert shown.startswith("The stack trace passes through Lexer.scan; this line")
    assert "     while True:" in shown
    assert "For maintainers: evidence, further places, history" in shown
    assert not [mark for mark in ("**", "<details", "`parser") if mark in shown]


def test_no_color_is_respected(monkeypatch):
    assert "\x1b[" in render_terminal("**bold**", width=100)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in render_terminal("**bold**", width=100)


@pytest.mark.parametrize("name", REPORTS)
def test_every_comment_is_laid_out(name):
    shown = laid_out(REPORTS[name])
    assert "a maintainer decides" in shown
    assert "\u2060" not in shown


def test_control_characters_of_a_repository_are_removed():
    shown = laid_out(
        FOUND.model_copy(
            update={"suspects": (suspect(path="a\x1b]0;x\x07.py", quote="\x1b[2J\u202ex", symbol="[red]x"),)}
        )
    )
    assert "\x1b" not in shown
    assert "\u202e" not in shown
