"""What a second report on an issue says differently."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.report.difference import differences, is_other_finding
from nodes.report import RelatedIssue
from tests.report.reports import FEATURE, FOUND, RAISED, SEVERAL, WEAK, suspect

OTHER = FOUND.model_copy(update={"suspects": (suspect("parser/reader.py"),)})
LATER = FOUND.model_copy(update={"commit": "f" * 40, "facts": (replace(RAISED, line=40), *FOUND.facts[1:])})
SAME_ISSUE = FOUND.model_copy(update={"related": (RelatedIssue(reference="#5", relation="duplicate"),)})


def test_the_same_report_has_no_difference() -> None:
    assert not list(differences(FOUND, FOUND))
    assert not is_other_finding(FOUND, FOUND)


@pytest.mark.parametrize(
    ("after", "said", "is_other"),
    [
        pytest.param(OTHER, "The first file is `parser/reader.py` instead of `parser/lexer.py`.", True, id="file"),
        pytest.param(WEAK, "Now no place is shown, only a ranked list; before, one file is claimed.", True, id="claim"),
        pytest.param(WEAK, "4 facts no longer shown: ", True, id="facts"),
        pytest.param(WEAK, "The confidence is 40% instead of 78%.", True, id="confidence"),
        pytest.param(WEAK, "Missing now: The version it happens with.", True, id="missing"),
        pytest.param(FEATURE, "The kind is feature instead of bug.", True, id="kind"),
        pytest.param(FEATURE, "No file is named any more; before, `parser/lexer.py` was the first.", True, id="none"),
        pytest.param(FEATURE, "1 suspect change no longer shown: `bbbbbbb` “Speed up the lexer”.", True, id="change"),
        pytest.param(LATER, "The code was read at `fffffff` instead of `a1b2c3d`.", False, id="commit"),
        pytest.param(SAME_ISSUE, "1 new related issue: #5 (duplicate).", True, id="duplicate"),
    ],
)
def test_a_difference_is_a_sentence(after, said: str, is_other: bool) -> None:
    assert any(one.startswith(said) for one in differences(FOUND, after)), list(differences(FOUND, after))
    assert is_other_finding(FOUND, after) == is_other


def test_lines_that_moved_are_the_same_facts() -> None:
    assert not any("fact" in one for one in differences(FOUND, LATER))


def test_many_new_facts_are_counted() -> None:
    few = FOUND.model_copy(update={"facts": ()})
    (said,) = (one for one in differences(few, FOUND) if "fact" in one)
    assert said.startswith("4 new facts: ")
    assert said.endswith(" And 1 more.")
    assert "1 new fact" not in "".join(differences(SEVERAL, SEVERAL))
