"""An index is the same to the byte, however much of it was cached."""

from __future__ import annotations

import pytest

from nodes.search.cache import Cache
from nodes.search.engine import Indexes
from nodes.search.git import Repository
from nodes.search.index import loading
from nodes.search.index.loading import load_index
from nodes.search.languages import pool
from nodes.search.paths.roles import role_of
from nodes.search.types import Scope
from tests.search.states import state
from tests.support.repositories import git, make_repository

FILES: dict[str, bytes | str] = {
    "pkg/__init__.py": "",
    **{
        f"pkg/m{n}.py": f"import os\n\n\nclass C{n}:\n    def f{n}(self):\n        return 'no {n} here'\n"
        for n in range(9)
    },
    "copy/m1.py": "import os\n\n\nclass C1:\n    def f1(self):\n        return 'no 1 here'\n",
    "tests/test_m1.py": "def test_it():\n    assert C1().f1()\n",
    "data.json": "{}",
    "image.png": b"\0\1",
    "lib.h": "class A { int f(); };\n",
    "lib.c": "class A { int f(); };\n",
    "README.md": "What it is\n",
}
OTHERS = 2
"""Number of the texts that are neither source nor data."""


def ignored(_phase, _done, _total):
    """Ignore progress."""


@pytest.fixture
def repository(tmp_path):
    make_repository(tmp_path / "r", FILES)
    return Repository.open(tmp_path / "r")


@pytest.fixture
def expected(repository):
    return state(load_index(repository, repository.resolve(), None, ignored).index)


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def load(repository, cache, rev="HEAD"):
    return load_index(repository, repository.resolve(rev), cache, ignored)


def test_from_the_cache(repository, cache, expected):
    first, second = load(repository, cache), load(repository, cache)
    assert state(first.index) == state(second.index) == expected
    assert (first.parsed, second.parsed) == (13, 0)
    assert first.texts == second.texts


@pytest.mark.parametrize(
    "order", [pytest.param(("source", "all"), id="source-first"), pytest.param(("all", "source"), id="all-first")]
)
def test_each_scope_is_the_same_whatever_was_loaded_before(repository, cache, order: tuple[Scope, Scope]):
    sha = repository.resolve()
    alone = {scope: load_index(repository, sha, None, ignored, scope=scope) for scope in order}
    cached = {scope: load_index(repository, sha, cache, ignored, scope=scope) for scope in order}
    for scope in order:
        assert state(cached[scope].index) == state(alone[scope].index)
    assert {scope: loaded.parsed for scope, loaded in alone.items()} == {"source": 11, "all": 13}
    # Nothing is parsed twice.
    assert sum(loaded.parsed for loaded in cached.values()) == 13
    again = [load_index(repository, sha, cache, ignored, scope=scope) for scope in order]
    assert [loaded.parsed for loaded in again] == [0, 0]


def test_the_content_of_source_files_alone_is_indexed_for_a_ranking(repository):
    index = load_index(repository, repository.resolve(), None, ignored, scope="source").index
    with_words = {index.paths[number] for number in index.chunk_file.tolist()}
    assert with_words == {path for path in FILES if role_of(path) == "source"} - {"pkg/__init__.py", "image.png"}
    assert set(index.paths) == set(FILES)


@pytest.mark.parametrize("cached", [False, True], ids=["read-from-git", "from-the-cache"])
@pytest.mark.parametrize("order", [("source", "all"), ("all", "source")], ids=["source-first", "all-first"])
def test_both_indexes_of_a_commit_share_one_listing_and_project(
    repository, cache, monkeypatch, order: tuple[Scope, Scope], cached: bool
):
    sha, commands = repository.resolve(), []
    if cached:
        for scope in order:
            load_index(repository, sha, cache, ignored, scope=scope)
    indexes = Indexes(cache, ignored, loading.MAX_TEXT)
    first = indexes.load(repository, sha, order[0]).index
    start = Repository.start

    def noted(self, *command, **named):
        """Start a git command, and note its name."""
        commands.append(command[0])
        return start(self, *command, **named)

    monkeypatch.setattr(Repository, "start", noted)
    loaded = indexes.load(repository, sha, order[1])
    second = loaded.index
    # The other index has all of them, or those of the source.
    assert loaded.parsed == (0 if cached or order[0] == "all" else OTHERS)
    assert second.listing is first.listing
    assert second.project is first.project
    assert not {"log", "ls-tree", "--literal-pathspecs"} & set(commands)
    assert state(second) == state(load_index(repository, sha, None, ignored, scope=order[1]).index)


