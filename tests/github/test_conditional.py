"""Unchanged data costs no rate limit: GitHub answers 304 to a known ETag."""

from __future__ import annotations

import pytest

from bot.github.app import GitHub
from bot.github.channel import MAX_BYTES, MAX_RESPONSE_BYTES, MAX_RESPONSES, ResponseCache
from bot.github.repository import RepositoryClient
from bot.github.responses import GitHubResponse
from bot.ports import RepositoryRef
from tests.servers.github_server import Fault, GitHubServer
from tests.servers.github_world import INSTALLATION, Repo

CONFIG = ".github/triage.yml"


@pytest.fixture
def repo(server: GitHubServer) -> Repo:
    repo = server.world.repository("octo/parser", labels={"bug"}, head="a" * 40)
    repo.files[CONFIG] = "mode: label\n"
    server.world.open_issue(repo)
    return repo


@pytest.fixture
def client(github: GitHub, repo: Repo) -> RepositoryClient:
    return github.for_repository(RepositoryRef("127.0.0.1", INSTALLATION, repo.id, repo.owner, repo.name))


async def test_unchanged_responses_are_reused_and_changes_are_seen(server, repo, client) -> None:
    reads = (lambda: client.file(CONFIG), client.repository_labels, lambda: client.issue(1), client.tip)
    first = [await read() for read in reads]
    assert not server.free
    assert [await read() for read in reads] == first
    assert len(server.free) == 4
    repo.files[CONFIG] = "mode: dry-run\n"
    repo.labels.add("help wanted")
    repo.issues[1]["title"] = "It fails again"
    repo.head = "b" * 40
    again = [await read() for read in reads]
    assert again[0] == "mode: dry-run\n"
    assert again[1] == {"bug", "help wanted"}
    assert again[2].title == "It fails again"
    assert again[3] == "b" * 40
    del repo.files[CONFIG]
    assert await client.file(CONFIG) is None


async def test_a_new_token_gets_the_whole_response(server, client) -> None:
    await client.issue(1)
    server.world.tokens.clear()
    assert (await client.issue(1)).title == "It fails"
    assert not server.free


async def test_two_repositories_share_nothing(server, github, repo, client) -> None:
    """The names are the same, one after the other; the ids differ."""
    assert await client.file(CONFIG) == "mode: label\n"
    repo.name = "older"
    other = server.world.repository("octo/parser", files={CONFIG: "mode: dry-run\n"})
    there = github.for_repository(RepositoryRef("127.0.0.1", INSTALLATION, other.id, "octo", "parser"))
    assert await there.file(CONFIG) == "mode: dry-run\n"


async def test_a_failed_response_replaces_no_stored_one(server, client) -> None:
    await client.issue(1)
    server.fail("GET", "/issues/1", Fault(200, {"Content-Type": "text/html", "ETag": '"x"'}, content=b"<html>"))
    with pytest.raises(Exception, match="not GitHub's"):
        await client.issue(1)
    assert (await client.issue(1)).title == "It fails"
    assert len(server.free) == 1


def test_the_cache_of_responses_is_bounded() -> None:
    known = ResponseCache()
    for number in range(MAX_RESPONSES + 10):
        known.put(number, GitHubResponse(200, {}, etag="e", content=b"{}"))
    assert (known.etag(9), known.etag(10)) == ("", "e")
    known.put("large", GitHubResponse(200, {}, etag="e", content=b" " * (MAX_RESPONSE_BYTES + 1)))
    assert known.etag("large") == ""
    for number in range(MAX_BYTES // MAX_RESPONSE_BYTES + 5):
        known.put(f"{number}", GitHubResponse(200, {}, etag="e", content=b" " * MAX_RESPONSE_BYTES))
    assert sum(bool(known.etag(f"{number}")) for number in range(100)) == MAX_BYTES // MAX_RESPONSE_BYTES
    known.put("1", GitHubResponse(200, {}, etag="", content=b"{}"))
