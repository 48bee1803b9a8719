"""The stored hashes of a repository's issues, for comparisons."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.ports import CommandEffects, Comment, IssueRef, Relation, RepositoryRef
from bot.store.databases.sqlite import SqliteStore
from bot.store.issues.past_issues import PastIssues, ReadingProgress, StoredIssue
from bot.store.tables import Store
from nodes.search.issue.similar import words_of

REF = RepositoryRef("github.com", 7, 9, "octo", "parser")
OTHER = RepositoryRef("github.com", 7, 91, "octo", "other")
EARLY, LATE = "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"


@pytest.fixture
def past(store: Store) -> PastIssues:
    return store.for_repository(REF).past


def kept(number: int, title: str = "It fails", at: str = EARLY, *, is_open: bool = True) -> StoredIssue:
    return StoredIssue(number, is_open, at, words_of(title, "in the lexer"))


async def test_older_issues_come_newest_first_and_only_those_of_the_repository(store: Store, past: PastIssues) -> None:
    await past.keep([kept(number) for number in (3, 9, 1)])
    await store.for_repository(OTHER).past.keep([kept(2)])
    assert [one.number for one in await past.before(9)] == [3, 1]
    assert (await past.before(2))[0] == kept(1)


async def test_the_latest_state_of_an_issue_counts_in_any_order(past: PastIssues) -> None:
    await past.keep([kept(1, "As it is now", LATE)])
    await past.keep([kept(1, "As it was", EARLY)])
    assert await past.before(2) == [kept(1, "As it is now", LATE)]
    await past.mark(1, is_open=False)
    await past.mark(5, is_open=False)
    assert [one.is_open for one in await past.before(9)] == [False]


async def test_deleted_issues_are_removed_from_the_index(store: Store, past: PastIssues) -> None:
    await past.store_page([kept(1), kept(2)], ReadingProgress(2, 2))
    await past.forget(1)
    assert [one.number for one in await past.before(9)] == [2]
    await store.of_repository(REF.key).past.clear()
    assert await past.before(9) == []
    assert await past.progress() is None


async def test_a_walk_continues_where_it_stopped(past: PastIssues) -> None:
    assert await past.progress() is None
    await past.store_page([kept(8)], ReadingProgress(2, 1))
    assert await past.progress() == ReadingProgress(2, 1)
    await past.store_page([], ReadingProgress(3, 1, finished=True))
    assert await past.progress() == ReadingProgress(3, 1, finished=True)


async def test_a_denial_on_either_issue_applies(store: Store, past: PastIssues) -> None:
    def comment(number: int) -> Comment:
        return Comment(number, 1, "mona", author_is_bot=False, body="", url="", created_at=EARLY, updated_at=EARLY)

    for issue, other, duplicate in [(4, 2, False), (7, 4, False), (4, 3, True)]:
        control = store.for_issue(IssueRef("github.com", 7, 9, "octo", "parser", issue)).control
        effects = CommandEffects(relations=(Relation(other, duplicate),))
        await control.apply(comment(100 * issue + other), 0, "not-duplicate", effects)
    elsewhere = store.for_issue(IssueRef("github.com", 7, 91, "octo", "other", 4)).control
    await elsewhere.apply(comment(1), 0, "not-duplicate", CommandEffects(relations=(Relation(1, False),)))
    assert await past.confirmed_distinct(4) == {2, 7}
    assert await past.confirmed_distinct(2) == {4}
    assert await past.confirmed_distinct(1) == set()


async def test_no_text_of_an_issue_is_stored(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    await store.of_repository(REF.key).past.keep([kept(1, "The unmistakeable zebra")])
    await store.aclose()
    assert not any(b"zebra" in file.read_bytes() for file in tmp_path.iterdir())
