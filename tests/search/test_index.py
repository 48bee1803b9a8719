"""A commit's files are found by their words, definitions and lines."""

from __future__ import annotations

from nodes.search import parsing
from nodes.search.chunks import cut_chunks
from nodes.search.git import Repository
from nodes.search.index import load_index
from nodes.search.records import build_record, decode_record
from nodes.search.tokens import term_hash
from nodes.search.types import Definition
from tests.repositories import make_repository

FILES = {f"pkg/m{number}.py": f"def f{number}():\n    return 'alpha{number}'\n" for number in range(6)}


def ignored(_phase: str, _done: int, _total: int) -> None:
    """Nobody watches."""


def test_each_line_belongs_to_one_chunk():
    definitions = [Definition("A", "class", 3, 200), Definition("A.f", "method", 10, 20)]
    chunks = cut_chunks(definitions, 250)
    assert [line for chunk in chunks for line in range(chunk.start, chunk.end + 1)] == list(range(1, 251))
    assert next(chunk for chunk in chunks if chunk.start == 10).definition == 1


def test_a_term_is_found_where_it_is(tmp_path):
    sha = make_repository(tmp_path, FILES)
    index = load_index(Repository.open(tmp_path), sha, None, ignored)
    matches = index.match([term_hash("f3")])
    assert [index.paths[index.chunk_file[chunk]] for chunk in matches.chunk] == ["pkg/m3.py"]
    assert index.name_of(int(index.chunk_def[matches.chunk[0]])) == "f3"


def test_helper_processes_make_the_same_records(tmp_path, monkeypatch):
    sha = make_repository(tmp_path, FILES)
    alone = load_index(Repository.open(tmp_path), sha, None, ignored)
    monkeypatch.setattr(parsing, "processes_for", lambda _size: 3)
    together = load_index(Repository.open(tmp_path), sha, None, ignored)
    assert alone.post_hash.tobytes() == together.post_hash.tobytes()


def test_a_binary_file_has_an_empty_record():
    columns, _ = decode_record(build_record("x.py", b"\0def f(): pass"))
    assert not any(columns)


def test_blank_lines_and_the_end_of_a_file_are_no_places(tmp_path):
    source = "def first():\n    pass\n\n\ndef second():\n    pass\n"
    sha = make_repository(tmp_path, {"a.py": source, "blank.py": "\n\n\n"})
    index = load_index(Repository.open(tmp_path), sha, None, ignored)
    assert list(zip(index.chunk_start.tolist(), index.chunk_end.tolist(), strict=True)) == [(1, 2), (5, 6)]
    matches = index.match([term_hash("second")])
    assert [index.name_of(int(index.chunk_def[chunk])) for chunk in matches.chunk] == ["second"]
