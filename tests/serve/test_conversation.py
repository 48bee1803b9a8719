"""People's actions while a run waits or is in progress, with the whole server."""

from __future__ import annotations

import json
from threading import Event

import pytest

from tests.serve.app import App, wait_for
from tests.serve.conftest import BODY, TITLE, on_both_databases
from tests.servers.deliveries import comment_event, issue_event
from tests.servers.github_server import Call, Fault, GitHubServer
from tests.servers.github_world import INSTALLATION, Repo, person
from tests.support.patience import patience

pytestmark = on_both_databases

VAGUE = "When I read a feed with many articles the result is wrong, and nothing that I tried with it has helped."
ANSWER = "I call `parse_date` from feedbox/dates.py with a zone of -0700 and it gives a wrong number of minutes."


def with_question(app: App, github: GitHubServer, repo: Repo) -> int:
    """Open an issue with almost no information; return it and the question that follows."""
    number = app.open_issue(repo, "It breaks", "")
    wait_for(lambda: "**Q1**" in "".join(github.world.reports(repo, number)), 40.0, lambda: app.log[-5:])
    app.settled()
    return number


def report(github: GitHubServer, repo: Repo, number: int) -> str:
    (only,) = github.world.reports(repo, number)
    return only


def test_an_issue_that_is_closed_during_the_wait_gets_no_comment(app: App, github: GitHubServer, repo: Repo) -> None:
    number = with_question(app, github, repo)
    before = report(github, repo, number)
    github.world.repos[repo.id].issues[number]["state"] = "closed"
    assert app.deliver("issues", issue_event(github.world, repo, number, "closed")) == 202
    app.comment(repo, number, ANSWER)
    app.settled()
    assert report(github, repo, number) == before


def has_reply_to_answer(github: GitHubServer, repo: Repo, number: int) -> bool:
    """Return whether the App wrote the report and the reply to the answer, and nothing else.

    The reply may wait while GitHub's write limit only has room for reports.
    """
    written = [body.split(" ", 2)[1] for body in github.world.ours(repo, number)]
    assert written[0] == "triage:report"
    assert written[1:] in ([], ["triage:answered"])
    return len(written) == 2


def test_a_command_without_permission_has_no_effect(app: App, github: GitHubServer, repo: Repo) -> None:
    number = app.open_issue(repo, TITLE, BODY)
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 40.0, lambda: app.log[-5:])
    app.comment(repo, number, "/triage redirect ignore everything", "mallory")
    app.settled()
    assert len(github.world.ours(repo, number)) == 1
    assert "after a redirect" not in report(github, repo, number)


def test_a_report_that_a_person_deleted_is_not_written_again(app: App, github: GitHubServer, repo: Repo) -> None:
    number = app.open_issue(repo, TITLE, BODY)
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 40.0, lambda: app.log[-5:])
    app.settled()
    (sticky,) = (c for c in github.world.on(repo, number) if c["body"].startswith("<!-- triage:report"))
    del github.world.comments[sticky["id"]]
    body = comment_event(github.world, repo, number, sticky, "deleted", sender="mona")
    assert app.deliver("issue_comment", body) == 202
    app.settled()
    github.world.repos[repo.id].issues[number]["body"] += "\n\nMore."
    assert app.deliver("issues", issue_event(github.world, repo, number, "reopened")) == 202
    app.settled()
    assert github.world.ours(repo, number) == []


@pytest.mark.parametrize("explained", [True, False], ids=["explained", "delivery-lost"])
@pytest.mark.parametrize("command", ["/triage", "/triage redirect look at feedbox/store.py"])
def test_a_persons_command_posts_a_deleted_report_again(
    app: App, github: GitHubServer, repo: Repo, explained: bool, command: str
) -> None:
    repo.permissions["mona"] = "triage"
    number = app.open_issue(repo, TITLE, BODY)
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 40.0, lambda: app.log[-5:])
    app.settled()
    (sticky,) = (c for c in github.world.on(repo, number) if c["body"].startswith("<!-- triage:report"))
    del github.world.comments[sticky["id"]]
    if explained:
        body = comment_event(github.world, repo, number, sticky, "deleted", sender="mona")
        assert app.deliver("issue_comment", body) == 202
        app.settled()
        assert github.world.reports(repo, number) == []
        command = "/triage resume" if command != "/triage" else command
    comment = app.comment(repo, number, command, "mona")
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 40.0, lambda: app.log[-5:])
    # Reactions wait while GitHub's write limit only has room for reports.
    wait_for(lambda: ("comment", comment["id"], "rocket") in github.world.reactions, 100.0, lambda: app.log[-5:])
    assert len(github.world.ours(repo, number)) == 1


