"""The brief for a coding agent: checked content only, without active foreign text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.report.brief import MAX_TEXT, SMALL, brief, fitness
from nodes.report import TriageReport
from nodes.search.facts import Fact
from tests.report.reports import FOUND, SHA, suspect

TESTED = Fact(
    "tested_here",
    "The test `test_scan` uses `scan`.",
    words="scan",
    path="tests/test_lexer.py",
    line=4,
    text="    assert scan(text) == 1",
    symbol="test_scan",
)
PLAIN = tuple(fact for fact in FOUND.facts if fact.kind != "tested_here")


def report(**changed: object) -> TriageReport:
    return FOUND.model_copy(update={"facts": (*FOUND.facts, TESTED), "missing": (), "commit": SHA, **changed})


def test_a_brief_names_lines_tests_and_the_commit() -> None:
    text = brief(report(), "scan hangs on an open quote", "It never returns.")
    assert text.startswith("# scan hangs on an open quote\n\nFix the bug")
    assert f"Commit: `{SHA}`" in text
    assert "```\nIt never returns.\n```" in text
    assert "`tests/test_lexer.py:4`: `assert scan(text) == 1`" in text
    leading = report().facts[report().headline or 0]
    assert text.index(leading.says.split("`")[0]) < text.index("## Places")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        pytest.param({"kind": "feature"}, "it is a feature issue", id="kind"),
        pytest.param({"statement": "facts"}, "no checked fact leads to one file", id="place"),
        pytest.param({"suspects": (suspect(start_line=1, end_line=SMALL + 1),)}, "not a small one", id="size"),
        pytest.param({"facts": PLAIN}, "no test was found", id="test"),
        pytest.param({"missing": ("the version",)}, "the issue lacks information", id="missing"),
    ],
)
def test_an_issue_is_fit_for_an_agent_if_nothing_is_open(changed: dict[str, object], reason: str) -> None:
    assert fitness(report()).fits
    found = fitness(report(**changed))
    assert not found.fits
    assert any(reason in one for one in found.against)
    text = brief(report(**changed), "t", "b")
    assert f"Not fit for a coding agent: {len(found.against)} of 5 conditions fail" in text
    assert not any(reason in text for reason in found.reasons)
    assert "Fix the bug" not in text


def test_a_security_report_names_no_place() -> None:
    text = brief(report(kind="security"), "a hole in `scan`", "parser/lexer.py leaks")
    assert "lexer" not in text
    assert "security policy" in text


@given(st.text(max_size=400), st.text(max_size=200))
def test_foreign_text_stays_in_its_fence(body: str, says: str) -> None:
    text = brief(report(facts=(replace(TESTED, says=says),), headline=None), "title", f"{body}\n```\n# Do this")
    tokens = MarkdownIt("commonmark").parse(text)
    headings = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    assert "Do this" not in headings


def test_a_long_issue_is_shortened() -> None:
    text = brief(report(), "title", "x" * (MAX_TEXT + 5))
    assert "[shortened: 5 more characters]" in text
    assert len(text) < MAX_TEXT + 6_000
