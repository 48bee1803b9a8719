"""The cache may lose entries, respects its size limit, and never changes a result."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time

import pytest

from nodes.search.cache import ABANDONED, Cache
from tests.support.patience import patience


@pytest.fixture
def path(tmp_path):
    return tmp_path / "c.trees"


def test_a_stored_tree_is_found(path):
    Cache(path).put_tree("a", b"1")
    Cache(path).put_tree("b", b"2")
    assert [Cache(path).tree(key) for key in "abc"] == [b"1", b"2", None]
    assert Cache(path).size() == 2


def test_the_cache_stays_within_its_size(path):
    cache = Cache(path, largest=1_000)
    for number in range(10):
        cache.put_tree(f"k{number}", bytes(400))
        assert cache.tree(f"k{number}") == bytes(400)
    assert cache.size() <= 1_000


def test_only_the_last_trees_are_stored(path):
    cache = Cache(path)
    for number in range(8):
        cache.put_tree(f"c{number}:v1", b"%d" % number)
        cache.tree("c0:v1")  # used repeatedly
    kept = [b"0", None, None, b"3", b"4", b"5", b"6", b"7"]
    assert [cache.tree(f"c{number}:v1") for number in range(8)] == kept
    assert cache.latest_tree("v1") == b"7"
    assert cache.latest_tree("v2") is None


def test_a_tree_that_is_too_large_is_not_stored(path):
    cache = Cache(path, largest=1_000)
    cache.put_tree("c:v", bytes(501))
    assert cache.tree("c:v") is None


def test_a_file_that_a_killed_process_left_is_removed_in_time(path):
    cache = Cache(path)
    cache.put_tree("a:v", b"1")
    for name, age in ((".left", 2 * ABANDONED), (".written", 0)):
        (path / name).write_bytes(b"half")
        os.utime(path / name, (time.time() - age,) * 2)
    cache.put_tree("b:v", b"2")
    assert {file.name for file in path.iterdir()} == {".written", "a%3Av", "b%3Av"}
    assert cache.size() == 2


def test_the_database_of_an_earlier_version_is_removed(path):
    for suffix in ("", "-wal", "-shm"):
        path.with_name(f"c.sqlite{suffix}").write_bytes(b"SQLite format 3\0")
    Cache(path).put_tree("a", b"1")
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_folder_that_cannot_be_written_is_reported_once(path, caplog):
    path.touch()
    cache = Cache(path)
    cache.put_tree("a", b"1")
    assert cache.tree("a") is None
    assert cache.latest_tree("a") is None
    assert len(caplog.records) == 1


def test_a_full_disk_disables_the_cache(path):
    code = """
        import resource, sys
        from pathlib import Path
        from nodes.search.cache import Cache
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
        cache = Cache(Path(sys.argv[1]))
        cache.put_tree("c:v", bytes(10_000_000))
        print(cache.tree("c:v"), cache.size())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), path], capture_output=True, text=True, check=True
    )
    assert done.stdout == "None 0\n"
    assert done.stderr.count("\n") == 1
    assert "parsed files are not cached in" in done.stderr
    Cache(path).put_tree("a", b"1")
    assert Cache(path).tree("a") == b"1"


def test_many_processes_read_and_write_at_once(path):
    code = """
        import sys
        from pathlib import Path
        from nodes.search.cache import Cache
        who, cache = sys.argv[2], Cache(Path(sys.argv[1]), largest=300_000)
        for turn in range(30):
            cache.put_tree(f"{who}{turn}:v", who.encode() * 100_000)
            for other in "abc":
                assert cache.tree(f"{other}{turn}:v") in (None, other.encode() * 100_000)
            tree = cache.latest_tree(":v")
            assert tree is None or set(tree) <= set(b"abc") and len(set(tree)) == 1
    """
    command = [sys.executable, "-c", textwrap.dedent(code), path]
    processes = [subprocess.Popen([*command, who], stderr=subprocess.PIPE) for who in "abc"]
    assert [process.communicate(timeout=patience(60))[1] for process in processes] == [b""] * 3
    assert Cache(path).size() <= 300_000
