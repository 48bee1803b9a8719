"""The cache may forget, and never breaks an answer."""

from __future__ import annotations

from nodes.search.cache import Cache


def test_what_was_put_is_found(tmp_path):
    Cache(tmp_path / "c.sqlite").put({"a": b"1", "b": b"2"})
    assert Cache(tmp_path / "c.sqlite").get(["a", "b", "c"]) == {"a": b"1", "b": b"2"}


def test_a_damaged_file_is_rebuilt(tmp_path):
    (tmp_path / "c.sqlite").write_bytes(b"not a database" * 1000)
    cache = Cache(tmp_path / "c.sqlite")
    assert cache.get(["a"]) == {}
    cache.put({"a": b"1"})
    assert cache.get(["a"]) == {"a": b"1"}


def test_it_stays_within_its_bound(tmp_path):
    cache = Cache(tmp_path / "c.sqlite", largest=1_000)
    for number in range(10):
        cache.put({f"k{number}": bytes(300)})
    assert 0 < len(cache.get(f"k{number}" for number in range(10))) <= 3
