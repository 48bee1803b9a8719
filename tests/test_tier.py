"""The tier of an issue."""

from __future__ import annotations

import pytest

from nodes.agents.investigator import tier_of
from nodes.issue.facts import read_facts
from nodes.report import Kind

TRACE = 'Traceback (most recent call last):\n  File "app/parser.py", line 2, in parse\n    x\nKeyError: 1\n'


@pytest.mark.parametrize(
    ("kind", "title", "body", "tier"),
    [
        pytest.param("feature", "Add dark mode", "", "simple", id="feature"),
        pytest.param("question", "How to?", "", "simple", id="question"),
        pytest.param("spam", "Casino", "", "simple", id="spam"),
        pytest.param("bug", "", "", "simple", id="nothing-to-search-by"),
        pytest.param("bug", "parse fails", TRACE, "medium", id="one-trace"),
        pytest.param("bug", "`parse` fails", "", "medium", id="one-name"),
        pytest.param("bug", "It is slow", "very slow indeed " * 250, "complex", id="prose-only"),
        pytest.param(
            "bug",
            "fails",
            f"{TRACE}\nand in the browser\n\nTypeError: x\n    at run (/app/src/run.js:1:2)\n",
            "complex",
            id="two-programs",
        ),
        pytest.param("bug", "parse fails", "See a/b.py, a/c.py, a/d.py and a/e.py.", "complex", id="many-files"),
    ],
)
def test_the_tier_follows_from_kind_and_facts(kind: Kind, title: str, body: str, tier: str) -> None:
    found, signal = tier_of(kind, read_facts(title, body))
    assert found == tier
    assert signal