@pytest.mark.parametrize("when", ["after", "between"])
def test_an_answer_counts_where_the_issue_was_closed_and_opened_again(
    app: App, github: GitHubServer, repo: Repo, when: str
) -> None:
    number = with_question(app, github, repo)
    before = report(github, repo, number)
    issue = github.world.repos[repo.id].issues[number]
    for action, state in (("closed", "closed"), ("reopened", "open")):
        issue["state"] = state
        assert app.deliver("issues", issue_event(github.world, repo, number, action)) == 202
        app.settled()
        if action == "closed" and when == "between":
            app.comment(repo, number, ANSWER)
            app.settled()
            assert report(github, repo, number) == before
    if when == "after":
        assert report(github, repo, number) == before
        app.comment(repo, number, ANSWER)
    wait_for(lambda: "feedbox/dates.py" in report(github, repo, number), 40.0, lambda: app.log[-5:])
    app.settled()
    assert "- [x] **Q1**" in report(github, repo, number)
    assert "**Q2**" not in report(github, repo, number)
    wait_for(lambda: has_reply_to_answer(github, repo, number), 100.0, lambda: app.log[-5:])


def test_deliveries_out_of_order_do_not_end_a_waiting_run(app: App, github: GitHubServer, repo: Repo) -> None:
    number = with_question(app, github, repo)
    for action in ("reopened", "closed"):
        assert app.deliver("issues", issue_event(github.world, repo, number, action)) == 202
        app.settled()
    app.comment(repo, number, ANSWER)
    wait_for(lambda: "feedbox/dates.py" in report(github, repo, number), 40.0, lambda: app.log[-5:])
    app.settled()


@pytest.mark.parametrize("order", ["left-first", "arrived-first", "answered-before-it-arrived"])
def test_an_answer_counts_after_the_issue_was_moved(app: App, github: GitHubServer, repo: Repo, order: str) -> None:
    world = github.world
    names = (f"octo/{name}{len(world.repos)}" for name in ("asked", "answered"))
    here, there = [world.repository(name, git=repo.git, head=repo.head) for name in names]
    app.open_issue(there, TITLE, BODY)  # so that the other repository is known
    number = with_question(app, github, here)
    left = world.issue(here, number)
    new = world.transfer(here, number, there)
    gone = {"new_issue": world.issue(there, new), "new_repository": {"id": there.id, "full_name": there.full_name}}
    came = {"old_issue": left, "old_repository": {"id": here.id, "full_name": here.full_name}}
    here.issues[number] = left | {"pull_request": None}  # payloads show it once more
    leaving = issue_event(world, here, number, "transferred", changes=gone)
    here_comment = world.comment(here, number, ANSWER)
    late = comment_event(world, here, number, here_comment)
    del here.issues[number]
    world.comments[here_comment["id"]].update(_repo=there.id, _number=new)
    arriving = issue_event(world, there, new, "opened", changes=came)
    deliveries = [leaving, arriving] if order != "arrived-first" else [arriving, leaving]
    for body in deliveries:
        assert app.deliver("issues", body) == 202
        app.settled()
    assert "- [ ] **Q1**" in report(github, there, new)
    assert app.deliver("issue_comment", late) == 202 if order == "answered-before-it-arrived" else True
    if order != "answered-before-it-arrived":
        app.comment(there, new, ANSWER)
    wait_for(lambda: "feedbox/dates.py" in report(github, there, new), 40.0, lambda: app.log[-5:])
    app.settled()
    assert "- [x] **Q1**" in report(github, there, new)
    wait_for(lambda: has_reply_to_answer(github, there, new), 100.0, lambda: app.log[-5:])
    # The question moved with the issue and was not asked again.
    places = f"issue_key LIKE '%/{here.id}#{number}' OR issue_key LIKE '%/{there.id}#{new}'"
    assert app.ask(f"SELECT count(*) FROM questions WHERE {places}") == [(1,)]


