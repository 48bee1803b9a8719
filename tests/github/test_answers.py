"""A response that is not GitHub's is retried and never interpreted as "deleted" or "not found"."""

from __future__ import annotations

import json

import pytest

from bot.errors import OutcomeUnknownError, RetryableError
from bot.github.app import GitHub
from bot.github.repository import RepositoryClient
from bot.github.responses import UndecodableError
from bot.ports import RepositoryRef
from tests.servers.github_server import Fault, GitHubServer
from tests.servers.github_world import INSTALLATION, Repo

HTML = {"Content-Type": "text/html"}
JSON = {"Content-Type": "application/json; charset=utf-8"}
PAGE = b"<html><body>Log in to use this network</body></html>"
OTHERS = {
    "html": Fault(200, HTML, content=PAGE),
    "html-called-json": Fault(200, JSON, content=PAGE),
    "json-called-html": Fault(200, HTML, content=b'{"number": 1}'),
    "truncated": Fault(200, JSON, content=b'{"number": 1, "title": "It fai'),
    "empty": Fault(200, JSON, content=b""),
    "not-utf-8": Fault(200, JSON, content=b'{"number": "\xff\xfe"}'),
    "deep": Fault(200, JSON, content=b"[" * 60_000),
    "another-object": Fault(200, JSON, content=b'{"error": "login required"}'),
    "null": Fault(200, JSON, content=b"null"),
    "a-string": Fault(200, JSON, content=b'"log in"'),
    "a-list-of-strings": Fault(200, JSON, content=b'["log in"]'),
    "not-modified": Fault(304, {}, content=b""),
    "a-page-that-is-not-there": Fault(404, HTML, content=PAGE),
    "a-page-that-is-gone": Fault(410, HTML, content=PAGE),
    "forbidden": Fault(403, HTML, content=PAGE),
    "unauthorized": Fault(401, HTML, content=PAGE),
    "other-json-not-found": Fault(404, JSON, content=b'{"error": "no such host"}'),
    "login-elsewhere": Fault(302, {"Location": "http://localhost:1/login"}),
    "login-here": Fault(302, {"Location": "/login"}),
}
READS = {
    "issue": lambda client: client.issue(1),
    "comments": lambda client: client.comments(1),
    "labels": lambda client: client.repository_labels(),
    "types": lambda client: client.issue_types(),
    "permission": lambda client: client.permission("kim"),
    "file": lambda client: client.file(".github/triage.yml"),
    "organisation-file": lambda client: client.organisation_file(".github/triage.yml"),
    "issues": lambda client: client.issues(),
    "search": lambda client: client.search_issues("advance", 5),
}


@pytest.fixture
def repo(server: GitHubServer) -> Repo:
    server.world.repository("octo/.github")
    repo = server.world.repository("octo/parser", labels={"bug"}, head="a" * 40)
    repo.files[".github/triage.yml"] = "mode: label\n"
    server.world.open_issue(repo)
    return repo


@pytest.fixture
def client(github: GitHub, repo: Repo) -> RepositoryClient:
    return github.for_repository(RepositoryRef("127.0.0.1", INSTALLATION, repo.id, repo.owner, repo.name))


@pytest.mark.parametrize("fault", OTHERS.values(), ids=OTHERS)
async def test_a_read_with_a_foreign_response_is_retried_later(server, client, fault) -> None:
    server.fault = lambda call: fault if call.method == "GET" else None
    for read in READS.values():
        with pytest.raises(RetryableError):
            await read(client)
    server.fault = lambda _call: None
    for name, read in READS.items():
        assert await read(client) is not None or name == "organisation-file"


WRITES = {
    "comment": lambda client: client.create_comment(1, "hello"),
    "reaction": lambda client: client.react("eyes", issue=1),
    "labels": lambda client: client.add_labels(1, ["bug"]),
    "edit": lambda client: client.edit_comment(1, "hello"),
    "type": lambda client: client.set_type(1, "Bug"),
    "unlabel": lambda client: client.remove_label(1, "bug"),
}
UNANSWERED = {name: OTHERS[name] for name in ("html", "truncated", "empty", "a-page-that-is-not-there", "forbidden")}


@pytest.mark.parametrize("fault", UNANSWERED.values(), ids=UNANSWERED)
async def test_a_write_with_a_foreign_response_does_not_count_as_done(server, client, fault) -> None:
    server.fault = lambda call: fault if call.method != "GET" and "access_tokens" not in call.path else None
    for write in WRITES.values():
        with pytest.raises((OutcomeUnknownError, UndecodableError)):
            await write(client)


async def test_a_token_is_requested_again_after_an_html_page(server, client) -> None:
    server.fail("POST", "access_tokens", OTHERS["html"], OTHERS["another-object"])
    with pytest.raises(RetryableError):
        await client.issue(1)
    assert await client.issue(1) is not None


async def test_an_html_page_with_401_discards_no_token(server, client) -> None:
    await client.issue(1)
    server.fail("GET", "/labels", OTHERS["unauthorized"])
    with pytest.raises(UndecodableError):
        await client.repository_labels()
    await client.repository_labels()
    assert len(server.asked("POST", "access_tokens")) == 1


async def test_the_apps_login_is_not_learnt_from_a_foreign_response(server, github, client) -> None:
    server.fail("GET", "/app", OTHERS["another-object"])
    with pytest.raises(UndecodableError):
        await client.comments(1)
    assert await client.comments(1) == []


async def test_unreadable_deliveries_are_requested_in_the_next_round(server, github) -> None:
    for content in (
        PAGE,
        b'[{"delivered_at": "9"}]',
        json.dumps([{"guid": "a", "delivered_at": "9", "id": "x"}]).encode(),
    ):
        server.fail("GET", "/deliveries", Fault(200, JSON, content=content))
        with pytest.raises(UndecodableError):
            await github.failed_deliveries("2025-01-01T00:00:00Z")
