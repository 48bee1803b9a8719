"""Suspect changes and owners in a report: re-read, and never claimed without a range."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodes.context.ports import Context
from nodes.judgements import Draft, DraftSuspect
from nodes.report import TriageReport
from nodes.run import advance
from nodes.search.git.errors import GitFailed
from nodes.search.history.types import Basis, Commit, History, Owner, SuspectCommit, Suspicion
from nodes.search.issue.fingerprint import Fingerprint
from nodes.search.types import Reason
from nodes.state import BugTriageState, Finished
from tests.graph.test_run import PLAIN, START, graph
from tests.support.fakes import FakeCode, FakeEvidence, ScriptedBrain, context

GUILTY, FORGED = "b" * 40, "d" * 40


def change(sha: str = GUILTY, basis: Basis = "versions", subject: str = "Speed up the lexer") -> SuspectCommit:
    commit = Commit(sha, "Bob", 1_706_788_800, subject)
    reasons = (
        Reason("lines", "touches L2 of `scan`", 0.9),
        Reason("range", "in the range given, 2.3.2 → 2.4.1", 0.5),
        Reason("words", "its message shares “lexer”", 0.1),
    )
    return SuspectCommit(commit, 1.5, basis, reasons, ("L2 of `scan`",))


OWNERS = (Owner("@octo/lexers", 2.0, (Reason("codeowners", "CODEOWNERS assigns `/src/`", 2.0),)),)
SUSPECTED = History(
    Suspicion((change(), change(FORGED)), span="2.3.2 → 2.4.1", commits=7),
    OWNERS,
    (Fingerprint("0123456789abcdef", "frames", "KeyError", ("a:b", "c:d")),),
)
ONLY_RECENT = History(
    Suspicion(recent=(change(basis="recent"),), doubt="no_version", explanation="it names no version")
)


def ran(code: FakeCode, draft: Draft | None = None) -> tuple[BugTriageState, TriageReport, Context]:
    ctx = context(ScriptedBrain(list(PLAIN), draft=draft), code=code)

    async def finish() -> BugTriageState:
        outcome = await advance(graph(), ctx, "t", START)
        assert isinstance(outcome, Finished)
        return outcome.state

    state = asyncio.run(finish())
    assert state.report is not None
    return state, state.report, ctx


def code_with(past: History) -> FakeCode:
    return FakeCode(past=past, subjects={GUILTY: "Speed up the lexer", FORGED: "Something else"})


def test_a_suspect_change_is_shown_with_its_bound_and_was_re_read() -> None:
    _, report, _ = ran(code_with(SUSPECTED))
    assert [found.sha for found in report.suspect_changes] == [GUILTY]
    found = report.suspect_changes[0]
    assert (found.title, found.author, found.day) == ("Speed up the lexer", "Bob", "2024-02-01")
    assert found.within == "in the range given, 2.3.2 → 2.4.1"
    assert found.why == "touches L2 of `scan`; its message shares “lexer”"
    assert (found.checked, found.touches_place, report.no_suspect_change) == (True, True, "")


def test_a_commit_is_evidence_under_the_number_that_the_report_gives_it() -> None:
    state, report, ctx = ran(code_with(SUSPECTED))
    key = state.evidence[int(report.suspect_changes[0].evidence.removeprefix("E")) - 1]
    assert isinstance(ctx.evidence, FakeEvidence)
    kept = ctx.evidence.kept[key]
    assert (kept.kind, kept.locator.sha, kept.quote) == ("commit", GUILTY, "Speed up the lexer")
    assert str(kept.locator) == f"commit {GUILTY[:12]}"


def test_a_commit_that_differs_from_its_evidence_is_left_out() -> None:
    _, report, _ = ran(code_with(SUSPECTED))
    assert FORGED not in report.model_dump_json()


def test_the_owner_comes_with_a_reason_and_the_crash_with_its_name() -> None:
    _, report, _ = ran(code_with(SUSPECTED))
    assert (report.owner, report.owner_reason) == ("@octo/lexers", "CODEOWNERS assigns `/src/`")
    assert report.fingerprints == ("0123456789abcdef",)


def test_a_reason_that_does_not_fit_is_left_out_as_a_whole() -> None:
    long = (f"changed `{name * 120}`" for name in "abc")
    owner = Owner("Ann", 2.0, tuple(Reason("late", text, 1.0) for text in long))
    _, report, _ = ran(code_with(History(Suspicion(), (owner,))))
    assert report.owner_reason == f"changed `{'a' * 120}`; changed `{'b' * 120}`"
    longer = Owner("Ann", 2.0, (owner.reasons[0], Reason("late", f"changed `{'d' * 250}`", 1.0)))
    _, report, _ = ran(code_with(History(Suspicion(), (longer,))))
    assert report.owner_reason == f"changed `{'a' * 120}`"


def test_without_a_bound_no_change_is_suspected_and_the_report_says_why() -> None:
    _, report, _ = ran(code_with(ONLY_RECENT))
    assert report.suspect_changes == ()
    assert [found.basis for found in report.recent_changes] == ["recent"]
    assert report.no_suspect_change == "it names no version"


def test_history_is_read_for_the_places_of_the_report() -> None:
    code = code_with(SUSPECTED)
    _, report, _ = ran(code)
    assert [(spot.path, spot.focus) for spot in code.spots] == [
        (suspect.path, (suspect.quote_start, suspect.quote_end)) for suspect in report.suspects
    ]


@pytest.mark.parametrize("kind", ["feature", "question", "security"])
def test_only_a_bug_has_suspect_changes(kind: Any) -> None:
    code = code_with(SUSPECTED)
    draft = Draft(
        verdict="v", root_cause="", suspects=(DraftSuspect(evidence="E1", why="x"),), kind=kind, confidence=0.9
    )
    _, report, _ = ran(code, draft=draft)
    assert (report.suspect_changes, report.owner, code.spots) == ((), None, [])


def test_an_unreadable_history_only_omits_the_history() -> None:
    class Broken(FakeCode):
        async def history(self, query: Any, spots: Any) -> History:
            raise GitFailed("git is not installed, or not on the PATH")

    _, report, _ = ran(Broken())
    assert report.root_cause is not None
    assert any("history could not be read: git is not installed" in note for note in report.notes)
