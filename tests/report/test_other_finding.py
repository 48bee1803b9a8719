"""Which second reports on an issue are worth a reply to the person who answered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.report.comment.sticky import answer_reply
from bot.report.comment.thread import Thread
from nodes.report import RelatedIssue, TriageReport
from tests.report.reports import FEATURE, FOUND, RAISED, WEAK, suspect

OTHER = FOUND.model_copy(update={"suspects": (suspect("parser/reader.py"),)})
LATER = FOUND.model_copy(update={"commit": "f" * 40, "facts": (replace(RAISED, line=40), *FOUND.facts[1:])})
SAME_ISSUE = FOUND.model_copy(update={"related": (RelatedIssue(reference="#5", relation="duplicate"),)})
THREAD = Thread(7, 2, "https://github.com", "octo/parser", "rita")


@pytest.mark.parametrize(
    ("after", "is_other"),
    [
        pytest.param(FOUND, False, id="same"),
        pytest.param(LATER, False, id="commit"),
        pytest.param(OTHER, True, id="file"),
        pytest.param(WEAK, True, id="claim"),
        pytest.param(FEATURE, True, id="kind"),
        pytest.param(SAME_ISSUE, True, id="duplicate"),
    ],
)
def test_another_finding_gets_a_reply(after: TriageReport, is_other: bool) -> None:
    reply = answer_reply(FOUND, after, THREAD, "q1", "https://github.com/octo/parser/issues/7#issuecomment-1")
    assert bool(reply) == is_other
