"""Reports and their outcomes."""

from __future__ import annotations

import time

import pytest

from bot.jobs import Triage
from bot.ports import IssueRef, RepositoryRef
from bot.store.jobs.deliveries import Arrival
from bot.store.runs.issue_runs import Settlement
from bot.store.runs.outcomes import LOOKS, IssueOutcome, Outcomes, Reported, Verdict
from bot.store.tables import Store

PARSER = RepositoryRef("github.com", 7, 9, "octo", "parser")
OTHER = RepositoryRef("github.com", 7, 91, "octo", "other")
NAMED = Reported(claimed=True, confidence=0.9, named=("a.py", "b.py"))
NOTHING = Reported(claimed=False, confidence=0.0, named=())


@pytest.fixture
async def store(store: Store) -> Store:
    await store.installations.add([PARSER, OTHER])
    return store


def ref(number: int, repository: RepositoryRef = PARSER) -> IssueRef:
    return IssueRef(repository.host, 7, repository.id, repository.owner, repository.name, number)


async def report(store: Store, issue: IssueRef, reported: Reported = NAMED, sha: str = "c" * 40) -> None:
    """Store a run that ends with a report."""
    mine = store.for_issue(issue)
    await store.inbox.accept(Arrival(f"{issue.key}:{time.time()}", "issues", b"", (Triage(ref=issue, why="command"),)))
    job = await store.jobs.claim("run", "me")
    assert job is not None
    run = await mine.runs.begin(())
    await mine.runs.pin(run.number, sha=sha, brain="rules", config_hash="", body_hash="")
    await mine.runs.settle(run.number, Settlement("finished", reported=reported), job)


async def test_a_report_waits_for_its_fix_until_it_is_scored(store: Store) -> None:
    mine = store.for_issue(ref(1))
    assert await mine.outcome.get() is None
    await report(store, ref(1))
    kept = await mine.outcome.get()
    assert kept is not None
    assert (kept.state, kept.sha, kept.reported, kept.verdict) == ("open", "c" * 40, NAMED, None)
    assert await store.outcomes.due() == []
    await mine.row.end("closed")
    assert [(due.ref, due.looks) for due in await store.outcomes.due()] == [(ref(1), 0)]
    await mine.outcome.keep(Verdict("scored", 2, "f" * 40))
    assert await store.outcomes.due() == []
    scored = await mine.outcome.get()
    assert scored is not None
    assert scored.verdict == Verdict("scored", 2, "f" * 40)


async def test_an_unknown_fix_is_searched_again_a_few_times(store: Store) -> None:
    await report(store, ref(1))
    await store.for_issue(ref(1)).row.end("closed")
    now = [1_000_000.0]
    database = store._database
    database.clock = lambda: now[0]  # type: ignore[method-assign]
    outcome, outcomes = IssueOutcome(database, ref(1).key), Outcomes(database)
    for looks, wait in enumerate(LOOKS, 1):
        await outcome.keep(Verdict("unknown", why="no commit"))
        assert await outcomes.due() == []
        now[0] += wait
        assert [due.looks for due in await outcomes.due()] == [looks]
    await outcome.keep(Verdict("unknown", why="no commit"))
    now[0] += 1e9
    assert await outcomes.due() == []


async def test_open_issues_and_issues_of_removed_repositories_are_not_scored(store: Store) -> None:
    for issue in (ref(1), ref(2, OTHER)):
        await report(store, issue)
        await store.for_issue(issue).row.end("closed")
    await store.for_issue(ref(1)).row.end(None)
    await store.installations.remove([OTHER.key])
    assert await store.outcomes.due() == []


async def test_repositories_are_counted_separately(store: Store) -> None:
    verdicts = [Verdict("scored", 1), Verdict("scored", 3), Verdict("scored", 0), Verdict("unknown", why="x"), None]
    for number, verdict in enumerate(verdicts, 1):
        await report(store, ref(number), NAMED if number < 4 else NOTHING)
        if verdict:
            await store.for_issue(ref(number)).outcome.keep(verdict)
    await report(store, ref(1, OTHER))
    other, parser = await store.outcomes.tallies()
    assert (other.repository, other.reports, other.scored, other.unknown) == ("octo/other", 1, 0, 0)
    assert (parser.repository, parser.reports, parser.claims) == ("octo/parser", 5, 3)
    assert (parser.scored, parser.first, parser.among_three, parser.unknown) == (3, 1, 2, 1)
    assert (parser.scored_claims, parser.right_claims) == (3, 1)
    assert (await store.for_repository(PARSER).outcomes.standing()).scored == [(0.9, True), (0.9, False), (0.9, False)]
    assert (await store.for_repository(OTHER).outcomes.standing()).scored == []


async def test_a_later_report_replaces_an_earlier_one(store: Store) -> None:
    await report(store, ref(1))
    await store.for_issue(ref(1)).outcome.keep(Verdict("scored", 1, "f" * 40))
    await report(store, ref(1), NOTHING, sha="d" * 40)
    kept = await store.for_issue(ref(1)).outcome.get()
    assert kept is not None
    assert (kept.run, kept.state, kept.sha, kept.reported.named, kept.looks) == (2, "open", "d" * 40, (), 0)


async def test_a_report_moves_with_its_issue(store: Store) -> None:
    await report(store, ref(1))
    moved = store.for_issue(ref(5, OTHER))
    assert await moved.row.adopt(ref(1).key)
    assert await moved.outcome.get() is not None
    assert [(tally.repository, tally.reports) for tally in await store.outcomes.tallies()] == [("octo/other", 1)]
