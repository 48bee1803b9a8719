"""The port over the store and GitHub: similar issues, in their current state."""

from __future__ import annotations

import pytest

from bot.github.repository import RepositoryClient
from bot.ports import IssueRef, RepositoryRef
from bot.runs.past import StoredPast, learn_page, to_stored
from bot.store.issues.past_issues import PastIssues
from nodes.context.ports import PastUnreadableError
from tests.servers.github_server import Fault, GitHubServer
from tests.servers.github_world import Repo

TITLE, BODY = "Lexer hangs on an open quote", "Reading an open quote at the end of a file never returns."


def stored(past: PastIssues, client: RepositoryClient, ref: RepositoryRef, number: int = 99) -> StoredPast:
    return StoredPast(past, client, IssueRef(ref.host, ref.installation_id, ref.id, ref.owner, ref.name, number))


async def filled(server: GitHubServer, repo: Repo, client: RepositoryClient, past: PastIssues, closed: int) -> None:
    """Store many reports of one failure, the oldest closed, and other issues."""
    for number in range(1, 13):
        server.world.open_issue(repo, TITLE, BODY)
        repo.issues[number]["state"] = "closed" if number <= closed else "open"
    for word in ("Printing", "Colours", "Fonts", "Menus"):
        server.world.open_issue(repo, f"{word} are missing", f"{word} were there in an earlier version.")
    await learn_page(past, client)


async def test_open_issues_are_among_the_nearest_however_many_were_closed(server, repo, ref, client, past) -> None:
    await filled(server, repo, client, past, closed=11)
    nearby = await stored(past, client, ref).similar(TITLE, BODY, 6)
    assert 12 in nearby.numbers
    assert len(nearby.numbers) == 6
    assert len(nearby.past) == 16


async def test_only_older_issues_are_near(server, repo, ref, client, past) -> None:
    await filled(server, repo, client, past, closed=0)
    nearby = await stored(past, client, ref, number=4).similar(TITLE, BODY, 6)
    assert nearby.numbers == (1, 2, 3)


async def test_an_issue_is_read_as_it_is_now_and_once(server, repo, ref, client, past) -> None:
    await filled(server, repo, client, past, closed=0)
    repo.issues[2].update(title="Renamed", state="closed")
    port = stored(past, client, ref)
    issue = await port.read(2)
    assert issue is not None
    assert (issue.title, issue.state, issue.url) == ("Renamed", "closed", f"{server.url}/octo/parser/issues/2")
    before = len(server.calls)
    assert await port.read(2) == issue
    assert len(server.calls) == before


async def test_deleted_and_moved_issues_and_pull_requests_are_deleted_from_the_store(
    server, repo, ref, client, past
) -> None:
    await filled(server, repo, client, past, closed=0)
    other = server.world.repository("octo/other")
    server.world.transfer(repo, 3, other)
    del repo.issues[1]
    repo.issues[2]["pull_request"] = {"url": "https://x"}
    port = stored(past, client, ref)
    assert [await port.read(number) for number in (1, 2, 3, 500)] == [None] * 4
    assert [one.number for one in await past.before(5)] == [4]


async def test_a_failure_of_github_is_reported_in_one_line(server, repo, ref, client, past) -> None:
    server.fail("GET", "/issues/1", *[Fault(status=403, message="Forbidden")] * 9)
    with pytest.raises(PastUnreadableError, match="403"):
        await stored(past, client, ref).read(1)


async def test_a_huge_issue_is_stored_in_bounded_size(server, repo, client, past) -> None:
    server.world.open_issue(repo, "x" * 300, "\n".join(f"word{n} log{n}" for n in range(5_000)))
    issue = await client.issue(1)
    assert issue is not None
    assert len(to_stored(issue).words.body) <= 5 * 800
