"""The rules for an issue's kind and severity."""

from __future__ import annotations

import pytest

from nodes.brains.rules.investigate import RATHER_A_BUG, acting_kind, severity_of
from nodes.issue.facts import read_facts
from nodes.issue.kinds.classify import classify

SIGNAL = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n" + (
    '  File "app/io.py", line 3 in load\n'
)
TRACE = "Traceback (most recent call last):\n  File \"app/io.py\", line 3, in load\n    x\nKeyError: 'a'\n"


@pytest.mark.parametrize(
    ("title", "body", "expected"),
    [
        pytest.param("Crash when the file is empty", "It fails with an error.", "bug", id="crash"),
        pytest.param("How do I read a file?", "I am wondering whether there is a way.", "question", id="how-do-i"),
        pytest.param("Wrong total", "Expected 3 but got 4", "bug", id="wrong-result"),
        pytest.param("It broke", "", "bug", id="nothing-said"),
        pytest.param("How can it fail?", TRACE, "bug", id="a-trace-outweighs-a-question"),
        pytest.param(
            "How can it be built?",
            "src/io.c:3:1: error: unknown type. Could you help me to solve this issue? Thanks!",
            "bug",
            id="an-error-with-its-place",
        ),
        pytest.param(
            "support Ruby 4.0",
            "'ostruct' should be added:\nruby-prof-1.7.2/bin/ruby-prof:7: warning: ostruct is no default gem since 4.0",
            "bug",
            id="a-warning-with-its-place",
        ),
        pytest.param(
            "What shall I patch?",
            "Error: zones/io.yaml:2:13\n  nil pointer. Any idea?",
            "bug",
            id="an-error-and-its-place",
        ),
        pytest.param(
            "Is it caused by patches?",
            "`zones/io.lua:16: attempt to index local 'x'`, can I help?",
            "bug",
            id="an-error-of-lua",
        ),
        pytest.param(
            "How can it be built?",
            "Is src/io.c:3 right? Could you help me to solve this issue? Thanks!",
            "question",
            id="a-place-without-an-error",
        ),
        pytest.param("Add support for YAML", "It would be nice to have this.", "feature", id="add-support"),
        pytest.param("Please add support for TOML", "It would be great.", "feature", id="please-add"),
        pytest.param("Feature request: empty input", f"It crashes.\n{TRACE}", "bug", id="a-trace-in-a-request"),
        pytest.param("[Feature request] dark mode", "Please.", "feature", id="says-feature-request"),
        pytest.param(
            "Add support for YAML", "**Describe the bug**\nIt would be nice.", "bug", id="on-a-form-for-faults"
        ),
        pytest.param("Add support for YAML", "Describe the bug: it would be nice.", "feature", id="on-no-form"),
        pytest.param("[ENH]: why can't it?", "How do I draw the border?", "feature", id="says-enhancement-and-asks"),
        pytest.param("Add fails with a KeyError", "Expected behaviour: no error.", "bug", id="add-is-a-command-here"),
        pytest.param("Typo in the documentation", "The docs say `foo`.", "docs", id="docs"),
        pytest.param("Docs build crashes with an error", "The build fails.", "bug", id="docs-that-crash"),
        pytest.param("Casino bonus", "Click here, best price, buy now", "spam", id="spam"),
        pytest.param("Path traversal vulnerability in upload", "An attacker can.", "security", id="security"),
        pytest.param("Remote code execution in the importer", "A vulnerability.", "security", id="code-execution"),
        pytest.param("Dates are a day late", "They are sorted in an odd way.", "bug", id="nothing-says-otherwise"),
        pytest.param("", "", "bug", id="empty"),
        pytest.param(
            "Add the sign of the zone to dates",
            "I would like -07:00, as it worked in 1.1.0; 1.2.0 gives +07:00.",
            "bug",
            id="one-version-worked-and-one-fails",
        ),
        pytest.param(
            "[Feature request] signs", "It worked in 1.1.0, 1.2.0 fails.", "feature", id="a-request-with-versions"
        ),
    ],
)
def test_kind(title, body, expected):
    assert acting_kind(title, body, read_facts(title, body)).kind == expected


