"""Security reports are recognised in any words, at the cost of a few ordinary issues withheld."""

from __future__ import annotations

import pytest

from nodes.brains.rules.investigate import kind_of
from nodes.issue.facts import read_facts
from tests.kinds.weaknesses import ORDINARY, SECURITY

MOST_WITHHELD = 2
"""Maximum number of ordinary issues in the list that may be classified as security reports."""


@pytest.mark.tried("security reports in plain words, which get no public pointer")
@pytest.mark.parametrize(("title", "body"), SECURITY, ids=[title for title, _ in SECURITY])
def test_a_security_report_is_one(title: str, body: str) -> None:
    assert kind_of(title, body, read_facts(title, body)) == "security"


@pytest.mark.tried("security reports in plain words, which get no public pointer")
@pytest.mark.parametrize("body", ["", "Please fix.", "Version 2.1", "See the title."])
def test_a_thin_report_is_one_by_its_title(body: str) -> None:
    for title, _ in SECURITY[:20]:
        if title != "search endpoint breaks with a quote" and not title.startswith("Archive extraction"):
            assert kind_of(title, body, read_facts(title, body)) == "security", title


def test_few_ordinary_issues_are_withheld() -> None:
    withheld = [title for title, body in ORDINARY if kind_of(title, body, read_facts(title, body)) == "security"]
    assert len(withheld) <= MOST_WITHHELD, withheld


def test_the_lists_are_long_enough_to_tell() -> None:
    assert len(SECURITY) >= 60
    assert len(ORDINARY) >= 35
