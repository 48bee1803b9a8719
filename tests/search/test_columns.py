"""Columns can be packed, split and joined without loss of rows."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from nodes.search.index.columns import COLUMNS, Columns, empty, select_files
from nodes.search.index.index import Listing, Tree, path_terms, unpack_tree
from nodes.search.index.postings import read_changes
from nodes.search.index.records import ColumnBuilder
from nodes.search.languages.protocol import plain_text as parse_text

SOURCES = [
    ("a.py", b"import os\n\n\nclass A:\n    def f(self):\n        raise ValueError('there is no such thing')\n"),
    ("b.py", b"# @generated\nx = 1\n"),
    ("empty.py", b"\0"),
    ("c.txt", b"again " * 300 + b"other\n"),
    ("d.js", b"function g() { return 'no such thing at all' }\n"),
]


def built(*numbers):
    return ColumnBuilder().build([parse_text(*SOURCES[number]) for number in numbers])


def same(left, right):
    assert left.sizes.tolist() == right.sizes.tolist()
    for name in COLUMNS:
        assert left.values[name].tobytes() == right.values[name].tobytes(), name
    return True


def test_a_process_that_reads_random_words_remembers_a_bounded_number():
    builder, remembered = ColumnBuilder(), []
    for start in range(0, 400_000, 50_000):
        words = b"\n".join(b"w%06d" % number for number in range(start, start + 50_000))
        builder.build([parse_text("a.txt", words)])
        remembered.append(len(builder._vocabulary))
    assert max(remembered) < 200_000


def test_the_columns_of_a_file_do_not_depend_on_its_batch():
    assert same(select_files([built(4), built(2, 0)], np.array([(0, 0), (1, 0), (1, 1)])), built(4, 2, 0))


@pytest.mark.parametrize(
    "picks",
    [
        pytest.param([(0, 0), (0, 1), (1, 0), (1, 1)], id="in-order"),
        pytest.param([(1, 1), (0, 1), (1, 0), (0, 0)], id="in-any-order"),
        pytest.param([(-1, 0), (0, 0), (-1, 0), (0, 0), (-1, 0)], id="twice-with-gaps"),
        pytest.param([(-1, 0)], id="nothing-known"),
        pytest.param([], id="no-files"),
    ],
)
def test_files_are_gathered_from_any_batch(picks):
    numbers = {(0, 0): 0, (0, 1): 2, (1, 0): 3, (1, 1): 4}  # number 2 has no words
    rows = np.array(picks, np.int64).reshape(-1, 2)
    found, known = select_files([built(0, 2), built(3, 4)], rows), rows[:, 0] >= 0
    assert not found.sizes[~known].any()
    assert same(Columns(found.sizes[known], found.values), built(*(numbers[pick] for pick in picks if pick[0] >= 0)))


def test_many_copies_of_a_file_take_little_more_memory_than_their_rows():
    copies = 20_000
    source, picks = built(1), np.zeros((copies, 2), np.int64)
    tracemalloc.start()
    found = select_files([source], picks)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    rows = sum(values.nbytes for values in found.values.values())
    assert peak - rows < 800 * copies


def test_a_tree_is_packed_and_read_again():
    paths = ("a.py", "odd\nname \udcff.py")
    changes = read_changes(b"\x01Fix the ring\x02\0\na.py\0", {"a.py": 0})
    files = Listing(paths, ("ab" * 20, "01" * 20), ("source", "test"), path_terms(paths), changes)
    tree = Tree(files, built(0, 4))
    found = unpack_tree(tree.pack())
    assert (found.listing.paths, found.listing.blobs, found.listing.roles) == (files.paths, files.blobs, files.roles)
    assert same(found.columns, tree.columns)
    assert found.listing.path_terms.tolist() == files.path_terms.tolist()
    assert repr(found.listing.changes) == repr(changes)
    nothing = Listing((), (), (), path_terms(()), read_changes(b"", {}))
    assert unpack_tree(Tree(nothing, empty()).pack()).listing.paths == ()
    packed = tree.pack()
    for place in range(0, len(packed), 7):
        assert unpack_tree(packed[:place] + bytes([packed[place] ^ 16]) + packed[place + 1 :]) is None
        assert unpack_tree(packed[:place]) is None
