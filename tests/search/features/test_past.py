"""Features from history: similar commits and co-changes, only from ancestors of the commit."""

from __future__ import annotations

import numpy as np
import pytest

from nodes.search.engine import Engine
from nodes.search.index.postings import read_changes
from nodes.search.issue.query import parse_query
from nodes.search.ranking.surroundings import (
    change_together,
    fixed_often,
    recent_folder_changes,
    score_by_messages,
    similar_changes,
)
from nodes.search.tokens import term_hash
from nodes.search.types import Query
from tests.support.repositories import git, make_repository

NUMBERS = {"a.py": 0, "b.py": 1, "c.py": 2}


def log_of(*changes: tuple[str, list[str]]) -> bytes:
    return b"".join(
        f"\x01{message}\x02\0\n".encode() + b"\0".join(path.encode() for path in paths) + b"\0"
        for message, paths in changes
    )


def test_a_log_is_read_newest_first_and_vanished_files_are_left_out():
    past = read_changes(log_of(("second", ["b.py", "gone.py"]), ("first\n\nbody", ["a.py"])), NUMBERS)
    assert list(zip(past.file_commit.tolist(), past.file.tolist(), strict=True)) == [(0, 1), (1, 0)]
    assert (past.words.tolist(), past.width.tolist()) == ([1, 2], [2, 1])
    body = past.term_hash == term_hash("bodi")
    assert (past.term_commit[body].tolist(), past.term_count[body].tolist()) == ([1], [1])


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x01", id="cut-off"),
        pytest.param(b"\x01a\x01b\x02\0\nx\0", id="a-mark-in-the-message"),
        pytest.param(b"\x01\xff\xfe\x02\0\n\xff.py\0", id="not-utf-8"),
    ],
)
def test_a_malformed_log_contains_no_changes(log):
    assert not len(read_changes(log, NUMBERS).file)


def test_a_file_changed_for_similar_words_is_preferred():
    past = read_changes(log_of(("Fix overflow of the ring buffer", ["b.py"]), ("Add a logo", ["a.py"])), NUMBERS)
    best, total = similar_changes(past, parse_query(Query("Ring buffer overflows")), 3)
    assert best.argmax() == total.argmax() == 1
    assert best[0] == 0


def test_a_commit_that_changes_everything_is_ignored():
    sweep = ("Fix overflow of the ring buffer", ["a.py", *(f"{n}.py" for n in range(40))])
    best, _ = similar_changes(read_changes(log_of(sweep), NUMBERS), parse_query(Query("Ring buffer overflow")), 3)
    assert best.max() == 0


def test_similar_messages_about_a_file_add_up():
    log = log_of(("Buffer grows", ["b.py"]), ("Ring closes", ["b.py"]), ("Ring", ["a.py"]), ("A logo", ["c.py"]))
    scores = score_by_messages(read_changes(log, NUMBERS), parse_query(Query("Ring buffer overflows")), 3)
    assert scores.tolist() == [pytest.approx(scores[0]), 1.0, 0.0]
    assert 0 < scores[0] < 1


def test_a_file_that_often_changed_with_a_test_is_one_that_was_often_fixed():
    numbers = {"a.py": 0, "b.py": 1, "test_a.py": 2}
    log = log_of(*[("x", ["a.py", "test_a.py"])] * 5, *[("y", ["b.py"])] * 9)
    fixed = fixed_often(read_changes(log, numbers), np.array([False, False, True]), np.array([True, True, False]))
    assert fixed[0] > 0 > fixed[1]
    assert fixed[2] == 0


def test_a_recently_changed_folder_is_more_active_than_an_old_one():
    log = log_of(("x", ["a.py"]), *[("y", ["gone.py"])] * 400, ("z", ["b.py"]))
    busy = recent_folder_changes(read_changes(log, NUMBERS), np.array([0, 1, 0]))
    assert busy.tolist() == [1.0, pytest.approx(busy[1]), 1.0]
    assert 0 < busy[1] < 1


def test_a_file_changed_together_with_a_likely_file_gains_a_little():
    log = log_of(*[("x", ["a.py", "b.py"])] * 5, ("y", ["c.py"]))
    scores = change_together(read_changes(log, NUMBERS), {0: 1.0}, 3)
    assert scores[1] > 0.5
    assert scores[0] == scores[2] == 0


def test_without_history_nothing_is_reported():
    best, total = similar_changes(read_changes(b"", {}), parse_query(Query("x")), 3)
    assert not best.any()
    assert not total.any()
    assert not score_by_messages(read_changes(b"", {}), parse_query(Query("x")), 3).any()
    nothing = read_changes(b"", {})
    assert not fixed_often(nothing, np.zeros(3, bool), np.ones(3, bool)).any()
    assert not recent_folder_changes(nothing, np.zeros(3, np.int64)).any()


def test_commits_after_the_one_that_is_read_are_not_seen(tmp_path):
    files = {"one.py": "def first():\n    pass\n", "two.py": "def second():\n    pass\n"}
    base = make_repository(tmp_path, files)
    before = Engine(tmp_path).find(Query("The frobnicator leaks"), base)
    make_repository(tmp_path, {**files, "two.py": "def second():\n    return 1\n"}, message="Mend the frobnicator leak")
    git(tmp_path, "tag", "later")
    after = Engine(tmp_path).find(Query("The frobnicator leaks"), base)
    assert after == before
    reasons = Engine(tmp_path).find(Query("The frobnicator leaks"), "later").files[0].reasons
    assert "history" in {reason.kind for reason in reasons}
