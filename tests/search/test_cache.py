"""The cache may lose entries, respects its size limit, and never changes a result."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest

from nodes.search.cache import FORMAT, Cache
from tests.support.patience import patience


@pytest.fixture
def path(tmp_path):
    return tmp_path / "c.sqlite"


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


def test_the_file_shrinks_with_its_content(path):
    for number in range(4):
        Cache(path, largest=50_000_000).put_tree(str(number), bytes(2_500_000))
    before = path.stat().st_size
    for number in range(2):
        Cache(path, largest=1_000_000).put_tree(f"new{number}", b"1")
    assert path.stat().st_size < before / 5


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


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"not a database" * 1_000, id="no-database"),
        pytest.param(b"SQLite format 3\0" + b"\xff" * 5_000, id="head-only"),
    ],
)
def test_a_damaged_file_is_set_aside_and_created_again(path, caplog, content):
    path.write_bytes(content)
    cache = Cache(path)
    assert cache.tree("a") is None
    cache.put_tree("a", b"1")
    assert cache.tree("a") == b"1"
    assert path.with_name("c.sqlite.damaged").read_bytes() == content
    assert len(caplog.records) == 1


def test_damage_in_the_middle_only_costs_time(path):
    for number in range(6):
        Cache(path).put_tree(str(number), os.urandom(400_000))
    content = bytearray(path.read_bytes())
    for start in range(40_000, len(content), 50_000):
        content[start : start + 20_000] = bytes(20_000)
    path.write_bytes(content)
    cache = Cache(path)
    for _ in range(3):
        cache.tree("0")
        cache.put_tree("a", b"1")
    assert cache.tree("a") == b"1"


def test_a_file_of_an_older_format_is_replaced(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "create table record (key text primary key, value blob not null, size integer, used integer)"
        )
        connection.execute("insert into record values ('a', x'00', 1, 1)")
        connection.commit()
    cache = Cache(path)
    assert cache.tree("a") is None
    cache.put_tree("a", b"1")
    assert cache.tree("a") == b"1"
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_many_processes_may_create_it_at_once(path):
    code = """
        import sys
        from pathlib import Path
        from nodes.search.cache import Cache
        cache = Cache(Path(sys.argv[1]))
        sys.stdin.read()
        cache.put_tree(sys.argv[2], b"1")
        sys.exit(cache.tree(sys.argv[2]) != b"1")
    """
    command = [sys.executable, "-c", textwrap.dedent(code), path]
    processes = [subprocess.Popen([*command, who], stdin=subprocess.PIPE, stderr=subprocess.PIPE) for who in "abcd"]
    for process in processes:
        process.stdin.close()
    assert [(process.wait(patience(60)), process.stderr.read()) for process in processes] == [(0, b"")] * 4
    for process in processes:
        process.stderr.close()
    assert [Cache(path).tree(who) for who in "abcd"] == [b"1"] * 4


def test_a_file_of_a_newer_format_is_left_alone(path, caplog):
    Cache(path).put_tree("a", b"1")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"pragma user_version = {FORMAT + 1}")
    cache = Cache(path)
    cache.put_tree("b", b"2")
    assert (cache.tree("a"), cache.tree("b")) == (None, None)
    assert [record.message for record in caplog.records] == [
        f"parsed files are not cached in {path}: a newer version wrote it"
    ]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("select key from tree").fetchall() == [("a",)]


@pytest.mark.parametrize(
    "hinder",
    [
        pytest.param(lambda path: path.mkdir(), id="a-folder-of-that-name"),
        pytest.param(lambda path: path.parent.joinpath("c.sqlite-wal").mkdir(), id="no-journal"),
    ],
)
def test_a_file_that_cannot_be_written_is_reported_once(path, caplog, hinder):
    hinder(path)
    cache = Cache(path)
    cache.put_tree("a", b"1")
    assert cache.tree("a") is None
    assert len(caplog.records) == 1


def test_a_full_disk_disables_the_cache(path):
    code = """
        import resource, sys
        from pathlib import Path
        from nodes.search.cache import Cache
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
        cache = Cache(Path(sys.argv[1]))
        cache.put_tree("c:v", bytes(10_000_000))
        print(cache.tree("c:v"))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), path], capture_output=True, text=True, check=True
    )
    assert done.stdout == "None\n"
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
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
