"""What is posted, how often, and the handling of GitHub's failures in between."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.errors import (
    JobTakenOverError,
    OutcomeUnknownError,
    RateLimitedError,
    RefusedError,
    RetryableError,
    StoppedError,
)
from bot.github.app import GitHub
from bot.ports import AskedQuestion, IssueRef, Relation, Withheld
from bot.report.comment.markdown import VISIBLE_WORDS
from bot.report.record import Record
from bot.settings.repository import ConfigFault, FoundConfig, find_config, read_config
from bot.store.databases.sqlite_file import SqliteDatabase
from bot.store.effects import Effects
from bot.store.runs.outcomes import Standing
from bot.store.tables import ReportInputs
from bot.store.writes import StoredWrites
from bot.worker.publish.labels import put_postponed
from bot.worker.publish.publisher import Publication, Published
from bot.worker.publish.target import Target
from nodes.report import RelatedIssue, TriageReport
from nodes.search.facts import Fact
from nodes.search.sentences import say
from nodes.state import BugTriageState, Finished, HumanExchange, Waiting
from tests.publish.clock import Clock
from tests.report.reports import FOUND, NOTHING, SHA
from tests.report.visible import visible_words
from tests.servers.github_server import LIMITED, LOST_ANSWER, RESET, Fault, GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID, BOT, INSTALLATION, Repo, person
from tests.support.patience import patience

SECONDS = timedelta(seconds=1)
EXCHANGE = HumanExchange(
    question="Does it also happen with `--no-cache`?",
    question_id="q-1",
    reason="Two places fit equally well.",
    options=("Yes", "No"),
)


def question(slot: int = 1, **given) -> AskedQuestion:
    values = {
        "slot": slot,
        "question_id": f"q-{slot}",
        "text": EXCHANGE.question,
        "reason": EXCHANGE.reason,
        "options": EXCHANGE.options,
        "asked_at": "2026-01-01T00:00:00Z",
    }
    return AskedQuestion(**{**values, **given})


def found(text: str = "", **given) -> FoundConfig:
    return FoundConfig(read_config(text), text, "abc", **given)


FINISHED = Finished(BugTriageState(report=FOUND, sha=SHA))
OTHER = Finished(BugTriageState(report=NOTHING, sha=SHA))
WAITING = Waiting(EXCHANGE, BugTriageState(sha=SHA))
NO_INPUTS = ReportInputs((), {}, False, (), Standing([], []), False)


class Stage:
    """A repository with one issue, and a publisher for it."""

    def __init__(self, server: GitHubServer, github: GitHub, directory: Path) -> None:
        self.server, self.world, self.github = server, server.world, github
        self.repo: Repo = self.world.repository(
            "octo/parser", labels={"bug", "area: parser", "needs info", "type: bug"}
        )
        self.world.open_issue(self.repo)
        self.clock = Clock()
        self.directory = directory
        self.databases: list[SqliteDatabase] = []
        self.forget()
        self.checks = 0

    @property
    def ref(self) -> IssueRef:
        return IssueRef("127.0.0.1", INSTALLATION, self.repo.id, self.repo.owner, self.repo.name, 1)

    def target(self, with_config: FoundConfig, ref: IssueRef | None = None) -> Target:
        ref = ref or self.ref
        mine, shared = (Effects(self.databases[-1], key) for key in (ref.key, f"{ref.repository.key}#0"))
        client = self.github.for_repository
        return Target(ref, with_config, mine, shared, client, self.owner_check, self.clock, self.lacks)

    async def lacks(self, error: Exception) -> None:
        """Accept a missing permission."""

    @property
    def effects(self) -> Effects:
        return self.target(found()).effects

    def forget(self) -> None:
        """Replace the store by an empty one."""
        self.databases.append(SqliteDatabase(self.directory / f"{len(self.databases)}.db"))
        self.databases[-1].clock = self.clock.seconds  # type: ignore[method-assign]

    async def owner_check(self) -> None:
        self.checks += 1

    async def publish(self, outcome=FINISHED, config: str = "", **given) -> Published:
        run, with_config = given.pop("run", 1), given.pop("found", found(config))
        of_store = {name: given.pop(name) for name in ("questions", "touched", "typed", "relations") if name in given}
        publication = Publication(self.target(with_config), run, outcome, replace(NO_INPUTS, **of_store), **given)
        return await publication.publish()

    def later(self, seconds: int = 60) -> None:
        self.clock.time += seconds * SECONDS

    @property
    def comments(self) -> list[str]:
        return self.world.ours(self.repo, 1)

    @property
    def labels(self) -> set[str]:
        return {label["name"] for label in self.repo.issues[1]["labels"]}

    def writes(self, method: str = "POST") -> int:
        return len([call for call in self.server.asked(method) if "access_tokens" not in call.path])


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with serve_github() as running:
        yield running


@pytest.fixture
async def stage(server: GitHubServer, tmp_path: Path, writes: StoredWrites) -> AsyncIterator[Stage]:
    github = GitHub(
        app_id=str(APP_ID),
        private_key=private_key(),
        writes=writes,
        api_url=server.url,
        server_url=server.url,
        timeout=patience(10),
    )
    stage = Stage(server, github, tmp_path)
    writes._clock = stage.clock.seconds  # type: ignore[method-assign]
    yield stage
    await github.aclose()
    for database in stage.databases:
        await database.aclose()


async def test_confidence_words_follow_the_repositorys_record_if_there_is_one(stage) -> None:
    shipped = await stage.publish(config="mode: dry-run\n")
    here = await stage.publish(config="mode: dry-run\n", record=Record(40, 12, -4.0))
    assert "(medium, " not in shipped.comment
    assert "(shipped calibration)" in shipped.comment
    assert "(low, " in here.comment
    assert "by 40 known fixes of this repository" in here.comment


async def test_a_report_is_posted_once_and_not_edited_without_a_change(stage) -> None:
    first = await stage.publish()
    stage.later()
    again = await stage.publish()
    assert (first.state, again.comment_id) == ("posted", first.comment_id)
    assert len(stage.comments) == 1
    assert stage.comments[0].startswith("<!-- triage:report v1 issue=1 run=1 -->\n")
    assert "updated 2026-01-01 10:02 UTC" in stage.comments[0]
    assert f"{stage.server.url}/octo/parser/blob/{SHA}/parser/lexer.py#L10-L13" in stage.comments[0]
    assert visible_words(stage.comments[0]) <= VISIBLE_WORDS
    assert stage.world.reactions == [("issue", 1, "rocket")]
    assert stage.writes("PATCH") == 0


async def test_a_changed_report_is_edited_in_place(stage) -> None:
    await stage.publish()
    stage.later(3_600)
    await stage.publish(OTHER, why="edited")
    assert len(stage.comments) == 1
    assert "The fix is probably in" not in stage.comments[0]
    assert "*Updated because the issue was edited.*" in stage.comments[0]
    assert "updated 2026-01-01 11:02 UTC" in stage.comments[0]


async def test_an_empty_report_is_posted_only_on_request(stage) -> None:
    silent = Finished(BugTriageState(report=NOTHING.model_copy(update={"missing": ()}), sha=SHA))
    done = await stage.publish(silent)
    assert (done.comment_id, stage.comments) == (None, [])
    await stage.publish(silent, why="command")
    assert len(stage.comments) == 1


async def test_a_question_is_answered_only_if_configured_and_a_fact_answers_it(stage) -> None:
    text = "`{name}` is documented in `{path}`, under “{title}”."
    says = say(text, name="max_depth", path="docs/limits.md", title="Limits")
    page = Fact(
        "documented_here", says, "max_depth",
        "docs/limits.md", 12, "## Limits",
    )  # fmt: skip
    report = TriageReport(
        kind="question", statement="facts", facts=(page,), headline=0, verdict=page.says, commit=SHA, missing=()
    )
    answered = Finished(BugTriageState(report=report, sha=SHA))
    issue = stage.repo.issues[1]
    issue |= {"title": "A limit", "body": "The tree is cut off. How can I set `max_depth`?"}
    assert (await stage.publish(answered)).comment_id is None
    issue["body"] = "I set `max_depth`. Why is the tree cut off? What is `max_width`?"
    assert (await stage.publish(answered, "answer_questions: true\n")).comment_id is None
    issue["body"] = (
        "Mit `max_depth` wird der Baum nicht ganz gezeigt, und ich sehe das nicht. How can I set `max_depth`?"
    )
    await stage.publish(answered, "answer_questions: true\nlanguage: de\nreporter_language: true\n")
    assert len(stage.comments) == 1
    assert "**`max_depth` ist unter “Limits” dokumentiert: diese Datei.**" in stage.comments[0]
    assert f"/blob/{SHA}/docs/limits.md#L12-L12" in stage.comments[0]
    assert "Automatische erste Durchsicht" in stage.comments[0]


@pytest.mark.parametrize("fault", [LOST_ANSWER, Fault(after=True), Fault(status=200, after=True)])
async def test_a_post_whose_response_was_lost_is_found_again(stage, fault) -> None:
    stage.server.fail("POST", "/comments", fault)
    with pytest.raises(OutcomeUnknownError) as raised:
        await stage.publish()
    assert (raised.value.after or 0.0) > 15
    assert (await stage.publish()).state == "posted"
    assert len(stage.comments) == 1


@pytest.mark.parametrize(
    "fault", [LIMITED, Fault(status=403), Fault(status=422)], ids=["limited", "forbidden", "invalid"]
)
async def test_a_post_that_was_refused_is_not_waited_for(stage, fault) -> None:
    stage.server.fail("POST", "/comments", fault)
    with pytest.raises((RateLimitedError, RefusedError)):
        await stage.publish()
    assert (await stage.effects.get("sticky")).intent_at == datetime.fromtimestamp(0, UTC)
    stage.later(16)
    await stage.publish()
    assert len(stage.comments) == 1


@pytest.mark.parametrize("fault", [RESET, Fault(status=502)])
async def test_a_failed_post_is_repeated_only_after_the_grace_period(stage, fault) -> None:
    stage.server.fail("POST", "/comments", fault)
    with pytest.raises(RetryableError):
        await stage.publish()
    with pytest.raises(RetryableError, match="in transit"):
        await stage.publish()
    assert stage.comments == []
    stage.later(16)
    await stage.publish()
    assert len(stage.comments) == 1


async def test_after_a_crash_between_intent_and_post_the_report_is_posted(stage) -> None:
    await stage.effects.set_wanted("sticky", "", "x", "")
    await stage.effects.record_intent("sticky", "")
    stage.later(16)
    await stage.publish()
    assert len(stage.comments) == 1


async def test_what_others_say_with_our_marker_is_not_ours(stage) -> None:
    fake = "<!-- triage:report v1 issue=1 run=1 -->\nAll is well"
    stage.world.comment(stage.repo, 1, fake, "mallory")
    stage.world.comment(stage.repo, 1, fake, person("other[bot]", "Bot"))
    stage.world.comment(stage.repo, 1, "<!-- triage:question id=q-1 -->", BOT)
    await stage.publish()
    assert len(stage.world.reports(stage.repo, 1)) == 1
    assert len(stage.world.on(stage.repo, 1)) == 4


async def test_an_unknown_sticky_comment_is_adopted(stage) -> None:
    await stage.publish()
    stage.forget()
    await stage.publish()
    assert len(stage.comments) == 1
    assert stage.writes("PATCH") == 0


async def test_a_transferred_issue_retains_its_one_comment(stage) -> None:
    await stage.publish()
    old, other = stage.ref, stage.world.repository("octo/lexer")
    stage.world.transfer(stage.repo, 1, other)
    moved = await stage.publish()
    assert moved.state == "moved"
    assert moved.moved_to is not None
    assert (moved.moved_to.repository_id, moved.moved_to.name) == (other.id, "lexer")
    publication = Publication(stage.target(found(), moved.moved_to), 1, OTHER, NO_INPUTS)
    assert (await publication.publish()).state == "posted"
    assert len(stage.world.reports(other, 1)) == 1
    assert old.key != moved.moved_to.key


async def test_a_comment_that_a_person_deleted_stays_deleted(stage) -> None:
    first = await stage.publish()
    del stage.world.comments[first.comment_id]
    with pytest.raises(StoppedError):
        await stage.publish(OTHER)
    assert stage.comments == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"state": "closed"}, "closed"),
        ({"locked": True}, "locked"),
        ({"labels": [{"name": "Triage: Skip"}]}, "opt-out"),
        ({"pull_request": {"url": "x"}}, "pull request"),
        ({"user": person("dependabot[bot]", "Bot")}, "bot"),
    ],
)
async def test_locked_and_excluded_issues_get_no_comment(stage, change, reason) -> None:
    stage.repo.issues[1].update(change)
    done = await stage.publish()
    assert done.state == "quiet"
    assert reason in done.reason
    assert stage.writes() == 0


async def test_a_deleted_issue_ends_quietly(stage) -> None:
    del stage.repo.issues[1]
    assert (await stage.publish()).state == "quiet"


async def test_an_allowed_bot_is_answered_and_not_mentioned(stage) -> None:
    stage.repo.issues[1]["user"] = person("sentry-io[bot]", "Bot")
    await stage.publish(WAITING, "bots: ['sentry-io[bot]']\n", questions=(question(),))
    assert "@" not in stage.comments[0]


async def test_dry_run_writes_nothing_and_label_mode_only_labels(stage) -> None:
    done = await stage.publish(config="mode: dry-run\n")
    assert (done.state, stage.writes()) == ("dry-run", 0)
    assert "The fix is probably in this file" in done.comment
    done = await stage.publish(config="mode: label\n")
    assert (done.state, stage.comments, stage.labels, stage.world.reactions) == ("labelled", [], {"bug"}, [])


async def test_an_attempt_that_lost_its_job_writes_nothing(stage) -> None:
    async def not_ours() -> None:
        raise JobTakenOverError("another attempt has it")

    target = replace(stage.target(found()), owner_check=not_ours)
    with pytest.raises(JobTakenOverError):
        await Publication(target, 1, FINISHED, NO_INPUTS).publish()
    assert stage.writes() == 0


async def test_every_write_is_preceded_by_the_owner_check(stage) -> None:
    await stage.publish()
    await stage.publish(OTHER)
    assert stage.checks == stage.writes() + stage.writes("PATCH") + stage.writes("DELETE")


async def test_the_first_question_comes_with_the_report_and_names_no_cause(stage) -> None:
    await stage.publish(WAITING, questions=(question(),))
    assert len(stage.comments) == 1
    assert "- [ ] **Q1** Does it also happen with `--no-cache`?" in stage.comments[0]
    assert stage.comments[0].count("@rita") == 1
    assert "Likely" not in stage.comments[0]
    assert stage.world.reactions == []
    await stage.publish(WAITING, questions=(question(),))
    assert len(stage.comments) == 1


async def test_an_answer_is_ticked_off_with_its_link(stage) -> None:
    await stage.publish(WAITING, questions=(question(),))
    url = f"{stage.server.url}/octo/parser/issues/1#issuecomment-12"
    settled = question(state="answered", answer="Yes, @all and <b>always</b>", answered_by="kim", answer_url=url)
    await stage.publish(FINISHED, questions=(settled,), why="answer")
    assert [body.split(" ", 2)[1] for body in stage.comments] == ["triage:report", "triage:answered"]
    assert f"- [x] **Q1** Does it also happen with `--no-cache`? — [answered]({url}): Yes" in stage.comments[0]
    assert "*Updated after an answer.*" in stage.comments[0]
    assert "@all" not in stage.comments[0]
    assert "<b>" not in stage.comments[0]


async def test_a_later_question_is_posted_once_as_a_separate_reply(stage) -> None:
    await stage.publish()
    for _ in range(2):
        await stage.publish(WAITING, questions=(question(),))
    assert [body.split(" ", 2)[1] for body in stage.comments] == ["triage:report", "triage:question"]
    assert "@rita" not in stage.comments[1]


async def test_a_question_whose_report_had_an_unknown_outcome_has_no_separate_reply(stage) -> None:
    stage.server.fail("POST", "/comments", LOST_ANSWER)
    with pytest.raises(OutcomeUnknownError):
        await stage.publish(WAITING, questions=(question(),))
    await stage.publish(WAITING, questions=(question(),))
    assert len(stage.comments) == 1


async def test_a_secret_is_reported_and_not_repeated(stage) -> None:
    stage.repo.issues[1]["body"] = "token: ghp_" + "a1" * 20
    await stage.publish(Withheld())
    assert "revoke it" in stage.comments[0]
    assert "ghp_" not in stage.comments[0]


async def test_a_thread_that_is_locked_at_the_last_moment_is_skipped(stage) -> None:
    stage.server.fail(
        "POST", "/comments", Fault(status=403, message="Unable to create comment because issue is locked.")
    )
    with pytest.raises(RefusedError):
        await stage.publish()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("lables: {}\n", 1, id="comments-are-the-default"),
        pytest.param("mode: comment\nlables: {}\n", 1, id="comments-are-wanted"),
        pytest.param("mode: dry-run\nlables: {}\n", 0, id="a-dry-run-is-wanted"),
        pytest.param("mode: label\nlables: {}\n", 0, id="labels-are-wanted"),
        pytest.param("enabled: false\nlables: {}\n", 0, id="nothing-is-wanted"),
        pytest.param("mode: coment\n", 0, id="nobody-knows-what-is-wanted"),
        pytest.param("mode: dry-run\nlabels: [\n", 0, id="not-yaml-and-a-dry-run-is-wanted"),
        pytest.param("labels: [\nenabled: false\n", 0, id="not-yaml-and-nothing-is-wanted"),
    ],
)
async def test_only_the_faults_of_a_faulty_first_configuration_are_posted(stage, text, message) -> None:
    class Files:
        async def file(self, _path: str) -> str | None:
            return text

        async def organisation_file(self, _path: str) -> str | None:
            return None

    broken = await find_config(Files())
    for _ in range(2):
        assert (await stage.publish(found=broken)).state == "dry-run"
    assert len(stage.comments) == message
    for comment in stage.comments:
        assert comment.startswith("<!-- triage:config ")
        assert "unknown key `lables`; did you mean `labels`? Until" in comment
        assert "line " in comment
    assert not stage.world.reactions


async def test_faults_of_the_configuration_are_reported_once(stage) -> None:
    broken = found(faults=(ConfigFault(4, "unknown key `mod`"),))
    await stage.publish(found=broken)
    assert "line 4: unknown key `mod`" in stage.comments[0]
    await stage.publish(found=broken)
    assert stage.writes("PATCH") == 0
    stage.world.open_issue(stage.repo)
    second = replace(stage.ref, number=2)
    await Publication(stage.target(broken, second), 1, FINISHED, NO_INPUTS).publish()
    assert "unknown key" not in stage.world.ours(stage.repo, 2)[0]


async def test_labels_are_those_that_exist_and_are_allowed(stage) -> None:
    await stage.publish()
    assert stage.labels == {"bug"}
    await stage.publish(config="labels:\n  allowed: ['area: *', missing]\n  map: {bug: 'type: bug'}\n")
    assert stage.labels == {"area: parser", "type: bug"}
    assert "missing" not in stage.repo.labels


async def test_a_label_that_a_model_invented_is_not_shown(stage) -> None:
    invented = FOUND.model_copy(update={"labels": ("bug", "area: nowhere", "priority: critical")})
    await stage.publish(Finished(BugTriageState(report=invented)))
    assert "nowhere" not in stage.comments[0]
    assert "critical" not in stage.comments[0]


async def test_a_waiting_label_clears_itself(stage) -> None:
    config = "labels:\n  map: {needs-answer: needs info}\n"
    await stage.publish(WAITING, config, questions=(question(),))
    assert stage.labels == {"needs info"}
    await stage.publish(FINISHED, config)
    assert stage.labels == {"bug"}


async def test_a_label_that_a_person_removed_is_not_added_again(stage) -> None:
    await stage.publish()
    stage.repo.issues[1]["labels"].clear()
    await stage.publish(OTHER.__class__(BugTriageState(report=FOUND.model_copy(update={"confidence": 0.7}))))
    assert stage.labels == set()
    await stage.publish(touched={"bug": True}, config="labels:\n  map: {bug: bug}\n")
    assert stage.labels == set()


async def test_a_failed_reaction_blocks_nothing_and_is_retried(stage) -> None:
    stage.server.fail("POST", "/reactions", Fault(status=502))
    await stage.target(found()).react("eyes")
    assert stage.world.reactions == []
    await stage.publish()
    assert sorted(stage.world.reactions) == [("issue", 1, "eyes"), ("issue", 1, "rocket")]


async def test_peoples_statements_on_duplicates_take_precedence(stage) -> None:
    guess = RelatedIssue(reference="#7", relation="duplicate", state="open", why="the same frames")
    guessed = Finished(BugTriageState(report=FOUND.model_copy(update={"related": (guess,)})))
    await stage.publish(guessed)
    assert "Probably the same as [`#7`]" in stage.comments[0]
    await stage.publish(guessed, relations=(Relation(7, duplicate=False),))
    assert "#7" not in stage.comments[0]
    await stage.publish(guessed, relations=(Relation(7, duplicate=False), Relation(8, duplicate=True)))
    assert "**The same as [`#8`]" in stage.comments[0]


async def test_another_run_with_the_same_report_edits_nothing(stage) -> None:
    first = await stage.publish()
    stage.later()
    again = await stage.publish(run=2)
    assert again.comment_id == first.comment_id
    assert stage.writes("PATCH") == 0
    await stage.publish(OTHER, run=3)
    assert stage.writes("PATCH") == 1


async def test_a_report_is_posted_where_its_labels_are_refused(stage) -> None:
    stage.server.fail("POST", "/issues/1/labels", Fault(status=403, message="Resource not accessible by integration"))
    assert (await stage.publish()).state == "posted"
    assert stage.labels == set()


FEATURE = Finished(BugTriageState(report=FOUND.model_copy(update={"kind": "feature", "labels": ("enhancement",)})))


def has_types(stage, *types: str, current: str | None = None) -> None:
    stage.repo.types = types
    stage.repo.issues[1]["type"] = current and {"name": current}


def type_of(stage) -> str | None:
    kind = stage.repo.issues[1].get("type")
    return kind and kind["name"]


@pytest.mark.parametrize(
    ("types", "current", "config", "given", "kind", "labels"),
    [
        pytest.param(("Bug",), None, "", {}, "Bug", set(), id="instead-of-the-label"),
        pytest.param(("bug",), None, "", {}, "bug", set(), id="in-the-organisations-spelling"),
        pytest.param(("Defect",), None, "types: {map: {bug: Defect}}", {}, "Defect", set(), id="mapped"),
        pytest.param(("Bug",), None, "labels: {map: {bug: 'type: bug'}}", {}, "Bug", {"type: bug"}, id="and-a-label"),
        pytest.param(("Task",), None, "", {}, None, {"bug"}, id="no-such-type"),
        pytest.param(("Bug",), None, "types: {map: {}}", {}, None, {"bug"}, id="turned-off"),
        pytest.param(("Bug", "Task"), "Task", "", {}, "Task", set(), id="chosen-by-a-form-or-person"),
        pytest.param(("Bug",), None, "", {"typed": True}, None, set(), id="removed-by-a-person"),
        pytest.param(("Bug",), "Bug", "", {}, "Bug", set(), id="there-already"),
    ],
)
async def test_the_issue_type_takes_the_place_of_a_label(stage, types, current, config, given, kind, labels) -> None:
    has_types(stage, *types, current=current)
    await stage.publish(config=config, **given)
    assert (type_of(stage), stage.labels) == (kind, labels)


async def test_a_type_of_ours_follows_the_report_until_a_person_changes_it(stage) -> None:
    has_types(stage, "Bug", "Feature")
    await stage.publish()
    await stage.publish(FEATURE)
    assert type_of(stage) == "Feature"
    stage.repo.issues[1]["type"] = None
    await stage.publish()
    assert (type_of(stage), stage.labels) == (None, set())


async def test_a_type_is_suggested_once_with_the_checked_fact(stage) -> None:
    has_types(stage, "Bug")
    for _ in range(2):
        await stage.publish(config="types: {suggest: true}\n")
    (suggestion,) = stage.repo.issues[1]["_suggested"]
    assert suggestion["value"] == "Bug"
    assert suggestion["confidence"] in ("low", "medium", "high")
    assert suggestion.get("rationale", "") == (FOUND.facts[FOUND.headline].says if FOUND.headline is not None else "")
    assert (type_of(stage), stage.labels) == (None, set())


@pytest.mark.parametrize(
    "fault",
    [Fault(status=403, message="Resource not accessible by integration"), Fault(status=422)],
    ids=["forbidden", "invalid"],
)
async def test_a_refused_type_leaves_the_label(stage, fault) -> None:
    has_types(stage, "Bug")
    stage.server.fail("PATCH", "/issues/1", fault)
    await stage.publish()
    assert (type_of(stage), stage.labels) == (None, {"bug"})


async def test_a_type_that_a_limit_postpones_is_set_later(stage) -> None:
    has_types(stage, "Bug")
    stage.server.fail("PATCH", "/issues/1", LIMITED)
    await stage.publish()
    assert (type_of(stage), stage.labels) == (None, set())
    stage.later(600)
    github = stage.github.for_repository(stage.ref.repository)
    await put_postponed(stage.target(found()), await github.issue(1), ())
    assert (type_of(stage), stage.labels) == ("Bug", set())