def test_two_concurrent_issues_report_a_configuration_fault_once(app: App, github: GitHubServer) -> None:
    world = github.world
    known = world.repos[1000]
    broken = world.repository(f"octo/broken{len(world.repos)}", git=known.git, head=known.head)
    app.open_issue(broken, TITLE, BODY)
    app.settled()
    broken.files[".github/triage.yml"] = "mode: comment\n"
    app.open_issue(broken, TITLE, BODY)
    app.settled()
    broken.files[".github/triage.yml"] = "mode: comment\nlables: {}\n"
    bodies = []
    for _ in range(6):
        number = world.open_issue(broken, TITLE, BODY)["number"]
        bodies.append((number, issue_event(world, broken, number, "opened")))
    for _, body in bodies:
        assert app.deliver("issues", body) == 202
    wait_for(lambda: all(world.reports(broken, number) for number, _ in bodies), 60.0, lambda: app.log[-5:])
    app.settled()
    explained = [number for number, _ in bodies if "lables" in "".join(world.ours(broken, number))]
    assert len(explained) == 1


def test_a_repository_that_disabled_triage_gets_no_comment(app: App, github: GitHubServer, repo: Repo) -> None:
    repo.files[".github/triage.yml"] = "enabled: false\n"
    try:
        number = app.open_issue(repo, TITLE, BODY)
        app.settled()
        assert github.world.ours(repo, number) == []
        assert github.asked("POST", f"/repos/{repo.full_name}/issues/{number}/") == []
    finally:
        del repo.files[".github/triage.yml"]


def test_a_moved_issue_retains_its_report(app: App, github: GitHubServer, repo: Repo) -> None:
    world = github.world
    names = (f"octo/{name}{len(world.repos)}" for name in ("here", "elsewhere"))
    repo, other = [world.repository(name, git=repo.git, head=repo.head) for name in names]
    number = app.open_issue(repo, TITLE, BODY)
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 40.0, lambda: app.log[-5:])
    app.settled()
    left = github.world.issue(repo, number)
    new = github.world.transfer(repo, number, other)
    changes = {"old_issue": left, "old_repository": {"id": repo.id, "full_name": repo.full_name}}
    moved = issue_event(github.world, other, new, "opened", changes=changes)
    assert app.deliver("issues", moved) == 202
    app.settled()
    assert len(github.world.reports(other, new)) == 1


def test_a_stop_ends_a_run_before_its_next_write(app: App, github: GitHubServer, repo: Repo) -> None:
    stopped = Event()
    reads: list[Call] = []

    def fault(call: Call) -> Fault | None:
        """Hold the run at its second read, just before it posts, until it is stopped."""
        if call.method == "GET" and call.path.endswith(f"/issues/{number}"):
            reads.append(call)
        if len(reads) == 2 and not stopped.is_set():
            reads.append(call)
            app.comment(repo, number, "/triage stop")
            wait_for(lambda: app.logged("commands", app.key(repo, number)), 25.0, lambda: app.log[-5:])
            stopped.set()
        return None

    number = github.world.open_issue(repo, TITLE, BODY)["number"]
    github.fault = fault
    try:
        assert app.deliver("issues", issue_event(github.world, repo, number, "opened")) == 202
        assert stopped.wait(patience(15.0))
        app.settled()
        assert github.world.ours(repo, number) == []
    finally:
        github.fault = lambda _call: None


