"""Classification of issues: named cases, and properties of every text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.issue.kinds.classify import classify
from nodes.issue.kinds.model import LEARNT, MAX_BODY, parts_of
from tests.support.growth import assert_linear

CASES = [
    ("Crash when the file is empty", "It fails with an error: ValueError.", "bug"),
    ("Memory leak in the parser since 2.3", "Steps to reproduce\n\n1. open\n\nIt used to work.", "bug"),
    ("Wrong total after update", "Expected 3 but got 4. This worked in version 1.2.", "bug"),
    ("Add support for YAML", "It would be nice to have this.", "feature"),
    ("Allow configuring the timeout", "Currently it is fixed. An option would be useful.", "feature"),
    ("Feature request: dark mode", "I'd love to have a dark mode.", "feature"),
    ("How do I read a file?", "I am trying to understand how to read. Thanks for any help.", "question"),
    ("Is there a way to disable the cache?", "How can I do that?", "question"),
    ("Typo in the documentation", "The docs say `foo`.", "docs"),
    ("README: broken link to the tutorial", "It gives a 404.", "docs"),
    ("Docs build crashes with an error", "The build fails.", "bug"),
    ("Casino bonus", "Click here, best price, buy now", "spam"),
    ("Booking helpline +1-855-555-0100", "Dial the toll free number and speak to a live person.", "spam"),
    ("Accounting support number 1-888-555-0123", "Our customer service is available at any time.", "spam"),
    ("Phone number +1 555 0100 is rejected", "The form for customer service returns invalid.", "bug"),
    ("Numbers such as 1-800-555-0100 are not parsed", "Toll free numbers give None.", "bug"),
    ("Path traversal vulnerability in upload", "An attacker can.", "security"),
    ("Upload accepts ../ in names", "This is a path traversal: an attacker can write any file.", "security"),
    ("How do I protect my form against XSS?", "I am wondering how to do it.", "question"),
    ("Discount is computed wrong", "The discount of `Order` is 0.", "bug"),
]


@pytest.mark.parametrize(("title", "body", "kind"), CASES, ids=[case[0] for case in CASES])
def test_kind(title: str, body: str, kind: str) -> None:
    assert classify(title, body).kind == kind


PAIRS = [
    (
        "The table cannot be filtered",
        "I have to look through 200 rows each time. Other tools do this.",
        "No row stays.",
    ),
    ("Photos don't load on mobile data", "There is no setting to allow it. Annoying.", "The picture stays blank."),
    ("Only one tab is open after a start", "We need several and open each by hand.", "The other two are lost."),
    (
        "The log is not rotated",
        "Users want a limit for its size, there is no option.",
        "`max_size = 10` has no effect.",
    ),
    ("Export ignores the hidden columns", "I would like to have them in the file.", "Their cells are empty since 2.1."),
]
"""A title, a text below it that asks for something, and one that describes a fault."""


@pytest.mark.parametrize(("title", "request_", "fault"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_a_complaint_that_asks_for_something_is_less_likely_a_bug(title: str, request_: str, fault: str) -> None:
    asked, reported = classify(title, request_), classify(title, fault)
    assert asked.bug_rather_than_feature < reported.bug_rather_than_feature - 0.1


TEXTS = st.text(max_size=200) | st.lists(
    st.sampled_from(["crash", "how do i", "add support", "?", "```", "<!--", "-->", "### Version", "\n", "error", "é"]),
    max_size=30,
).map(" ".join)


@settings(deadline=None, max_examples=100)
@given(TEXTS, TEXTS)
def test_every_text_gets_a_kind_and_a_probability(title: str, body: str) -> None:
    found = classify(title, body)
    assert 0.0 <= found.confidence <= 1.0
    assert sum(found.shares.values()) == pytest.approx(1.0)
    assert found == classify(title, body)
    if found.kind in LEARNT:
        assert found.confidence == pytest.approx(max(found.shares.values()), abs=1e-4)
        assert found.confidence >= 1 / 3 - 1e-4


def test_only_the_beginning_counts() -> None:
    body = "It crashes. " * (MAX_BODY // 10)
    assert classify("Crash", body) == classify("Crash", body + "How do I add a feature?")


@pytest.mark.tried("texts made to be slow to read")
@pytest.mark.parametrize("piece", ["a ", "<!--", "```\n", "[](x", "**a", "- [ ] ", "![[", "\\", "# a\n", "é", "a: \n"])
def test_a_hostile_megabyte_costs_no_more_than_its_beginning(piece: str) -> None:
    classify("warm", (piece * MAX_BODY)[:MAX_BODY])
    assert_linear(lambda body: classify(body, body), lambda size: piece * (size // len(piece)), 1_000_000)


@pytest.mark.parametrize(
    ("body", "prose"),
    [
        pytest.param("### Steps to reproduce\nOpen it.", "open it.", id="heading"),
        pytest.param("**Expected behaviour:**\nNothing.", "nothing.", id="bold-heading"),
        pytest.param("- [x] I searched\nIt is odd.", "it is odd.", id="tick-box"),
        pytest.param("Version:\n_No response_\nIt is odd.", "it is odd.", id="label-and-no-response"),
        pytest.param("<!-- describe it -->It is odd.", "it is odd.", id="comment"),
        pytest.param("It is odd.\n```\ncode()\n```", "it is odd.", id="code"),
        pytest.param("![a picture](https://x/y.png) see https://z", "see", id="picture-and-link"),
    ],
)
def test_prose_is_what_a_person_wrote(body: str, prose: str) -> None:
    assert parts_of("", body).prose.strip() == prose
