"""An issue's stored data: effects, questions, signals and runs, separated by repository."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.errors import JobTakenOverError
from bot.jobs import Continue, Job, Triage
from bot.ports import CommandEffects, Comment, IssueRef, NewSignal, Relation
from bot.store.databases.database import ForeignKeyError
from bot.store.issues.people import NoSlotError
from bot.store.jobs.deliveries import Arrival
from bot.store.runs.issue_runs import Settlement
from bot.store.runs.run_events import MAX_EVENTS
from bot.store.tables import IssueStore, Store
from nodes.evidence import Evidence
from nodes.state import HumanExchange

REF = IssueRef("github.com", 7, 9, "octo", "parser", 4)
OTHER = IssueRef("github.com", 7, 91, "octo", "other", 4)


@pytest.fixture
def issue(store: Store) -> IssueStore:
    return store.for_issue(REF)


async def claimed(store: Store, guid: str = "g") -> Job:
    await store.inbox.accept(Arrival(guid, "issues", b"{}", (Triage(ref=REF, why="opened"),)))
    job = await store.jobs.claim("run", "me")
    assert job is not None
    return job


def comment(at: str = "2024-01-01T00:00:00Z") -> Comment:
    return Comment(5, 1, "rita", author_is_bot=False, body="/triage", url="https://x/5", created_at=at, updated_at=at)


async def test_an_effect_is_pending_until_its_wanted_state_is_done(issue: IssueStore) -> None:
    effects = issue.effects
    assert await effects.get("sticky") is None
    wanted = await effects.set_wanted("sticky", "", "h1", "text")
    assert (wanted.done_hash, wanted.intent_at, wanted.github_id) == (None, None, None)
    await effects.record_intent("sticky", "")
    begun = await effects.get("sticky")
    assert begun is not None
    assert begun.intent_at is not None
    assert abs((datetime.now(UTC) - begun.intent_at).total_seconds()) < 60
    await effects.record_done("sticky", "", "h1", 123)
    assert await effects.pending() == []
    again = await effects.set_wanted("sticky", "", "h2", "other text")
    assert (again.done_hash, again.github_id, again.intent_at) == ("h1", 123, None)
    assert [effect.wanted_hash for effect in await effects.pending()] == ["h2"]


def test_one_repository_cannot_reach_into_another(store: Store) -> None:
    mine = store.for_repository(REF.repository)
    with pytest.raises(ForeignKeyError):
        mine.issue(OTHER)


async def test_a_question_is_asked_and_settled_once_and_at_most_two_exist(issue: IssueStore) -> None:
    questions = issue.questions
    first = await questions.ask(HumanExchange(question="Which version?", question_id="q1", options=("1", "2")))
    assert (first.slot, first.text, first.state, first.options) == (1, "Which version?", "open", ("1", "2"))
    assert await questions.ask(HumanExchange(question="Which version?", question_id="q1")) == first
    await questions.settle("q1", "answered", answer="2.4", answered_by="rita", answer_url="https://x/5")
    await questions.settle("q1", "withdrawn")
    (settled,) = await questions.all()
    assert (settled.state, settled.answer) == ("answered", "2.4")
    await questions.ask(HumanExchange(question="How?", question_id="q2"))
    with pytest.raises(NoSlotError):
        await questions.ask(HumanExchange(question="Why?", question_id="q3"))
    assert [exchange.answer for exchange in await questions.exchanges()] == ["2.4"]


async def test_applying_a_command_is_idempotent(store: Store, issue: IssueStore) -> None:
    effects = CommandEffects(
        signals=(NewSignal("redirect", "look at the parser"),), start=True, relations=(Relation(3, duplicate=True),)
    )
    for _ in range(3):
        await issue.control.apply(comment(), 0, "redirect look at the parser", effects)
    assert [one.text for one in await issue.signals.unread(0)] == ["look at the parser"]
    assert await issue.control.commands_run(5) == ("redirect look at the parser",)
    assert (await issue.report_inputs()).relations == (Relation(3, duplicate=True),)
    job = await store.jobs.claim("run", "me")
    assert job is not None
    assert job.work == Continue(ref=REF, asked_in=5, actor="rita")
    await store.jobs.settle(job)
    assert await store.jobs.claim("run", "me") is None


async def test_stop_mutes_and_resume_lifts_it(issue: IssueStore) -> None:
    await issue.control.apply(comment(), 0, "stop", CommandEffects(signals=(NewSignal("stop"),), muted=True))
    assert (await issue.row.state()).muted
    await issue.control.apply(comment("2024-01-01T00:01:00Z"), 0, "resume", CommandEffects(muted=False))
    assert not (await issue.row.state()).muted


async def test_a_run_retains_its_first_commit(issue: IssueStore) -> None:
    run = await issue.runs.begin(())
    for sha in ("a" * 40, "b" * 40):
        await issue.runs.pin(run.number, sha=sha, brain="rules", config_hash="c", body_hash="t")
    assert (await issue.runs.begin(())).sha == "a" * 40
    following = await issue.runs.give_up(run.number)
    assert (following.number, following.sha) == (2, "")


async def test_a_redirect_that_is_too_late_for_a_run_starts_another(store: Store, issue: IssueStore) -> None:
    job, run = await claimed(store), await issue.runs.begin(())
    await issue.control.apply(
        comment(), 0, "redirect x", CommandEffects(signals=(NewSignal("redirect", "x"),), start=False)
    )
    await issue.runs.settle(run.number, Settlement("finished", result="{}", unread=True), job)
    following = await store.jobs.claim("run", "me")
    assert following is not None
    assert following.work == Continue(ref=REF)


async def test_a_run_is_not_settled_by_an_attempt_that_lost_its_job(store: Store, issue: IssueStore) -> None:
    job, run = await claimed(store), await issue.runs.begin(())
    await store.jobs.recover(blame=False)
    with pytest.raises(JobTakenOverError):
        await issue.runs.settle(run.number, Settlement("finished"), job)
    last = await issue.runs.last()
    assert last is not None
    assert last.status == "running"


async def test_a_moved_issue_retains_its_conversation(store: Store, issue: IssueStore) -> None:
    await issue.runs.begin(())
    await issue.control.apply(comment(), 0, "stop", CommandEffects(signals=(NewSignal("redirect", "x"),), muted=True))
    await issue.questions.ask(HumanExchange(question="?", question_id="q1"))
    beside = store.for_issue(replace(REF, number=41))
    gathered = Evidence(kind="issue", quote="it fails")
    for one in (issue, beside):
        await one.events(1).add("{}")
        await one.evidence(1).put([gathered])
    moved = store.for_issue(OTHER)
    assert await moved.row.adopt(REF.key)
    assert not await moved.row.adopt(REF.key)
    assert (await moved.row.state()).muted
    assert len(await moved.signals.unread(0)) == 1
    assert len(await moved.questions.all()) == 1
    for one in (moved, beside):
        assert await one.events(1).all() == ["{}"]
        assert list(await one.evidence(1).get([gathered.key])) == [gathered.key]
    assert await issue.events(1).all() == []
    run = await moved.runs.begin(())
    assert run.number == 2


async def test_installations_and_their_repositories(store: Store) -> None:
    known = store.installations
    await known.note("github.com", 7, "octo", "active")
    await known.add([REF.repository, OTHER.repository])
    assert sorted(await known.of("github.com", 7)) == ["github.com/9", "github.com/91"]
    await known.note("github.com", 7, "", "suspended")
    await known.remove(["github.com/91"])
    here, gone = await known.repository("github.com/9"), await known.repository("github.com/91")
    assert here is not None
    assert gone is not None
    assert (here.installation, here.gone, gone.gone) == ("suspended", False, True)
    config = store.for_repository(REF.repository).config
    await config.keep("mode: label")
    assert await config.last_valid() == "mode: label"


async def test_events_of_a_run_are_in_order(issue: IssueStore) -> None:
    events = issue.events(1)
    await events.add("{}", '{"node": "writer"}')
    await events.add('{"node": "critic"}')
    assert await events.all() == ["{}", '{"node": "writer"}', '{"node": "critic"}']


async def test_the_number_of_events_of_a_run_is_limited(issue: IssueStore) -> None:
    events = issue.events(1)
    await events.add(*(f"{n}" for n in range(MAX_EVENTS - 1)))
    await events.add("last", "one too many")
    assert (await events.all())[MAX_EVENTS - 2 :] == [f"{MAX_EVENTS - 2}", "last"]
