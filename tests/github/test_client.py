"""The client with a simulated GitHub that responds and fails like the real one."""

from __future__ import annotations

import asyncio
import base64
import email.utils
import re
import time
from dataclasses import replace

import pytest

from bot.errors import (
    AppRefusedError,
    GoneError,
    MissingPermissionError,
    MovedError,
    OutcomeUnknownError,
    RateLimitedError,
    RefusedError,
    RetryableError,
    SuspendedError,
    UnreadableFileError,
)
from bot.github.app import GitHub
from bot.github.repository import RepositoryClient
from bot.github.responses import UndecodableError
from bot.github.values import permission_of
from bot.ports import Permission, RepositoryRef
from bot.runs.sources import OpenPulls
from bot.settings.repository import find_config
from nodes.context.brain import OpenPull
from tests.servers.github_server import LOST_ANSWER, RESET, Call, Fault, GitHubServer
from tests.servers.github_world import APP_ID, BOT, GRANTED, INSTALLATION, Repo, person

SILENCE = Fault(status=200, delay=1.3)


@pytest.fixture
def repo(server: GitHubServer) -> Repo:
    return server.world.repository("octo/parser", labels={"bug", "area: lexer"}, head="a" * 40)


@pytest.fixture
def client(github: GitHub, repo: Repo) -> RepositoryClient:
    return github.for_repository(ref_to(repo))


def ref_to(repo: Repo, installation: int = INSTALLATION) -> RepositoryRef:
    return RepositoryRef("127.0.0.1", installation, repo.id, repo.owner, repo.name)


async def test_an_issue_is_parsed(server, repo, client) -> None:
    server.world.open_issue(repo, "It fails", None)
    issue = await client.issue(1)
    assert (issue.title, issue.body, issue.author, issue.author_is_bot) == ("It fails", "", "rita", False)
    assert issue.ref.key == f"127.0.0.1/{repo.id}#1"


async def test_a_search_finds_public_issues_elsewhere_and_its_limit_is_its_own(server, repo, client) -> None:
    library = server.world.repository("pypa/lexing", public=True)
    server.world.open_issue(library, "advance hangs", "on an open quote")
    (found,) = await client.search_issues("advance quote repo:pypa/lexing is:issue", 5)
    assert (found["title"], found["html_url"]) == ("advance hangs", "https://github.com/pypa/lexing/issues/1")
    limit = Fault(status=403, headers={"Retry-After": "60"}, message="You have exceeded a secondary rate limit")
    server.fail("GET", "/search/issues", limit, limit)
    for _ in range(2):
        with pytest.raises(RateLimitedError):
            await client.search_issues("advance", 5)
    server.world.open_issue(repo)
    assert await client.issue(1) is not None


async def test_tokens_are_restricted_and_requested_once(server, repo, client) -> None:
    server.world.open_issue(repo)
    await client.issue(1)
    await client.create_comment(1, "hello")
    requests = server.asked("POST", "access_tokens")
    wanted = {"issues": "write", "contents": "read", "metadata": "read"}
    assert [call.body for call in requests] == [{"repository_ids": [repo.id], "permissions": wanted}]


async def test_one_token_is_requested_at_a_time_after_a_refusal_too(server, repo, client) -> None:
    server.world.open_issue(repo)
    faults = iter([Fault(status=422)])

    def fault(call: Call) -> Fault | None:
        """Refuse the first request for a token; answer late, so that a second one would overlap with the next."""
        refusal = next(faults, None) if call.path.endswith("access_tokens") else None
        time.sleep(0.2)
        return refusal

    server.fault = fault
    refused, waiting = asyncio.create_task(client.issue(1)), asyncio.create_task(client.issue(1))
    with pytest.raises(RefusedError):
        await refused
    await asyncio.gather(waiting, client.issue(1))
    assert len(server.asked("POST", "access_tokens")) == 2


async def test_a_revoked_token_is_replaced(server, repo, client) -> None:
    server.world.open_issue(repo)
    await client.issue(1)
    server.world.tokens.clear()
    await client.create_comment(1, "hello")
    assert server.world.ours(repo, 1) == ["hello"]


