"""Only git's immutable answers are cached."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.search.git import Repository
from nodes.search.git.objects import QueryCache
from nodes.search.history.log import Log
from tests.support.repositories import git, make_repository

pytestmark = pytest.mark.usefixtures("started_git")

FILES = {"a.py": "one = 1\ntwo = 2\n", "b/c.py": "three = 3\n"}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40)), max_size=60))
def test_the_cache_of_queries_is_bounded_and_correct(entries: list[tuple[int, int]]) -> None:
    remembered, last = QueryCache(largest=320), dict[int, tuple[int, int]]()
    for number, (requested, size) in enumerate(entries):
        if size <= 20:
            last[requested] = (number, size)
        remembered.keep(requested, number, size)
    held = {requested: found for requested in range(10) if (found := remembered.get(requested)) is not None}
    assert all(found == last[requested][0] for requested, found in held.items())
    assert sum(last[requested][1] for requested in held) <= 320


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    started: list[object] = []
    init = subprocess.Popen.__init__

    def counted(self: subprocess.Popen[bytes], *given: Any, **more: Any) -> None:
        started.append(given)
        init(self, *given, **more)

    monkeypatch.setattr(subprocess.Popen, "__init__", counted)
    return started


def test_a_repeated_query_starts_git_once(tmp_path: Path, processes: list[object]) -> None:
    repository = Repository.open(tmp_path) if make_repository(tmp_path, FILES) else None
    assert repository is not None
    sha = repository.resolve()

    def ask() -> object:
        blobs = [entry.blob for entry in repository.under(sha, "a.py", "b")]
        blame = Log(repository, sha).blame("a.py", [(1, 2)], None)
        return repository.resolve(sha), repository.lines(sha, "a.py", 2, 2), list(repository.read(blobs)), blame

    first, before = ask(), len(processes)
    assert ask() == first
    assert len(processes) == before


def test_a_branch_is_resolved_again(tmp_path: Path) -> None:
    old = make_repository(tmp_path, FILES)
    repository = Repository.open(tmp_path)
    assert repository.resolve() == old
    assert repository.lines("HEAD", "a.py", 1, 1) == "one = 1"
    new = make_repository(tmp_path, {"a.py": "one = 11\n"})
    assert repository.resolve() == new != old
    assert repository.lines("HEAD", "a.py", 1, 1) == "one = 11"


def test_blobs_are_returned_in_the_requested_order(tmp_path: Path) -> None:
    sha = make_repository(tmp_path, {f"{n}.txt": f"{n}\n" for n in range(6)})
    repository = Repository.open(tmp_path)
    blobs = [entry.blob for entry in repository.tree(sha)]
    list(repository.read(blobs[1::2]))
    requested = [blobs[5], "0" * 40, blobs[0], blobs[1], blobs[4]]
    assert list(repository.read(requested)) == [(blobs[n], b"%d\n" % n) for n in (5, 0, 1, 4)]


def test_a_deepened_clone_is_queried_again(tmp_path: Path) -> None:
    make_repository(tmp_path / "theirs", FILES)
    sha = make_repository(tmp_path / "theirs", {"a.py": "one = 1\ntwo = 22\n"})
    git(tmp_path, "clone", "--quiet", "--depth=1", (tmp_path / "theirs").as_uri(), "ours")
    repository = Repository.open(tmp_path / "ours")
    shallow = Log(repository, sha).between(None, sha)
    git(tmp_path / "ours", "fetch", "--quiet", "--unshallow")
    assert (len(shallow), len(Log(repository, sha).between(None, sha))) == (1, 2)
