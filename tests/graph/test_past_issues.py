"""Earlier issues in a report: found by stored hashes, and shown in their current state."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest

from nodes.agents.writing.related import title_of
from nodes.context.ports import Nearby, PastIssue, PastUnreadableError
from nodes.evidence import Evidence, Locator
from nodes.report import RelatedIssue, TriageReport
from nodes.run import advance
from nodes.search.issue.similar import PastIndex, words_of
from nodes.state import BugTriageState, Finished
from nodes.trust.citations import still_matches
from tests.graph.test_run import PLAIN, START, graph
from tests.support.fakes import FakeCode, FakeEvidence, ScriptedBrain, context

BASE = "https://github.com/octo/parser/issues"
TRACE = (
    "Traceback (most recent call last):\n"
    '  File "/opt/app/src/reader.py", line 2, in read\n    return scan(text)\n'
    '  File "/opt/app/src/lexer.py", line 3, in scan\n    advance()\n'
    "LexError: open quote\n"
)
OTHERS = (
    ("Dark mode", "Dark colours at night would be kind."),
    ("Slow start", "It takes ten seconds until the window is there."),
    ("Translations", "The Danish words for the menu are missing."),
    ("Printing", "Pages come out blank on my printer since yesterday."),
)


def past_issue(number: int, title: str = "scan hangs", body: str = TRACE, state: str = "open") -> PastIssue:
    return PastIssue(number, title, body, state, f"{BASE}/{number}")  # type: ignore[arg-type]


@dataclass
class FakePast:
    """Issues as they were when they were stored, and as they are now."""

    issues: Sequence[PastIssue]
    changed: dict[int, PastIssue | None] = field(default_factory=dict)
    unreadable: bool = False
    asked: list[int] = field(default_factory=list)

    async def similar(self, title: str, body: str, limit: int) -> Nearby:
        if self.unreadable:
            raise PastUnreadableError("GitHub answered 502")
        rows = [(one.number, words_of(one.title, one.body)) for one in self.issues]
        rows += [(900 + number, words_of(*issue)) for number, issue in enumerate(OTHERS)]
        past = PastIndex(rows)
        return Nearby(tuple(past.nearest(words_of(title, body), limit)), past)

    async def read(self, number: int) -> PastIssue | None:
        self.asked.append(number)
        known = {one.number: one for one in self.issues}
        return self.changed.get(number, known.get(number))


def ran(past: FakePast | None, body: str = TRACE, **ports: Any) -> TriageReport:
    ctx = context(ScriptedBrain(list(PLAIN)), past=past, title="It ends", body=body, **ports)

    async def finish() -> BugTriageState:
        outcome = await advance(graph(), ctx, "t", START)
        assert isinstance(outcome, Finished)
        return outcome.state

    state = asyncio.run(finish())
    assert state.report is not None
    for one in state.report.related:
        key = state.evidence[int(one.evidence[1:]) - 1]
        assert isinstance(ctx.evidence, FakeEvidence)
        kept = ctx.evidence.kept[key]
        assert (kept.kind, kept.quote[:300], kept.locator.url) == ("issue", one.title, f"{BASE}/{one.reference[1:]}")
    return state.report


def named(report: TriageReport) -> list[tuple[str, str, str | None]]:
    return [(one.reference, one.relation, one.state) for one in report.related]


@pytest.mark.parametrize(
    ("past", "expected"),
    [
        pytest.param(FakePast([past_issue(3)]), [("#3", "duplicate", "open")], id="the-same-crash"),
        pytest.param(
            FakePast([past_issue(8), past_issue(3)]),
            [("#3", "duplicate", "open"), ("#8", "related", "open")],
            id="the-oldest-is-the-original",
        ),
        pytest.param(
            FakePast([past_issue(3, state="closed")]), [("#3", "related", "closed")], id="a-closed-one-is-no-duplicate"
        ),
        pytest.param(
            FakePast([past_issue(3)], {3: past_issue(3, state="closed")}),
            [("#3", "related", "closed")],
            id="closed-since-it-was-kept",
        ),
        pytest.param(FakePast([past_issue(3)], {3: None}), [], id="deleted-since"),
        pytest.param(FakePast([past_issue(3)], {3: past_issue(3, "Other", "Rewritten.")}), [], id="says-another-thing"),
        pytest.param(FakePast([past_issue(3, body="Works for me.")]), [], id="shares-nothing"),
        pytest.param(
            FakePast([past_issue(number) for number in range(1, 7)]),
            [("#1", "duplicate", "open"), *((f"#{n}", "related", "open") for n in (2, 3, 4))],
            id="three-besides-at-the-most",
        ),
    ],
)
def test_earlier_issues_are_named_as_they_are_now(past: FakePast, expected: list[tuple[str, str, str]]) -> None:
    report = ran(past)
    assert named(report) == expected
    assert all(one.checked and one.why for one in report.related)


def test_what_was_compared_is_stated() -> None:
    assert "Compared with 5 earlier issues: 1 of them duplicates or similar." in ran(FakePast([past_issue(3)])).tried
    assert not any("earlier" in line for line in ran(None).tried)


def test_unreadable_earlier_issues_only_add_a_note() -> None:
    report = ran(FakePast([], unreadable=True))
    assert report.related == ()
    assert "Earlier issues could not be read: GitHub answered 502" in report.notes
    assert report.suspects


def test_a_closed_issue_with_the_same_crash_is_explained() -> None:
    (one,) = ran(FakePast([past_issue(3, state="closed")])).related
    assert "the same crash, LexError" in one.why
    assert "may be back" in one.why


def test_an_issue_that_was_closed_as_not_planned_is_not_back() -> None:
    (one,) = ran(FakePast([replace(past_issue(3, state="closed"), not_planned=True)])).related
    assert one.why.endswith("; it was closed as not planned")


@pytest.mark.parametrize("url", ["https://example.org/3", "https://example.org/show_bug.cgi?id=3"])
async def test_an_earlier_issue_may_be_of_any_tracker(url: str) -> None:
    assert await title_of(FakePast([replace(past_issue(3), url=url)]), url) == "scan hangs"


def test_only_the_nearest_issues_are_read() -> None:
    past = FakePast([past_issue(number) for number in range(1, 40)])
    ran(past)
    assert len(set(past.asked)) == 6


async def test_the_citation_engine_reads_an_issue_again() -> None:
    past = FakePast([past_issue(3)])
    cited = Evidence(kind="issue", locator=Locator(url=f"{BASE}/3"), quote="scan hangs")
    assert await still_matches(cited, FakeCode(), "", partial(title_of, past))
    assert not await still_matches(cited, FakeCode(), "scan hangs")
    past.changed[3] = past_issue(3, title="scan hangs no more")
    assert not await still_matches(cited, FakeCode(), "", partial(title_of, past))
    for url in (f"{BASE}/4", "https://evil.example/issues/3", "https://github.com", ""):
        forged = cited.model_copy(update={"locator": Locator(url=url)})
        assert not await still_matches(forged, FakeCode(), "scan hangs", partial(title_of, FakePast([past_issue(3)])))


def test_a_hostile_title_is_quoted_on_one_line_and_bounded() -> None:
    title = "x\n<img src=x onerror=alert(1)> @octocat " + "y" * 5_000
    (one,) = ran(FakePast([past_issue(3, title)])).related
    assert isinstance(one, RelatedIssue)
    assert "\n" not in one.title
    assert len(one.title) <= 300
