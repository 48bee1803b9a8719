"""Old issues are read page by page, newest first, each page once."""

from __future__ import annotations

import pytest

from bot.errors import RateLimitedError, RetryableError
from bot.github.repository import RepositoryClient
from bot.runs.past import is_enough, learn_page, update_stored_issue
from bot.store.issues.past_issues import PastIssues, ReadingProgress
from tests.servers.github_server import Fault, GitHubServer
from tests.servers.github_world import Repo

LIMITED = Fault(status=403, headers={"Retry-After": "40"}, message="You have exceeded a secondary rate limit")


@pytest.fixture(autouse=True)
def five_issues(server: GitHubServer, repo: Repo) -> None:
    """Create five issues: one closed, one a pull request, two per page."""
    for number in range(1, 6):
        server.world.open_issue(repo, f"Failure number {number}", "It fails.")
    repo.issues[2]["state"] = "closed"
    repo.issues[3]["pull_request"] = {"url": "https://x"}
    server.world.most_a_page = 2


def pages(server: GitHubServer) -> list[str]:
    return [call.query["page"][0] for call in server.asked("GET", "/issues")]


async def numbers(past: PastIssues) -> list[tuple[int, bool]]:
    return [(one.number, one.is_open) for one in await past.before(100)]


async def test_every_page_is_read_once_and_pull_requests_are_left_out(
    server: GitHubServer, client: RepositoryClient, past: PastIssues
) -> None:
    walks = [await learn_page(past, client) for _ in range(4)]
    assert walks == [
        ReadingProgress(2, 2),
        ReadingProgress(3, 3),
        ReadingProgress(4, 4, finished=True),
        ReadingProgress(4, 4, finished=True),
    ]
    assert await numbers(past) == [(5, True), (4, True), (2, False), (1, True)]
    assert pages(server) == ["1", "2", "3"]


async def test_a_walk_that_was_cut_off_continues_with_its_page(
    server: GitHubServer, client: RepositoryClient, past: PastIssues
) -> None:
    await learn_page(past, client)
    server.fail("GET", "/issues", *[LIMITED] * 9)
    with pytest.raises(RateLimitedError) as limited:
        await learn_page(past, client)
    assert limited.value.after == 40
    assert await past.progress() == ReadingProgress(2, 2)


async def test_a_page_that_fails_is_requested_later(
    server: GitHubServer, client: RepositoryClient, past: PastIssues
) -> None:
    server.fail("GET", "/issues", *[Fault(status=502)] * 9)
    with pytest.raises(RetryableError):
        await learn_page(past, client)
    assert await past.progress() is None


@pytest.mark.parametrize(
    ("walk", "expected"),
    [
        pytest.param(ReadingProgress(3, 200), False, id="more-to-come"),
        pytest.param(ReadingProgress(11, 1_000), True, id="a-thousand-issues"),
        pytest.param(ReadingProgress(21, 30), True, id="pull-requests-for-the-most-part"),
        pytest.param(ReadingProgress(2, 4, finished=True), True, id="all-of-them"),
    ],
)
def test_the_walk_over_past_issues_ends(walk: ReadingProgress, expected: bool) -> None:
    assert is_enough(walk) == expected


async def test_an_issue_that_is_read_is_stored_or_deleted_by_its_state(
    server: GitHubServer, repo: Repo, client: RepositoryClient, past: PastIssues
) -> None:
    for number in (1, 3):
        await update_stored_issue(past, number, await client.issue(number))
    assert await numbers(past) == [(1, True)]
    del repo.issues[1]
    await update_stored_issue(past, 1, await client.issue(1))
    assert await numbers(past) == []