@pytest.mark.parametrize("unanswered", [Fault(status=502), Fault(status=500), RESET, SILENCE])
async def test_a_read_is_repeated(server, repo, client, unanswered) -> None:
    server.world.open_issue(repo)
    server.fail("GET", "/issues/1", unanswered)
    assert (await client.issue(1)).title == "It fails"


async def test_a_read_is_repeated_a_limited_number_of_times(server, repo, client) -> None:
    server.fail("GET", "/labels", *[Fault(status=503)] * 9)
    with pytest.raises(RetryableError):
        await client.repository_labels()
    assert len(server.asked("GET", "/labels")) == 3


@pytest.mark.parametrize(
    "fault", [LOST_ANSWER, Fault(status=502), RESET, Fault(after=True), SILENCE, Fault(status=200, after=True)]
)
async def test_a_failed_post_is_not_repeated_and_its_outcome_is_unknown(server, repo, client, fault) -> None:
    server.world.open_issue(repo)
    server.fail("POST", "/comments", fault)
    with pytest.raises(OutcomeUnknownError):
        await client.create_comment(1, "hello")
    assert len(server.asked("POST", "/comments")) == 1


_JSON = {"Content-Type": "application/json; charset=utf-8"}
_TOO_QUICK = b"""{"message": "Validation Failed", "errors": [
    {"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "was submitted too quickly"}]}"""


@pytest.mark.parametrize(
    ("fault", "after"),
    [
        pytest.param(Fault(status=429, headers={"Retry-After": "7"}), 7, id="seconds"),
        pytest.param(Fault(status=403, headers={"Retry-After": "7"}), 7, id="secondary-as-403"),
        pytest.param(Fault(status=429), None, id="without-a-header"),
        pytest.param(Fault(status=403, message="You have exceeded a secondary rate limit"), None, id="by-its-words"),
        pytest.param(Fault(status=429, headers={"Retry-After": "soon"}), None, id="nonsense"),
        pytest.param(Fault(status=403, message="You have triggered an abuse detection mechanism."), None, id="abuse"),
        pytest.param(Fault(status=422, content=_TOO_QUICK, headers=_JSON), None, id="too-quickly"),
        pytest.param(Fault(status=422, headers={"Retry-After": "9"}), 9, id="as-422"),
    ],
)
async def test_a_limit_names_the_time_to_wait(server, repo, client, fault, after) -> None:
    server.world.open_issue(repo)
    server.fail("POST", "/comments", fault)
    with pytest.raises(RateLimitedError) as raised:
        await client.create_comment(1, "hello")
    assert raised.value.after == after