def test_a_plain_request_is_not_a_bug_in_any_wording():
    title, body = "Add a flag for the width", "A flag would be nice to have.\n### Expected behavior\n\nAn option."
    assert acting_kind(title, body, read_facts(title, body)).kind == "feature"


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Support several windows", "I would love an option to open a second one."),
        ("Add a shortcut for the search", "Currently the mouse is needed, which is wrong on a laptop."),
        ("Allow to keep the chosen tab", "It would be nice if it did not reset."),
    ],
)
def test_a_likely_request_is_searched_only_if_a_bug_is_nearly_as_likely_and_then_says_so(title, body):
    found = classify(title, body)
    assert found.shares["feature"] > found.shares["bug"]
    expected = ("bug", "feature") if found.bug_rather_than_feature >= RATHER_A_BUG else ("feature", None)
    assert acting_kind(title, body, read_facts(title, body)) == expected


@pytest.mark.parametrize(
    ("body", "kind", "expected", "reason"),
    [
        pytest.param("All my data is corrupted.", "bug", "high", "“All my data is corrupted”", id="corruption"),
        pytest.param("Data loss on save.", "bug", "high", "lost or damaged", id="data-loss"),
        pytest.param("Segfault on start.", "bug", "high", "a crash", id="crash"),
        pytest.param("It crashes with a KeyError.", "bug", "unknown", "", id="an-exception-is-called-a-crash"),
        pytest.param("The worker panics and restarts.", "bug", "unknown", "", id="a-panic-may-be-caught"),
        pytest.param("This tool hangs my whole life!", "bug", "unknown", "", id="an-exclamation"),
        pytest.param(
            f"It stops.\n{SIGNAL}", "bug", "high", "a crash of the whole process: “Fatal", id="a-trace-of-a-signal"
        ),
        pytest.param("The log says PANIC RECOVERED.", "bug", "unknown", "", id="recovered"),
        pytest.param("It writes /var/log/crash.log again.", "bug", "unknown", "", id="the-name-of-a-file"),
        pytest.param("It hangs.", "bug", "high", "a hang", id="hang"),
        pytest.param("A test case hangs off a type.", "bug", "unknown", "", id="hangs-off"),
        pytest.param("See (here\n) a memory leak.", "bug", "high", "leaks: “a memory leak”", id="leak"),
        pytest.param("It does not hang.", "bug", "unknown", "", id="denied"),
        pytest.param(TRACE, "bug", "unknown", "", id="a-trace-is-no-prose"),
        pytest.param("```\nsegfault\n```", "bug", "unknown", "", id="code-is-no-prose"),
        pytest.param("A typo in the label.", "bug", "low", "wording", id="typo"),
        pytest.param("It shows 3.\n\nEdit: Wording", "bug", "unknown", "", id="a-note-of-an-edit"),
        pytest.param("It worked before.", "bug", "unknown", "", id="a-regression-is-no-impact"),
        pytest.param("It is odd.", "bug", "unknown", "", id="nothing-said"),
        pytest.param("It hangs.", "feature", "unknown", "", id="features-have-none"),
        pytest.param("How?", "question", "unknown", "", id="questions-have-none"),
        pytest.param("Wrong page.", "docs", "unknown", "", id="docs-have-none"),
    ],
)
def test_severity_comes_with_its_reason(body, kind, expected, reason):
    severity, sentence = severity_of("Title", body, kind, read_facts("Title", body).traces)
    assert severity == expected
    assert reason in sentence


@pytest.mark.parametrize("body", ["It hangs on save.", "A typo in the label.", "It prints 3 and not 4.", SIGNAL])
@pytest.mark.parametrize(
    "tone",
    ["{}", "URGENT!!! {} THIS IS UNACCEPTABLE!!!", "{} It is critical, a blocker.", "Sorry, a tiny thing: {} Thanks!"],
)
def test_severity_does_not_depend_on_the_tone(body: str, tone: str) -> None:
    def found(text: str) -> str:
        return severity_of("Title", text, "bug", read_facts("Title", text).traces)[0]

    assert found(tone.format(f"\n{body}\n")) == found(body)