def test_an_incomplete_index_is_not_taken_over(repository, expected):
    indexes, sha = Indexes(None, ignored, loading.MAX_TEXT), repository.resolve()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Repository, "contents", lambda _self, blobs: iter([None] * len(blobs)))
        assert not indexes.load(repository, sha, "source").complete
    assert state(indexes.load(repository, sha, "all").index) == expected


def test_from_the_commit_before(repository, cache):
    load(repository, cache)
    changed = {**FILES, "pkg/m3.py": "def other():\n    pass\n", "new.py": "x = 1\n", "moved/m4.py": FILES["pkg/m4.py"]}
    del changed["pkg/m4.py"], changed["README.md"]
    make_repository(repository.directory, changed)
    loaded = load(repository, cache)
    assert loaded.parsed == 2
    assert state(loaded.index) == state(load(repository, None).index)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda tree: tree[:-1], id="tree-cut"),
        pytest.param(lambda tree: bytes(len(tree)), id="tree-zeroed"),
        pytest.param(lambda _tree: b"", id="tree-emptied"),
    ],
)
def test_a_damaged_tree_is_parsed_again(repository, cache, tmp_path, expected, damage):
    load(repository, cache)
    (stored,) = (tmp_path / "cache").iterdir()
    stored.write_bytes(damage(stored.read_bytes()))
    assert state(load(repository, cache).index) == expected
    again = load(repository, cache)
    assert (state(again.index), again.parsed) == (expected, 0)


def test_in_batches_by_several_processes(repository, cache, monkeypatch, expected):
    monkeypatch.setattr(pool, "BATCH_BYTES", 100)
    monkeypatch.setattr(pool, "helpers_for", lambda _hard, _easy: 3)
    seen = []
    sha = repository.resolve()
    loaded = load_index(repository, sha, cache, lambda *progress: seen.append(progress))
    assert state(loaded.index) == expected
    assert seen[-1] == ("parsing", 13, 13)


def test_files_beyond_the_text_budget_are_found_by_path(repository, cache, caplog, expected):
    sha = repository.resolve()
    loaded = load_index(repository, sha, cache, ignored, most_text=300)
    indexed = {loaded.index.paths[number] for number in set(loaded.index.chunk_file.tolist())}
    assert loaded.left_out == 6
    assert repository.shortfalls.unreported_limits() == ("repository.text",)
    assert loaded.texts == len(indexed) == 8
    assert set(loaded.index.paths) == set(FILES)
    assert [record.action for record in caplog.records] == ["index_limited"]
    again = load_index(repository, sha, cache, ignored, most_text=300)
    assert (state(again.index), len(caplog.records)) == (state(loaded.index), 1)
    assert state(load(repository, cache).index) == expected


def test_source_is_indexed_before_other_files(tmp_path):
    files = {
        "vendor/a.py": "a = 1\n",
        "tests/test_a.py": "a = 1\n",
        "big.py": "a = 12345\n",
        "doc.txt": "a\n",
        "a.py": "b=1\n",
    }
    make_repository(tmp_path / "r", files)
    entries = Repository.open(tmp_path / "r").tree("HEAD")
    order = loading.by_value(entries, [role_of(entry.path) for entry in entries], loading.OF_SCOPE["all"])
    assert [entries[number].path for number in order] == ["a.py", "big.py", "doc.txt", "tests/test_a.py", "vendor/a.py"]


def test_an_incomplete_clone_is_not_cached_as_complete(repository, cache, tmp_path, expected):
    blob = git(repository.directory, "rev-parse", "HEAD:pkg/m1.py").decode().strip()
    loose = repository.directory / ".git" / "objects" / blob[:2] / blob[2:]
    loose.rename(tmp_path / "taken")
    lacking = load(repository, cache)
    assert lacking.index.meta(lacking.index.number_of["pkg/m1.py"]).names == ()
    (tmp_path / "taken").rename(loose)
    assert state(load(repository, cache).index) == expected


def test_of_a_shallow_clone_only_the_contents_are_used_again(repository, cache, tmp_path, expected):
    make_repository(repository.directory, {**FILES, "new.py": "x = 1\n"}, message="later")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository.directory}", "shallow")
    shallow = Repository.open(tmp_path / "shallow")
    assert [load(shallow, cache).parsed for _ in range(2)] == [14, 0]
    git(shallow.directory, "fetch", "-q", "--unshallow")
    assert state(load(shallow, cache).index) == state(load(shallow, None).index)