@pytest.mark.parametrize(
    "limit",
    [
        pytest.param(
            lambda then: Fault(403, headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{then:.0f}"}),
            id="primary-limit",
        ),
        pytest.param(
            lambda then: Fault(429, headers={"Retry-After": email.utils.formatdate(then, usegmt=True)}), id="a-date"
        ),
    ],
)
async def test_a_limit_may_name_the_time_when_it_ends(server, repo, client, limit) -> None:
    server.world.open_issue(repo)
    server.fail("POST", "/comments", limit(time.time() + 90))
    with pytest.raises(RateLimitedError) as raised:
        await client.create_comment(1, "hello")
    assert raised.value.after == pytest.approx(90, abs=30)


async def test_after_a_limit_on_a_write_nothing_is_written_and_reading_continues(server, repo, client) -> None:
    server.world.open_issue(repo)
    server.fail("POST", "/comments", Fault(status=429, headers={"Retry-After": "40"}))
    for _ in range(2):
        with pytest.raises(RateLimitedError):
            await client.create_comment(1, "hello")
    assert len(server.asked("POST", "/comments")) == 1
    assert await client.issue(1) is not None


async def test_after_two_limits_in_a_row_nothing_is_sent(server, repo, client) -> None:
    server.world.open_issue(repo)
    server.fail("GET", "/issues", *[Fault(status=429, headers={"Retry-After": "40"})] * 2)
    for _ in range(2):
        with pytest.raises(RateLimitedError):
            await client.issue(1)
    before = len(server.calls)
    with pytest.raises(RateLimitedError):
        await client.create_comment(1, "hello")
    assert len(server.calls) == before


async def test_a_moved_issue_is_followed_and_never_written_to_blindly(server, repo, client) -> None:
    server.world.open_issue(repo)
    other = server.world.repository("octo/lexer")
    new = server.world.transfer(repo, 1, other)
    with pytest.raises(MovedError):
        await client.create_comment(1, "hello")
    moved = await client.issue(1)
    assert (moved.ref.repository_id, moved.ref.number, moved.ref.name) == (other.id, new, "lexer")


async def test_a_repository_is_written_to_under_the_name_it_has_today(server, repo, github) -> None:
    server.world.open_issue(repo)
    old = replace(ref_to(repo), clone_url=f"{server.url}/octo/parser.git")
    server.world.rename(repo, "lexer")
    client = github.for_repository(old)
    with pytest.raises(MovedError):
        await client.create_comment(1, "hello")
    issue = await client.issue(1)
    assert (issue.ref.key, issue.ref.name) == (f"127.0.0.1/{repo.id}#1", "lexer")
    await client.create_comment(1, "hello")
    later = github.for_repository(old)
    await later.create_comment(1, "again")
    assert server.world.ours(repo, 1) == ["hello", "again"]
    assert (await later.clone_url_and_header())[0] == f"{server.url}/octo/lexer.git"


async def test_an_issue_that_moved_to_an_inaccessible_repository_is_gone(server, repo, client) -> None:
    server.world.open_issue(repo)
    server.world.moved[repo.id, 1] = "/repositories/999999/issues/1"
    assert await client.issue(1) is None


async def test_a_redirect_to_another_server_is_not_followed(server, repo, client) -> None:
    server.fail("GET", "/labels", Fault(status=301, headers={"Location": "http://localhost:1/labels"}))
    with pytest.raises(UndecodableError):
        await client.repository_labels()


@pytest.mark.parametrize("status", [404, 410])
async def test_a_deleted_issue_is_gone(server, repo, client, status) -> None:
    server.fail("GET", "/issues/9", Fault(status=status))
    assert await client.issue(9) is None
    server.fail("POST", "/comments", Fault(status=status))
    with pytest.raises(GoneError):
        await client.create_comment(9, "hello")


async def test_locked_and_archived_are_refused(server, repo, client) -> None:
    server.world.open_issue(repo)
    repo.issues[1]["locked"] = True
    with pytest.raises(RefusedError, match="locked"):
        await client.create_comment(1, "hello")
    repo.archived = True
    with pytest.raises(RefusedError, match="archived"):
        await client.add_labels(1, ["bug"])


@pytest.mark.parametrize(
    "refused",
    [
        Fault(status=401, message="A JSON web token could not be decoded"),
        Fault(status=404, message="Integration not found"),
    ],
    ids=["key", "id"],
)
async def test_an_app_unknown_to_github_is_reported_to_the_operator(server, repo, client, refused) -> None:
    server.world.open_issue(repo)
    server.fail("POST", "access_tokens", refused)
    with pytest.raises(RetryableError, match="check GITHUB_APP_ID") as raised:
        await client.issue(1)
    assert not isinstance(raised.value, RefusedError)
    assert await client.issue(1)


_NUMERIC = "'Expiration time' claim ('exp') must be a numeric value"


@pytest.mark.parametrize(
    ("ahead", "says"),
    [
        pytest.param(0, "check GITHUB_APP_ID and the App's private key", id="the-key"),
        pytest.param(-7_200, "this machine's clock is 2:0.:.. ahead", id="the-clock-is-ahead"),
        pytest.param(86_400, "this machine's clock is (1 day, 0:0.|23:5.):.. behind", id="the-clock-is-behind"),
    ],
)
async def test_a_refused_signature_names_the_clock_by_githubs(server, repo, github, client, ahead, says) -> None:
    server.world.open_issue(repo)
    date = email.utils.formatdate(time.time() + ahead, usegmt=True)
    server.fail("POST", "access_tokens", Fault(status=401, message=_NUMERIC, headers={"Date": date}))
    with pytest.raises(AppRefusedError, match=says):
        await client.issue(1)
    assert re.search(says, github.fault)
    assert await client.issue(1)
    assert github.fault == ""


async def test_a_suspended_installation_is_distinguished_from_a_missing_permission(server, repo, github) -> None:
    server.world.suspended = True
    with pytest.raises(SuspendedError):
        await github.for_repository(ref_to(repo)).issue(1)
    with pytest.raises(SuspendedError):
        await github.for_repository(ref_to(repo, installation=1)).issue(1)


async def test_our_comments_are_recognised_by_their_author(server, repo, client) -> None:
    world = server.world
    world.open_issue(repo)
    world.comment(repo, 1, "<!-- triage:report --> I am the bot", "mallory")
    world.comment(repo, 1, "<!-- triage:report -->", person("other[bot]", "Bot"))
    world.comment(repo, 1, "ours", BOT)
    silent = world.comment(repo, 1, "ours, on a server that leaves out the app", BOT)
    world.comments[silent["id"]]["performed_via_github_app"] = None
    assert [comment.ours for comment in await client.comments(1)] == [False, False, True, True]


@pytest.mark.parametrize("kind", ["User", "Bot", "Mannequin"])
async def test_bots_and_the_stand_ins_of_imported_authors_are_no_persons(server, repo, client, kind) -> None:
    server.world.open_issue(repo)
    repo.issues[1]["user"] = person("ada", kind)
    assert (await client.issue(1)).author_is_bot == (kind != "User")


async def test_long_threads_are_read_whole(server, repo, client) -> None:
    server.world.open_issue(repo)
    for number in range(230):
        server.world.comment(repo, 1, str(number))
    assert [comment.body for comment in await client.comments(1)] == [str(number) for number in range(230)]


@pytest.mark.parametrize(
    ("flag", "permission"),
    [("pull", Permission.READ), ("triage", Permission.TRIAGE), ("push", Permission.WRITE), ("admin", Permission.ADMIN)],
)
async def test_permission_follows_the_flags(repo, client, flag, permission) -> None:
    repo.permissions["kim"] = flag
    assert await client.permission("kim") == permission


@pytest.mark.parametrize(
    ("answer", "permission"),
    [
        pytest.param({"permission": "read", "role_name": "triage"}, Permission.TRIAGE, id="role"),
        pytest.param({"permission": "write", "role_name": "maintain"}, Permission.MAINTAIN, id="maintainer"),
        pytest.param({"permission": "write", "role_name": "release captain"}, Permission.WRITE, id="custom-role"),
        pytest.param({"permission": "read"}, Permission.READ, id="no-role"),
        pytest.param({"permission": "read", "role_name": "triage", "user": {"permissions": None}}, 2, id="null-flags"),
        pytest.param({"permission": None}, Permission.NONE, id="nothing"),
    ],
)
def test_without_flags_permission_follows_the_role(answer, permission) -> None:
    assert permission_of(answer) == permission


async def test_labels_are_read_added_and_removed(server, repo, client) -> None:
    server.world.open_issue(repo)
    assert await client.repository_labels() == {"bug", "area: lexer"}
    await client.add_labels(1, ["bug", "area: lexer"])
    await client.remove_label(1, "area: lexer")
    await client.remove_label(1, "area: lexer")
    assert (await client.issue(1)).labels == ("bug",)


async def test_reactions_are_added(server, repo, client) -> None:
    server.world.open_issue(repo)
    comment = server.world.comment(repo, 1, "/triage")
    await client.react("eyes", issue=1)
    await client.react("rocket", comment=comment["id"])
    assert server.world.reactions == [("issue", 1, "eyes"), ("comment", comment["id"], "rocket")]


async def test_pages_are_followed_if_a_server_returns_fewer_items_than_requested(server, repo, client) -> None:
    server.world.open_issue(repo)
    server.world.most_a_page = 10
    for number in range(25):
        server.world.comment(repo, 1, str(number))
    assert len(await client.comments(1)) == 25


async def test_files_of_the_repository_and_of_the_organisation(server, repo, client) -> None:
    repo.files[".github/triage.yml"] = "mode: label\n"
    assert await client.file(".github/triage.yml") == "mode: label\n"
    assert await client.file("README.md") is None
    assert await client.organisation_file("triage.yml") is None
    assert await client.organisation_file("triage.yml") is None
    assert len([call for call in server.asked("POST", "access_tokens") if "repositories" in call.body]) == 1


LARGE = "enabled: false\n" + "#" * 140_000
UNREADABLE = {
    "utf-16": ("enabled: false\n".encode("utf-16"), 1, "not UTF-8 text but UTF-16", "enabled: false"),
    "latin-1": ("# x\n# für uns\nenabled: false\n".encode("latin-1"), 2, "not UTF-8 text", "enabled: false"),
    "large": (LARGE, 1, "larger than 131,072 bytes", "enabled: false"),
    "very-large": ("#" * 1_100_000, 1, "larger than 131,072 bytes", ""),
    "directory": ({"type": "dir"}, 1, "not a file but a directory", ""),
    "submodule": ({"type": "submodule", "sha": "0"}, 1, "not a file but a submodule", ""),
    "dangling-link": ({"type": "symlink", "target": "nowhere"}, 1, "not a file but a symlink", ""),
    "not-base64": ({"type": "file", "content": "a", "size": 1}, 1, "not decodable", ""),
}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("whose", ["repository", "organisation"])
async def test_an_unreadable_file_is_not_reported_as_absent(server, repo, client, name, whose) -> None:
    content, line, reason, glimpse = UNREADABLE[name]
    owner = repo if whose == "repository" else server.world.repository("octo/.github")
    owner.files[".github/triage.yml"] = content
    with pytest.raises(UnreadableFileError, match=f"^{reason}$") as raised:
        await (client.file if whose == "repository" else client.organisation_file)(".github/triage.yml")
    assert raised.value.line == line
    assert raised.value.digest
    assert glimpse in raised.value.glimpse


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("whose", ["repository", "organisation"])
async def test_an_unreadable_configuration_is_invalid_and_not_absent(server, repo, client, name, whose) -> None:
    content, line, reason, glimpse = UNREADABLE[name]
    owner = repo if whose == "repository" else server.world.repository("octo/.github")
    owner.files[".github/triage.yml"] = content
    found = await find_config(client)
    assert found.config.mode == "dry-run"
    assert [str(fault) for fault in found.faults] == [f"line {line}: the file cannot be read: {reason}"]
    assert found.may_tell is not bool(glimpse), "told once, unless it switches comments off"
    assert found.digest
    kept = await find_config(client, "enabled: false\n")
    assert not kept.config.enabled


async def test_an_organisations_file_is_read_with_a_token_for_that_repository_only(server, repo, client) -> None:
    server.world.repository("octo/.github").files[".github/triage.yml"] = "mode: dry-run\n"
    assert await client.organisation_file(".github/triage.yml") == "mode: dry-run\n"
    last = server.asked("POST", "access_tokens")[-1].body
    assert last == {"repositories": [".github"], "permissions": {"contents": "read", "metadata": "read"}}


async def test_the_newest_commit_is_returned_if_there_is_one(server, repo, client) -> None:
    assert await client.tip() == "a" * 40
    repo.head = ""
    assert await client.tip() is None
    server.fault = lambda _call: Fault(status=500)
    assert await client.tip() is None


async def test_the_header_for_git_contains_a_token_that_only_reads_code(server, repo, client) -> None:
    url, header = await client.clone_url_and_header()
    assert url == f"{server.url}/octo/parser.git"
    token = base64.b64decode(header.rpartition(" ")[2]).decode().partition(":")[2]
    assert server.world.tokens[token]["permissions"] == {"contents": "read", "metadata": "read"}


async def test_old_issues_are_listed_for_backfill(server, repo, client) -> None:
    for _ in range(5):
        server.world.open_issue(repo)
    repo.issues[2]["pull_request"] = {"url": "…"}
    repo.issues[4]["state"] = "closed"
    assert [issue.ref.number for issue in await client.issues(limit=2)] == [5, 3]


async def test_failed_deliveries_are_requested_again(server, github) -> None:
    def delivery(number: int, guid: str, status: int) -> dict:
        at = f"2025-01-01T00:00:0{number}Z"
        return {"id": number, "guid": guid, "event": "issues", "delivered_at": at, "status_code": status}

    server.world.deliveries = [delivery(4, "b", 502), delivery(3, "a", 202), delivery(2, "a", 502), delivery(1, "c", 0)]
    failed = await github.failed_deliveries("2025-01-01T00:00:02Z")
    assert [item.guid for item in failed] == ["b"]
    await github.redeliver(failed[0].id)
    assert server.world.redelivered == [4]
    assert server.asked("GET", "/deliveries")[0].authorization.count(".") == 2
    assert APP_ID


async def test_our_login_is_learnt_from_our_comments(server, repo, client) -> None:
    """A server's login for the App may differ from our slug, and responses may omit the App."""
    server.world.open_issue(repo)
    ours = await client.create_comment(1, "hello")
    server.world.comments[ours.id]["performed_via_github_app"] = None
    assert [comment.ours for comment in await client.comments(1)] == [True]


@pytest.mark.parametrize(
    ("answer", "permission"),
    [
        pytest.param({"permission": "read", "role_name": "triage"}, Permission.TRIAGE, id="triage-reads-as-read"),
        pytest.param({"permission": "write", "role_name": "maintain", "user": {}}, Permission.MAINTAIN, id="no-flags"),
        pytest.param({"permission": "write", "role_name": "release manager"}, Permission.WRITE, id="a-role-of-theirs"),
        pytest.param({"permission": "none", "role_name": None, "user": None}, Permission.NONE, id="none"),
        pytest.param({"role_name": "admin", "user": {"permissions": {"pull": True}}}, Permission.READ, id="flags-win"),
    ],
)
def test_without_flags_the_role_counts(answer: dict[str, object], permission: Permission) -> None:
    assert permission_of(answer) == permission


@pytest.mark.parametrize("header", [{}, {"X-Accepted-GitHub-Permissions": "issues=write"}], ids=["without", "with"])
async def test_a_missing_permission_is_named_with_and_without_githubs_header(server, repo, github, header) -> None:
    fault = Fault(status=403, headers=header, message="Resource not accessible by integration")
    server.fail("POST", "/issues/1/labels", fault)
    with pytest.raises(MissingPermissionError) as raised:
        await github.for_repository(ref_to(repo)).add_labels(1, ["bug"])
    assert raised.value.permissions == ("issues",)


async def test_open_pull_requests_are_read_only_with_permission(server, repo, github, caplog) -> None:
    other = server.world.repository("octo/lexer", head="a" * 40)
    repo.pulls = other.pulls = {8: {"title": "Lex faster", "files": ["lexer.py"]}, 9: {"title": "Docs", "files": []}}
    caplog.set_level("INFO")
    for _ in range(2):  # the refusal is cached
        assert await OpenPulls(github.for_repository(ref_to(repo)), "one")(["lexer.py"]) == ()
    assert [one.action for one in caplog.records if hasattr(one, "action")].count("pulls.unread") == 1
    tokens = server.asked("POST", "access_tokens")
    assert len([call for call in tokens if "pull_requests" in call.body["permissions"]]) == 1
    server.world.granted = {**GRANTED, "pull_requests": "read"}
    read = await OpenPulls(github.for_repository(ref_to(other)))(["lexer.py"])
    assert read == (OpenPull(8, "Lex faster", "", ("lexer.py",)), OpenPull(9, "Docs", ""))
