"""A small repository that expands without limit costs limited time and memory, and is partly searched."""

from __future__ import annotations

import logging
import os
import resource
import sys
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from nodes.search.engine import Engine, Indexes
from nodes.search.git import Repository
from nodes.search.git.errors import GitFailed
from nodes.search.git.running import ReadLimits, Running
from nodes.search.index.postings import read_log
from nodes.search.types import Query
from tests.support.bombs import log_bomb, message_bomb, silent_bomb, tree_bomb
from tests.support.repositories import git, make_repository

pytestmark = [pytest.mark.tried("git bombs and hostile git servers"), pytest.mark.usefixtures("started_git")]

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ReadLimits(entries=5_000, listing=3_000_000, output=3_000_000, seconds=60.0)


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        pytest.param(ReadLimits(entries=5_000), 5_000, id="entries"),
        pytest.param(ReadLimits(listing=3_000_000), 4_000, id="bytes"),
        pytest.param(ReadLimits(seconds=0.2), 200_000, id="seconds"),
    ],
)
def test_a_tree_bomb_is_listed_up_to_a_limit_and_reported_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, limits: ReadLimits, most: int
) -> None:
    sha = tree_bomb(tmp_path)
    assert git(tmp_path, "count-objects").startswith(b"14 objects")
    repository = Repository.open(tmp_path, limits)
    with caplog.at_level(logging.WARNING):
        found = repository.tree(sha)
        repository.tree(sha)
    assert len(found) <= most
    assert {entry.size for entry in found} <= {6}
    assert [line for line in caplog.messages if "too large to index completely" in line] == caplog.messages
    assert len(caplog.messages) == 1
    assert repository.shortfalls.unreported_limits() == ("repository.files",)
    assert repository.shortfalls.unreported_limits() == ()


def test_the_second_index_of_a_tree_bomb_adds_little_memory(tmp_path: Path) -> None:
    sha, files = tree_bomb(tmp_path), 8_000
    repository = Repository.open(tmp_path, ReadLimits(entries=files))
    indexes = Indexes(None, lambda _phase, _done, _total: None, 1_000_000)
    indexes.load(repository, sha, "source")
    tracemalloc.start()
    try:
        indexes.load(repository, sha, "all")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000 * files


