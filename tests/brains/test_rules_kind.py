"""The rules for an issue's kind and severity."""

from __future__ import annotations

import pytest

from nodes.brains.rules.investigate import DESCRIBED_AS_A_BUG, MAY_BE_A_BUG, acting_kind, kind_of
from nodes.brains.rules.severity import severity_of
from nodes.issue.facts import read_facts
from nodes.issue.kinds import classify

TRACE = "Traceback (most recent call last):\n  File \"app/io.py\", line 3, in load\n    x\nKeyError: 'a'\n"


@pytest.mark.parametrize(
    ("title", "body", "expected"),
    [
        pytest.param("Crash when the file is empty", "It fails with an error.", "bug", id="crash"),
        pytest.param("How do I read a file?", "I am wondering whether there is a way.", "question", id="how-do-i"),
        pytest.param("Wrong total", "Expected 3 but got 4", "bug", id="wrong-result"),
        pytest.param("It broke", "", "bug", id="nothing-said"),
        pytest.param("How can it fail?", TRACE, "bug", id="a-trace-outweighs-a-question"),
        pytest.param("Add support for YAML", "It would be nice to have this.", "feature", id="add-support"),
        pytest.param("Please add support for TOML", "It would be great.", "feature", id="please-add"),
        pytest.param("Feature request: empty input", f"It crashes.\n{TRACE}", "bug", id="a-trace-in-a-request"),
        pytest.param("[Feature request] dark mode", "Please.", "feature", id="says-feature-request"),
        pytest.param("[ENH]: why can't it?", "How do I draw the border?", "feature", id="says-enhancement-and-asks"),
        pytest.param("Add fails with a KeyError", "Expected behaviour: no error.", "bug", id="add-is-a-command-here"),
        pytest.param("Typo in the documentation", "The docs say `foo`.", "docs", id="docs"),
        pytest.param("Docs build crashes with an error", "The build fails.", "bug", id="docs-that-crash"),
        pytest.param("Casino bonus", "Click here, best price, buy now", "spam", id="spam"),
        pytest.param("Path traversal vulnerability in upload", "An attacker can.", "security", id="security"),
        pytest.param("Remote code execution in the importer", "A vulnerability.", "security", id="code-execution"),
        pytest.param("Dates are a day late", "They are sorted in an odd way.", "bug", id="nothing-says-otherwise"),
        pytest.param("", "", "bug", id="empty"),
    ],
)
def test_kind(title, body, expected):
    assert kind_of(title, body, read_facts(title, body)) == expected


def test_a_plain_request_is_not_a_bug_in_any_wording():
    title, body = "Add a flag for the width", "A flag would be nice to have.\n### Expected behavior\n\nAn option."
    assert kind_of(title, body, read_facts(title, body)) == "feature"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param("", ("question", None), id="unlikely"),
        pytest.param("\n### Expected behavior\n\n", ("bug", "question"), id="what-was-expected"),
        pytest.param("\n### 复现步骤\n\n", ("bug", "question"), id="steps-in-chinese"),
        pytest.param("\n<!-- Expected behavior -->", ("question", None), id="a-hint-of-a-template"),
    ],
)
def test_an_issue_that_describes_a_failure_is_a_bug_from_a_lower_probability(told, expected):
    title, body = "Can I keep the rows in order?", "I am trying to understand the order. Thanks."
    assert DESCRIBED_AS_A_BUG <= classify(title, body + told).shares["bug"] < MAY_BE_A_BUG
    assert acting_kind(title, body + told, read_facts(title, body + told)) == expected


@pytest.mark.parametrize(
    ("body", "kind", "expected", "reason"),
    [
        pytest.param("All my data is corrupted.", "bug", "high", "“All my data is corrupted”", id="corruption"),
        pytest.param("Data loss on save.", "bug", "high", "lost or damaged", id="data-loss"),
        pytest.param("Segfault on start.", "bug", "high", "a crash", id="crash"),
        pytest.param("The log says PANIC RECOVERED.", "bug", "unknown", "", id="recovered"),
        pytest.param("It writes /var/log/crash.log again.", "bug", "unknown", "", id="the-name-of-a-file"),
        pytest.param("It hangs.", "bug", "high", "a hang", id="hang"),
        pytest.param("See (here\n) a memory leak.", "bug", "high", "leaks: “a memory leak”", id="leak"),
        pytest.param("It does not hang.", "bug", "unknown", "", id="denied"),
        pytest.param(TRACE, "bug", "unknown", "", id="a-trace-is-no-prose"),
        pytest.param("```\nsegfault\n```", "bug", "unknown", "", id="code-is-no-prose"),
        pytest.param("A typo in the label.", "bug", "low", "wording", id="typo"),
        pytest.param("It worked before.", "bug", "unknown", "", id="a-regression-is-no-impact"),
        pytest.param("It is odd.", "bug", "unknown", "", id="nothing-said"),
        pytest.param("It hangs.", "feature", "unknown", "", id="features-have-none"),
        pytest.param("How?", "question", "unknown", "", id="questions-have-none"),
        pytest.param("Wrong page.", "docs", "unknown", "", id="docs-have-none"),
    ],
)
def test_severity_comes_with_its_reason(body, kind, expected, reason):
    severity, sentence = severity_of("Title", body, kind)
    assert severity == expected
    assert reason in sentence
