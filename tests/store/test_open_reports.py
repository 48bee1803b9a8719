"""The reports and questions of open issues."""

from __future__ import annotations

from bot.jobs import Triage
from bot.ports import IssueRef, OpenReports, UnansweredQuestion
from bot.report.document import Result
from bot.store.jobs.deliveries import Arrival
from bot.store.runs.issue_runs import Ending
from bot.store.tables import Store
from nodes.report import TriageReport
from nodes.state import HumanExchange


def ref(number: int, repository: int = 9) -> IssueRef:
    return IssueRef("github.com", 7, repository, "octo", f"parser{repository}", number)


async def triaged(store: Store, issue: IssueRef, verdict: str | None, kind: str = "bug") -> None:
    """Store a run with a report; without a verdict it waits for an answer."""
    mine = store.for_issue(issue)
    again = await mine.runs.last()
    guid = f"{issue.key}:{again.number if again else 0}"
    await store.inbox.accept(Arrival(guid, "issues", b"", (Triage(ref=issue, why="command"),)))
    job = await store.jobs.claim("run", "me")
    assert job is not None
    run = await mine.runs.open()
    await mine.runs.pin(run.number, sha="", brain="rules", config_hash="", body_hash="", title=f"Issue {issue.number}")
    if verdict is None:
        await mine.repository.questions.ask(issue.key, HumanExchange(question_id=guid, question="Which?", reason=""))
        await mine.runs.settle(run.number, "waiting", job)
        return
    result = Result(report=TriageReport.model_validate({"verdict": verdict, "kind": kind})).model_dump_json()
    await mine.runs.settle(
        run.number, "finished", job, result=result, ending=Ending(kind, claimed=True, confidence=0.5)
    )


async def read(store: Store, since: float = 0.0) -> OpenReports:
    return await store.for_repository(ref(1).repository).open_issues.read(since)


async def test_newest_reports_of_open_issues_are_read(store: Store) -> None:
    await store.installations.add([ref(1).repository, ref(1, 91).repository])
    await triaged(store, ref(1), "old")
    await triaged(store, ref(1), "new")
    await triaged(store, ref(2), None)
    await triaged(store, ref(3), "closed")
    await store.for_issue(ref(3)).row.end("closed")
    await triaged(store, ref(4), "stopped")
    await store.for_issue(ref(4)).row.mute(muted=True)
    await triaged(store, ref(5), "secret", "security")
    await triaged(store, ref(6), "reopened")
    await store.for_issue(ref(6)).row.end("closed")
    await store.for_issue(ref(6)).row.end(None)
    await triaged(store, ref(1, 91), "of another repository")
    found = await read(store)
    assert {one.number: one.report.verdict for one in found.reports} == {1: "new", 6: "reopened"}
    assert (found.all, found.closed) == (2, 1)
    assert found.questions == (UnansweredQuestion(2, "Issue 2", "Which?", 0, expired=False),)
    assert (await read(store, store.clock() + 1)).closed == 0
    questions = store.for_repository(ref(2).repository).questions
    await questions.settle(ref(2).key, f"{ref(2).key}:0", "expired")
    assert [one.expired for one in (await read(store)).questions] == [True]
