"""The main line of a branch, read from a real repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.git import Repository
from nodes.search.history.mainline import files_of, read_mainline
from tests.backtest.story import build
from tests.support.repositories import git


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, dict[str, str]]:
    path = tmp_path_factory.mktemp("story") / "feed"
    names = build(path)
    return Repository.open(path), names


def test_the_main_line_is_read_newest_first_with_what_merges_brought(
    history: tuple[Repository, dict[str, str]],
) -> None:
    repository, names = history
    line = read_mainline(repository, repository.resolve("HEAD"))
    assert len(line) == 7
    assert names["branch"] not in [landed.sha for landed in line]
    merge = next(landed for landed in line if landed.sha == names["two"])
    assert merge.parent == names["one"]
    assert [message.strip() for message in merge.merged] == ["Make the folder, closes GH-2"]
    assert (line[-1].sha, line[-1].parent) == (names["start"], "")


def test_only_what_came_after_a_commit_is_read(history: tuple[Repository, dict[str, str]]) -> None:
    repository, names = history
    line = read_mainline(repository, names["three"], after=names["one"])
    assert [landed.sha for landed in line] == [names["three"], names["two"]]
    assert read_mainline(repository, names["one"], after=names["one"]) == []


def test_a_merge_changed_what_its_branch_changed(history: tuple[Repository, dict[str, str]]) -> None:
    repository, names = history
    line = read_mainline(repository, names["two"])
    changed = files_of(repository, line)
    assert changed[names["two"]] == ("feed/store.py",)
    assert changed[names["one"]] == ("feed/dates.py", "tests/test_dates.py")
    assert "README.md" in changed[names["start"]]


def test_a_moved_file_counts_under_both_names(tmp_path: Path) -> None:
    build(tmp_path / "feed")
    git(tmp_path / "feed", "mv", "feed/store.py", "feed/disk.py")
    git(tmp_path / "feed", "commit", "--quiet", "-m", "Fix #5: call it disk")
    repository = Repository.open(tmp_path / "feed")
    line = read_mainline(repository, repository.resolve())[:1]
    assert set(files_of(repository, line)[line[0].sha]) == {"feed/store.py", "feed/disk.py"}
