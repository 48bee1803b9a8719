"""Commands from a comment to rows in the store and effects on GitHub, without the run itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.github.app import GitHub
from bot.jobs import Commands
from bot.ports import Comment, IssueRef, Relation
from bot.report.document import Result
from bot.settings.repository import FoundConfig, read_config
from bot.store.databases.sqlite import SqliteStore
from bot.store.runs.issue_runs import Settlement
from bot.store.runs.outcomes import read_feedback
from bot.worker.commands.execute import execute
from bot.worker.commands.table import COMMANDS
from bot.worker.publish.target import Target
from nodes.report import Ticket
from nodes.state import HumanExchange, Metrics, TraceEntry, Usage
from tests.publish.clock import Clock
from tests.report.reports import FOUND, SHA
from tests.servers.github_server import LOST_ANSWER, Fault, GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID, INSTALLATION, Repo, person
from tests.support.patience import patience


class Stage:
    """An issue by rita; mia maintains, tom may triage, olaf is an outsider."""

    def __init__(self, server: GitHubServer, github: GitHub, store: SqliteStore) -> None:
        self.server, self.world, self.github, self.clock = server, server.world, github, Clock()
        self.repo: Repo = self.world.repository("octo/parser", labels={"bug", "needs info"})
        self.repo.permissions |= {"mia": "admin", "tom": "triage", "olaf": "pull"}
        self.world.open_issue(self.repo, author="rita")
        self.world.open_issue(self.repo, author="rita")
        self.ref = IssueRef("127.0.0.1", INSTALLATION, self.repo.id, "octo", "parser", 1)
        self.store = store.for_issue(self.ref)
        self.jobs, self.writes = store.jobs, store.writes
        self.writes._clock = self.store.effects._clock = self.clock.seconds  # type: ignore[method-assign]

    def target(self, found: FoundConfig) -> Target:
        mine, shared = self.store.effects, self.store.repository.effects
        client = self.github.for_repository
        return Target(self.ref, found, mine, shared, client, self._ours, self.clock, self._lacks)

    async def _lacks(self, error: Exception) -> None:
        """Accept a missing permission."""

    async def _ours(self) -> None:
        return None

    async def _may_answer(self) -> bool:
        return True

    async def say(self, body: str, who: str = "mia", config: str = "", comment: dict | None = None) -> dict:
        """Write a comment, or edit the one given by ``comment``, and run its commands."""
        before = None
        if comment is None:
            comment = self.world.comment(self.repo, 1, body, who)
        else:
            before = comment["body"]
            comment |= {"body": body, "updated_at": self.world.now()}
        await self.hear(comment, who, config, before)
        return comment

    async def hear(self, comment: dict, who: str, config: str = "", before: str | None = None) -> None:
        read = Comment(
            id=comment["id"],
            author_id=comment["user"]["id"],
            author=comment["user"]["login"],
            author_is_bot=False,
            body=comment["body"],
            url=comment["html_url"],
            created_at=comment["created_at"],
            updated_at=comment["updated_at"],
        )
        found = FoundConfig(read_config(config), config, "")
        work = Commands(
            ref=self.ref,
            comment=read,
            sender=who,
            sender_id=person(who)["id"],
            edited=before is not None,
            before=before,
        )
        await execute(work, self.store, self.target(found), self._may_answer)

    async def signals(self) -> list[tuple[str, str]]:
        return [(one.kind, one.text) for one in await self.store.signals.since(0)]

    async def queued(self) -> list[str]:
        """Remove and return the queued jobs."""
        found: list[str] = []
        while (job := await self.jobs.claim("run", "test")) is not None:
            found.append(job.work.kind)
            await self.jobs.settle(job)
        return found

    def marks(self, comment: dict) -> list[str]:
        return [content for _, number, content in self.world.reactions if number == comment["id"]]

    @property
    def said(self) -> list[str]:
        return self.world.ours(self.repo, 1)

    async def finish_a_run(self) -> None:
        await self.say("/triage")
        job = await self.jobs.claim("run", "test")
        assert job is not None
        run = await self.store.runs.begin(())
        await self.store.runs.pin(run.number, sha=SHA, brain="rules", config_hash="c0ffee", body_hash="")
        metrics = Metrics(
            confidence_history=(0.6, 0.78),
            claims_dropped=1,
            usage=Usage(calls=2, input_tokens=900, output_tokens=100),
        )
        trace = (TraceEntry(node="supervisor", decision="writer", guard="iteration_limit", reason="@all `x` | <b>"),)
        result = Result(report=FOUND.model_copy(update={"ticket": TICKET}), trace=trace, metrics=metrics)
        await self.store.runs.settle(run.number, Settlement("finished", result=result.model_dump_json()), job)


TICKET = Ticket(title="Lexer hangs", body="It hangs.", fields={"type": "bug"})
EXCHANGE = HumanExchange(question="Which version?", question_id="q-1")


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with serve_github() as running:
        yield running


@pytest.fixture
async def stage(server: GitHubServer, tmp_path: Path) -> AsyncIterator[Stage]:
    store = SqliteStore(tmp_path / "store.db")
    github = GitHub(
        app_id=str(APP_ID),
        private_key=private_key(),
        writes=store.writes,
        api_url=server.url,
        server_url=server.url,
        timeout=patience(10),
    )
    yield Stage(server, github, store)
    await github.aclose()
    await store.aclose()


async def test_again_queues_a_run_without_a_reply(stage) -> None:
    comment = await stage.say("Please.\n/triage")
    assert await stage.queued() == ["triage"]
    assert (stage.marks(comment), stage.said) == (["rocket"], [])


async def test_redirect_and_wrong_store_signals(stage) -> None:
    await stage.say("/triage redirect look at the parser")
    assert await stage.queued() == ["continue"]
    await stage.finish_a_run()
    await stage.say("/triage wrong the lexer is never reached")
    assert await stage.signals() == [
        ("redirect", "look at the parser"),
        ("correction", "the lexer is never reached"),
    ]
    assert await stage.queued() == ["triage"]


async def test_right_and_wrong_judge_the_last_report(stage) -> None:
    comment = await stage.say("/triage right")
    assert "This issue has no report yet." in stage.said[-1]
    await stage.finish_a_run()
    comment = await stage.say("/triage right")
    assert (stage.marks(comment), await stage.queued()) == (["rocket"], [])
    await stage.say("/triage wrong it is the reader", "tom")
    await stage.say("/triage right", "olaf")
    key = stage.ref.key
    judged = await stage.store._database.read(lambda db: read_feedback(db, key, 1))
    assert [(one.actor, one.judgement.right, one.judgement.why) for one in judged] == [
        ("mia", True, ""),
        ("tom", False, "it is the reader"),
    ]
    await stage.say("/triage right", "tom")
    judged = await stage.store._database.read(lambda db: read_feedback(db, key, 1))
    assert {one.actor: one.judgement.right for one in judged} == {"mia": True, "tom": True}


async def test_stop_mutes_and_resume_lifts_it(stage) -> None:
    await stage.say("/triage stop")
    assert (await stage.store.row.state()).muted
    assert await stage.signals() == [("stop", "")]
    assert await stage.queued() == []
    await stage.say("/triage resume")
    assert not (await stage.store.row.state()).muted
    assert await stage.queued() == ["triage"]


@pytest.mark.parametrize("command", ["redirect look there", "wrong it is not", "answer 2.4.1"])
async def test_a_command_on_a_stopped_issue_is_answered_with_the_reason(stage, command) -> None:
    await stage.say("/triage stop")
    comment = await stage.say(f"/triage {command}")
    assert stage.marks(comment) == ["confused"]
    assert "`/triage resume` continues it" in stage.said[-1]
    assert await stage.signals() == [("stop", "")]


async def test_answer_needs_an_open_question(stage) -> None:
    comment = await stage.say("/triage answer 2.4.1", "rita")
    assert stage.marks(comment) == ["confused"]
    assert "No question is open" in stage.said[-1]
    await stage.store.questions.ask(EXCHANGE)
    await stage.say("/triage answer 2.4.1", "rita")
    assert await stage.signals() == [("answer", "2.4.1")]


async def test_duplicates_are_named_and_denied(stage) -> None:
    await stage.say("/triage duplicate #2\n/triage not-duplicate 7")
    assert (await stage.store.report_inputs()).relations == (Relation(2, duplicate=True), Relation(7, duplicate=False))
    assert "closed" not in {stage.repo.issues[1]["state"]}


async def test_labels_are_added_and_removed(stage) -> None:
    await stage.say("/triage label Bug, `needs info`")
    assert [label["name"] for label in stage.repo.issues[1]["labels"]] == ["bug", "needs info"]
    await stage.say("/triage unlabel bug")
    assert [label["name"] for label in stage.repo.issues[1]["labels"]] == ["needs info"]
    assert (await stage.store.report_inputs()).touched == {"bug": False, "needs info": True}


async def test_status_describes_the_current_state(stage) -> None:
    await stage.say("/triage status")
    assert "No run yet." in stage.said[-1]
    await stage.finish_a_run()
    await stage.store.questions.ask(EXCHANGE)
    await stage.say("/triage status")
    assert f"Run 1 is **finished**, on commit `{SHA[:12]}`, by `rules`." in stage.said[-1]
    assert "**Q1**: Which version?" in stage.said[-1]
    assert "Limits reached" not in stage.said[-1]
    await stage.store.repository.limited.note("repository.tokens")
    await stage.say("/triage status")
    assert "Limits reached: model tokens for this repository today." in stage.said[-1]


async def test_why_shows_path_dropped_claims_cost_and_a_ticket(stage) -> None:
    await stage.say("/triage why")
    assert "No run of this issue has finished" in stage.said[-1]
    await stage.finish_a_run()
    await stage.say("/triage why")
    said = stage.said[-1]
    for part in (
        "60% → 78%",
        "2 model calls, 1000 tokens",
        "`c0ffee`",
        "iteration\\_limit",
        "It is bad",
        "Lexer hangs",
    ):
        assert part in said.replace("`iteration_limit`", "iteration\\_limit"), part
    assert "@all" not in said
    assert "<b>" not in said


async def test_help_lists_every_command_with_its_permission(stage) -> None:
    await stage.say("/triage help", config="commands: {stop: maintainer, why: nobody}\n")
    for kind in COMMANDS.values():
        assert f"`/triage {kind.usage}".rstrip() in stage.said[-1]
    assert (
        "| `/triage stop` | Stop triage of this issue: a run in progress writes nothing "
        "more, and no run starts. | maintainers |" in (stage.said[-1])
    )
    assert "no one in this repository" in stage.said[-1]


BY_AUTHOR = {"triage", "help", "status", "why", "answer", "stop"}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("who", ["mia", "tom", "rita", "olaf"])
async def test_who_may_give_it(stage, name, who) -> None:
    argument = {"duplicate": "#2", "not-duplicate": "#2", "label": "bug", "unlabel": "bug"}.get(name, "some text")
    comment = await stage.say(f"/triage {name} {argument}" if name != "triage" else "/triage", who)
    allowed = who in ("mia", "tom") or (who == "rita" and name in BY_AUTHOR)
    if allowed:
        assert "rocket" in stage.marks(comment) or stage.said
    else:
        assert stage.marks(comment) == ["confused"]
        assert stage.said == []
        assert await stage.signals() == []
        assert await stage.queued() == []


async def test_the_author_is_not_asked_for_a_permission(stage) -> None:
    await stage.say("/triage stop", "rita")
    assert stage.server.asked("GET", "/permission") == []


async def test_a_configuration_can_only_restrict_who_may_run_a_command(stage) -> None:
    comment = await stage.say("/triage stop", "rita", "commands: {stop: maintainer}\n")
    assert stage.marks(comment) == ["confused"]
    comment = await stage.say("/triage redirect x", "rita", "commands: {redirect: author}\n")
    assert stage.marks(comment) == ["confused"]
    comment = await stage.say("/triage redirect x", "mia", "commands: {redirect: nobody}\n")
    assert stage.marks(comment) == ["confused"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("/triage staus", "There is no command `staus`. Did you mean `/triage status`?"),
        ("/triage please help", "There is no command `please`."),
        ("/triage redirect", "Say where to look"),
        ("/triage wrong", "Say what is wrong"),
        ("/triage wrong it is", "no report"),
        ("/triage resume", "is not stopped"),
        ("/triage duplicate", "Name one issue"),
        ("/triage duplicate octo/other#2", "Name one issue"),
        ("/triage duplicate #1", "this issue itself"),
        ("/triage duplicate #99", "no issue `#99`"),
        ("/triage label", "Name labels"),
        ("/triage label bgu", "There is no label `bgu` here. Did you mean `bug`?"),
        ("/triage @all`<b>", "There is no command"),
    ],
)
async def test_an_invalid_command_is_reported_once_and_has_no_effect(stage, text, says) -> None:
    comment = await stage.say(text)
    assert stage.marks(comment) == ["confused"]
    assert len(stage.said) == 1
    assert says in stage.said[0]
    assert await stage.signals() == []
    assert "@all" not in stage.said[0].replace("`@all", "")
    await stage.hear(comment, "mia")
    assert len(stage.said) == 1


async def test_an_outsiders_typo_is_not_answered(stage) -> None:
    comment = await stage.say("/triage staus", "olaf")
    assert (stage.marks(comment), stage.said) == (["confused"], [])


async def test_an_edit_runs_only_what_is_new(stage) -> None:
    comment = await stage.say("/triage redirect one")
    await stage.say("Fixed a typo.\n/triage redirect  one\n/triage redirect two", comment=comment)
    await stage.say("/triage redirect two", comment=comment)
    assert await stage.signals() == [("redirect", "one"), ("redirect", "two")]


async def test_a_command_of_an_early_edit_is_not_run_again_by_the_original(stage) -> None:
    comment = stage.world.comment(stage.repo, 1, "/triage redirect one", "mia")
    original = dict(comment)
    await stage.say("/triage redirect one\n/triage redirect two", comment=comment)
    await stage.hear(original, "mia")
    await stage.hear(original, "mia")
    assert sorted(await stage.signals()) == [("redirect", "one"), ("redirect", "two")]


async def test_a_repeated_command_is_run_once(stage) -> None:
    comment = await stage.say("/triage redirect one\n/triage redirect  one")
    assert len(await stage.signals()) == 1
    await stage.hear(comment, "mia")
    assert len(await stage.signals()) == 1


async def test_stop_resume_stop_are_three_commands(stage) -> None:
    await stage.say("/triage stop\n/triage resume\n/triage stop")
    assert (await stage.store.row.state()).muted


async def test_all_commands_of_a_comment_are_answered_in_one_reply(stage) -> None:
    comment = await stage.say("/triage status\n/triage bogus\n/triage status\n/triage help\n/triage wrong")
    (said,) = stage.said
    assert said.startswith(f"<!-- triage:reply to={comment['id']} -->\n")
    parts = ["**`/triage status`**", "No run yet.", "**`/triage bogus`**", "There is no command", "**`/triage help`**"]
    assert [said.count(part) for part in parts] == [1] * 5
    assert sorted(parts, key=said.index) == parts


async def test_an_edited_comment_keeps_its_one_reply(stage) -> None:
    comment = await stage.say("/triage status")
    await stage.say("/triage status\n/triage wrong", comment=comment)
    assert len(stage.said) == 1
    assert "No run yet." in stage.said[0]
    assert "Say what is wrong" in stage.said[0]


async def test_a_crash_between_two_commands_loses_no_answer(stage, monkeypatch) -> None:
    applied: list[Any] = []
    control = type(stage.store.control)

    async def cut(self, comment, ordinal, canonical, effects) -> None:
        if canonical == "wrong" and not applied:
            applied.append(canonical)
            raise RuntimeError("killed")
        await whole(self, comment, ordinal, canonical, effects)

    whole = control.apply
    monkeypatch.setattr(control, "apply", cut)
    comment = stage.world.comment(stage.repo, 1, "/triage status\n/triage wrong", "mia")
    with pytest.raises(RuntimeError):
        await stage.hear(comment, "mia")
    await stage.hear(comment, "mia")
    assert len(stage.said) == 1
    assert "No run yet." in stage.said[0]
    assert "Say what is wrong" in stage.said[0]


async def test_an_invalid_answer_is_reported(stage, monkeypatch) -> None:
    monkeypatch.setattr("bot.worker.publish.replies._MAX_REPLY", 200)
    await stage.say("/triage status\n/triage help")
    assert "No run yet." in stage.said[0]
    assert "does not fit here" in stage.said[0]


async def test_commands_run_while_replies_wait(stage) -> None:
    for _ in range(240):
        stage.clock.time += timedelta(seconds=2)
        await stage.writes.take(f"127.0.0.1/installation:{INSTALLATION}")
    comment = await stage.say("/triage status\n/triage stop\n/triage label bug")
    assert (stage.said, stage.marks(comment)) == ([], [])
    assert (await stage.store.row.state()).muted
    stage.clock.time += timedelta(hours=1)
    await stage.hear(comment, "mia")
    assert len(stage.said) == 1
    assert stage.marks(comment) == ["rocket"]
    assert [label["name"] for label in stage.repo.issues[1]["labels"]] == ["bug"]


async def test_a_deleted_reply_blocks_no_command(stage) -> None:
    comment = await stage.say("/triage status")
    stage.world.comments = {number: one for number, one in stage.world.comments.items() if number == comment["id"]}
    await stage.say("/triage status\n/triage wrong", comment=comment)
    later = await stage.say("/triage status")
    assert "rocket" in stage.marks(later)
    assert len(stage.said) == 1


async def test_a_reply_whose_response_was_lost_is_not_repeated(stage) -> None:
    stage.server.fail("POST", "/issues/1/comments", LOST_ANSWER)
    comment = stage.world.comment(stage.repo, 1, "/triage status", "mia")
    with pytest.raises(Exception, match="502"):
        await stage.hear(comment, "mia")
    await stage.hear(comment, "mia")
    assert len(stage.said) == 1
    assert stage.marks(comment) == ["rocket"]


async def test_a_reply_in_a_locked_thread_is_refused_quietly(stage) -> None:
    stage.server.fail("POST", "/issues/1/comments", Fault(status=403, message="issue is locked"))
    comment = await stage.say("/triage status")
    assert stage.said == []
    await stage.hear(comment, "mia")
    assert stage.said == []
    assert stage.marks(comment) == ["confused"]


async def test_a_maintainers_edit_does_not_run_a_strangers_hidden_command(stage) -> None:
    comment = await stage.say("It fails.\n<!--\n/triage redirect look at evil\n-->", "olaf")
    await stage.say("It fails.\n\n/triage redirect look at evil\n", "mia", comment=comment)
    assert (await stage.signals(), stage.marks(comment), stage.said) == ([], [], [])
    await stage.say("It fails.\n\n/triage redirect look at the lexer\n", "mia", comment=comment)
    assert await stage.signals() == [("redirect", "look at the lexer")]


async def test_a_maintainers_edit_does_not_run_a_strangers_refused_command(stage) -> None:
    comment = await stage.say("/triage redirect look at evil", "olaf")
    assert stage.marks(comment) == ["confused"]
    await stage.say("Hello.\n\n/triage redirect look at evil", "mia", comment=comment)
    assert await stage.signals() == []


STARTERS = ("", "redirect x", "wrong it is not", "duplicate #2", "not-duplicate #2", "answer 2.4.1")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param({"state": "closed"}, "This issue is closed. Reopen it first.", id="closed"),
        pytest.param({"locked": True}, "Unlock it first.", id="locked"),
        pytest.param({"user": person("ci[bot]", "Bot")}, "Name the bot under `bots`", id="a-bots"),
        pytest.param({"labels": [{"name": "triage: skip"}]}, "Remove the label first.", id="opt-out"),
    ],
)
async def test_no_run_is_announced_that_would_do_nothing(stage, change, says) -> None:
    await stage.finish_a_run()
    await stage.store.questions.ask(EXCHANGE)
    await stage.queued()
    before = await stage.signals()
    stage.repo.issues[1] |= change
    locked = "locked" in change  # GitHub refuses the reply
    for command in STARTERS:
        comment = await stage.say(f"/triage {command}".rstrip())
        assert stage.marks(comment) == ["confused"], command
        assert locked or says in stage.said[-1], command
    assert await stage.queued() == []
    assert await stage.signals() == before


async def test_a_command_without_effect_is_not_repeated(stage) -> None:
    await stage.say("/triage label bug")
    for text, says in (
        ("/triage label bug", "has these labels already"),
        ("/triage unlabel needs info", "no such label"),
    ):
        comment = await stage.say(text)
        assert stage.marks(comment) == ["confused"]
        assert says in stage.said[-1]
    await stage.say("/triage stop")
    comment = await stage.say("/triage stop")
    assert stage.marks(comment) == ["confused"]
    assert "Triage is already stopped for this issue." in stage.said[-1]


async def test_labels_that_github_refuses_are_reported_as_failed(stage) -> None:
    stage.server.fail("POST", "/labels", Fault(status=403, message="archived"))
    comment = await stage.say("/triage label bug")
    assert stage.marks(comment) == ["confused"]


@pytest.mark.parametrize(("mode", "labels"), [("dry-run", []), ("label", ["bug"])])
async def test_in_a_silent_mode_no_reply_is_posted(stage, mode, labels) -> None:
    comment = await stage.say("/triage status\n/triage label bug", config=f"mode: {mode}\n")
    assert (stage.said, stage.marks(comment)) == ([], [])
    assert [label["name"] for label in stage.repo.issues[1]["labels"]] == labels


async def test_disabled_triage_disables_commands(stage) -> None:
    await stage.say("/triage", config="enabled: false\n")
    assert await stage.queued() == []
