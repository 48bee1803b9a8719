"""The digest of open issues, with a golden file; UPDATE_GOLDEN=1 rewrites it."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest

from bot.ports import OpenReport, OpenReports, Relation, UnansweredQuestion
from bot.report.comment.digest import READ_AGAIN, render_digest
from bot.report.digest import Digest, build_digest, only
from nodes.report import RelatedIssue, TriageReport
from tests.report.github_markdown import acting
from tests.report.hostile_text import FRAGMENTS
from tests.report.reports import FEATURE, FIRST_PLACE, FOUND, POINTED, SEVERAL, WEAK, suspect

GOLDEN = Path(__file__).parent / "golden" / "digest.md"
NOW, DAY = 1_763_000_000.0, 86_400.0
SAME = FOUND.model_copy(
    update={"related": (RelatedIssue(reference="#3", relation="duplicate", why="the same frames", checked=True),)}
)


def reported(number: int, report: TriageReport, *, days: float = 2.0, said: tuple[Relation, ...] = ()) -> OpenReport:
    return OpenReport(number, f"Issue {number} with `code` and @rita", NOW - days * DAY, report, said)


FILLED = OpenReports(
    reports=(
        reported(3, FOUND, days=20),
        reported(4, SAME),
        reported(5, FIRST_PLACE),
        reported(6, POINTED, days=7.5),
        reported(7, SEVERAL),
        reported(8, WEAK, days=6.9),
        reported(9, FEATURE, said=(Relation(3, duplicate=True),)),
        reported(10, SAME, said=(Relation(3, duplicate=False),)),
    ),
    all=14,
    questions=(
        UnansweredQuestion(11, "It breaks", "Which version? #12", 23, expired=True),
        UnansweredQuestion(12, "It stops", "Which system?", 0, expired=False),
    ),
    closed=2,
)


def digest(found: OpenReports = FILLED) -> Digest:
    return build_digest("octo/parser", found, NOW, 7)


def test_golden() -> None:
    text = render_digest(digest(), "https://github.com", READ_AGAIN)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()
    assert "redirect.github.com" not in render_digest(digest(), "https://ghe.example.org", READ_AGAIN)
    reverse = replace(FILLED, reports=FILLED.reports[::-1])
    assert render_digest(digest(reverse), "https://github.com", READ_AGAIN) == text


def test_only_what_is_open_is_listed_under_its_current_title() -> None:
    found = only(FILLED, {4: "Renamed", 12: "It stops"})
    assert (found.all, [one.number for one in found.questions]) == (7, [12])
    kept = digest(found)
    assert [(bug.number, bug.title) for place in kept.places for bug in place.bugs] == [(4, "Renamed")]
    assert (kept.bugs, kept.not_read, kept.empty) == (1, 6, False)
    assert digest(only(FILLED, {})).empty


@pytest.mark.tried("mark-up that must not act in what is posted, read by GitHub's own Markdown renderer")
def test_the_digest_of_a_hostile_repository_is_bounded_and_sanitised() -> None:
    texts = cycle(FRAGMENTS)
    reports = []
    for number in range(1, 41):
        long = "".join(next(texts) for _ in range(60))[:300]
        place = suspect(f"{long.replace('/', '')}/{number}.py" * (1 + number % 2 * 10), symbol=long)
        (change,) = FOUND.suspect_changes
        changes = (change.model_copy(update={"sha": f"{number:040x}", "title": long}),)
        report = FIRST_PLACE.model_copy(update={"suspects": (place,), "suspect_changes": changes})
        reports.append(replace(reported(number, report), title=long, relations=(Relation(number + 1, duplicate=True),)))
    questions = tuple(UnansweredQuestion(one.number, one.title, one.title * 4, 12, expired=True) for one in reports)
    text = render_digest(digest(OpenReports(tuple(reports), 40, questions, 0)), "https://github.com", READ_AGAIN)
    assert len(text) < 60_000
    assert (text.count("25 more"), text.count("30 more")) == (3, 1)
    own = ("https://github.com/octo/parser/", "https://redirect.github.com/octo/parser/issues/")
    assert acting(text, own=own) == []