def test_a_redirect_reaches_a_run_that_has_started(app: App, github: GitHubServer, repo: Repo) -> None:
    repo.permissions["mona"] = "triage"
    answered = Event()

    def fault(call: Call) -> Fault | None:
        """Hold the run before it fetches the code, until it is redirected."""
        # A reaction is left to a later job while the write limit is low; then the fetch itself is held.
        starts = (call.method == "POST" and call.path.endswith("/reactions")) or f"{repo.full_name}.git" in call.path
        if starts and not answered.is_set():
            answered.set()
            app.comment(repo, number, "/triage redirect look at feedbox/store.py, save", "mona")
            wait_for(lambda: app.logged("commands", app.key(repo, number)), 25.0, lambda: app.log[-5:])
        return None

    number = github.world.open_issue(repo, "The result is wrong", VAGUE)["number"]
    github.fault = fault
    try:
        assert app.deliver("issues", issue_event(github.world, repo, number, "opened")) == 202
        wait_for(lambda: len(github.world.reports(repo, number)) == 1, 20.0, lambda: app.log[-5:])
        app.settled()
        assert "run=1" in report(github, repo, number)
        assert "feedbox/store.py" in report(github, repo, number)
    finally:
        github.fault = lambda _call: None


def test_an_edit_that_adds_the_requested_text_answers_the_question(app: App, github: GitHubServer, repo: Repo) -> None:
    number = with_question(app, github, repo)
    github.world.repos[repo.id].issues[number]["body"] = BODY
    assert app.deliver("issues", issue_event(github.world, repo, number, "edited")) == 202
    app.settled()
    assert "- [ ] **Q1**" in report(github, repo, number)
    app.pass_time(60.0)
    wait_for(lambda: "feedbox/dates.py" in report(github, repo, number), 40.0, lambda: app.log[-5:])
    app.settled()
    assert "because the issue was edited" in report(github, repo, number)


def test_after_two_weeks_it_continues_without_an_answer(app: App, github: GitHubServer, repo: Repo) -> None:
    number = with_question(app, github, repo)
    app.pass_time(14 * 86_400.0)
    wait_for(lambda: "no answer in 14 days" in report(github, repo, number), 40.0, lambda: app.log[-5:])
    app.settled()
    app.comment(repo, number, ANSWER)
    app.settled()
    assert "no answer in 14 days" in report(github, repo, number)


def test_jobs_wait_for_a_suspended_installation(app: App, github: GitHubServer, repo: Repo) -> None:
    name = f"octo/never-heard-of-{len(github.world.repos)}"  # the test runs on each database, but there is one GitHub
    repo = github.world.repository(name, git=repo.git)
    installation = {"id": INSTALLATION, "account": {"login": "octo"}, "html_url": f"{github.url}/settings/77"}
    app.open_issue(repo, "It fails", "It does not work.")  # so that the repository is known
    app.settled()
    number = github.world.open_issue(repo, TITLE, BODY)["number"]
    for action in ("suspend", "unsuspend"):
        answered = json.dumps({"action": action, "installation": installation, "sender": person("octo")}).encode()
        assert app.deliver("installation", answered) == 202
        app.settled()
        if action == "suspend":
            assert app.deliver("issues", issue_event(github.world, repo, number, "opened")) == 202
            app.settled()
            key = app.key(repo, number)  # jobs of other tests may be parked too
            assert len(app.ask(f"SELECT work FROM jobs WHERE state = 'parked' AND issue_key = '{key}'")) == 1
            assert github.world.ours(repo, number) == []
    wait_for(lambda: len(github.world.reports(repo, number)) == 1, 40.0, lambda: app.log[-5:])


def test_only_a_bot_that_the_repository_allows_is_answered(app: App, github: GitHubServer, repo: Repo) -> None:
    repo.files[".github/triage.yml"] = "bots: ['Sentry-io[bot]']\n"
    try:
        named, other = (
            app.open_issue(repo, TITLE, BODY, author=person(name, "Bot"))
            for name in ("sentry-io[bot]", "dependabot[bot]")
        )
        wait_for(lambda: len(github.world.reports(repo, named)) == 1, 40.0, lambda: app.log[-5:])
        app.settled()
        assert github.world.ours(repo, other) == []
    finally:
        del repo.files[".github/triage.yml"]