def test_the_default_limits_stop_a_tree_bomb(tmp_path: Path) -> None:
    sha = tree_bomb(tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = Repository.open(tmp_path).tree(sha)
    assert 0 < len(found) <= ReadLimits().entries
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # kB


def test_trees_without_a_file_end_at_the_time_limit(tmp_path: Path) -> None:
    sha = silent_bomb(tmp_path)
    repository = Repository.open(tmp_path, ReadLimits(seconds=0.3))
    assert repository.tree(sha) == []
    assert repository.shortfalls.unreported_limits() == ("repository.files",)


def test_a_path_that_is_a_bomb_is_not_walked(tmp_path: Path) -> None:
    sha = tree_bomb(tmp_path)
    repository = Repository.open(tmp_path, SMALL)
    first = git(tmp_path, "ls-tree", "--name-only", sha).decode().split("\n")[0]
    assert repository.entry(sha, first) is None
    assert repository.shortfalls.unreported_limits() == ()


def test_a_log_bomb_is_read_up_to_the_last_whole_commit(tmp_path: Path) -> None:
    sha = log_bomb(tmp_path)
    repository = Repository.open(tmp_path, SMALL)
    log = read_log(repository, git(tmp_path, "rev-parse", f"{sha}^").decode().strip(), 10)
    assert log == b""
    assert repository.shortfalls.unreported_limits() == ("repository.history",)
    for number in range(3):
        sha = make_repository(tmp_path / "plain", {"a.py": f"a = {number}\n"}, message=f"Change {number} " + "x" * 900)
    plain = Repository.open(tmp_path / "plain", ReadLimits(output=1_500))
    log = read_log(plain, sha, 10)
    assert log is not None
    assert log.startswith(b"\x01Change 2")
    assert log.count(b"\x01") == 1


def test_a_message_bomb_is_read_within_limits(tmp_path: Path) -> None:
    sha = message_bomb(tmp_path, size=40_000_000)
    repository = Repository.open(tmp_path, SMALL)
    assert read_log(repository, sha, 10) == b""
    assert repository.output("log", "--format=%B", sha) is None


@pytest.mark.parametrize("bomb", [tree_bomb, log_bomb])
def test_files_within_the_limits_are_searched(tmp_path: Path, bomb: object) -> None:
    sha = bomb(tmp_path)  # type: ignore[operator]
    engine = Engine(tmp_path)
    engine.repository = Repository.open(tmp_path, SMALL)
    found = engine.find(Query(title="x = 1 in real.py is wrong"), sha)
    assert found.commit == sha
    assert engine.repository.shortfalls.unreported_limits()


def test_a_slow_command_leaves_less_time_for_later_ones(tmp_path: Path) -> None:
    sha = silent_bomb(tmp_path)
    repository = Repository.open(tmp_path, ReadLimits(seconds=1.0))
    question = ("ls-tree", "-r", sha)
    assert repository.output(*question) is None
    assert repository.shortfalls.timeout_for(60.0) == 15.0
    assert repository.shortfalls.timeout_for(1.0) == 1.0


def test_a_commit_that_takes_too_long_to_search_is_not_searched_for_the_next_text(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": "x = 1\n"})
    small = git(tmp_path, "rev-parse", "HEAD").decode().strip()
    bomb = tree_bomb(tmp_path)
    repository = Repository.open(tmp_path, ReadLimits(seconds=0.5))
    assert repository.output("grep", "-F", "-e", "never", bomb, "--") is None
    before = os.times().children_user + os.times().children_system
    for paths in ((), (":(exclude)*.md",), ("*.py",)):
        assert repository.output("--no-pager", "grep", "-F", "-e", "other", bomb, "--", *paths) is None
    assert os.times().children_user + os.times().children_system == before
    assert repository.output("grep", "-F", "-e", "x = 1", small, "--") == f"{small}:a.py:x = 1\n".encode()
    assert repository.output("grep", "-F", "-e", "x = 1", bomb, "--", "a.py") == b""


def test_only_the_object_that_needs_too_much_memory_is_lost(tmp_path: Path) -> None:
    sha = message_bomb(tmp_path, size=40_000_000)
    blob = git(tmp_path, "hash-object", "-w", "--stdin", stdin=b"x = 1\n").decode().strip()
    repository = Repository.open(tmp_path, ReadLimits(memory=30_000_000))
    assert list(repository.contents([blob, sha, blob])) == [b"x = 1\n", None, b"x = 1\n"]
    assert dict(repository.read([sha])) == {}


def test_an_endless_command_is_ended(tmp_path: Path) -> None:
    with Running(["yes"], stdin=0, env={"PATH": "/usr/bin:/bin"}, limits=SMALL, most=100_000) as running:
        assert len(running.out.read()) == 100_000
        assert running.cut == "bytes"
    assert running.process.poll() is not None
    with Running(["sleep", "60"], stdin=0, env={"PATH": "/usr/bin:/bin"}, limits=ReadLimits(seconds=0.1)) as running:
        assert running.out.read() == b""
        assert running.cut == "seconds"


def test_a_command_that_ctrl_c_ended_has_failed_and_reached_no_limit() -> None:
    # A suite that a shell started in the background, and what it starts, ignore the signal.
    ends = "import os, signal; signal.signal(2, signal.SIG_DFL); print('first', flush=True); os.kill(os.getpid(), 2)"
    interrupted = [sys.executable, "-c", ends]
    with Running(interrupted, stdin=0, env={"PATH": "/usr/bin:/bin"}, limits=SMALL) as running:
        assert running.out.read() == b"first\n"
        with pytest.raises(GitFailed, match="Ctrl-C"):
            running.finish()
        assert running.cut is None


def test_a_record_without_an_end_is_not_read_to_its_end() -> None:
    zeros = ["head", "-c", "3000000", "/dev/zero"]
    with Running(zeros, stdin=0, env={"PATH": "/usr/bin:/bin"}, limits=SMALL) as running:
        assert list(running.records(b"\n", 10)) == []
        assert running.cut == "bytes"
