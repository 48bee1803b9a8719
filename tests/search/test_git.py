"""Git objects are read correctly, whatever their names and bytes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from nodes.search.git import Repository
from nodes.search.git.errors import EmptyRepository, NotARepository, UnknownRevision
from nodes.search.git.objects import printable
from tests.support.patience import patience
from tests.support.repositories import add_entry, git, make_repository

pytestmark = pytest.mark.usefixtures("started_git")


def test_a_bare_clone_reads_like_a_normal_one(tmp_path):
    sha = make_repository(tmp_path / "a", {"x.py": "one\ntwo\n"})
    git(tmp_path, "clone", "--quiet", "--bare", str(tmp_path / "a"), "b.git")
    bare = Repository.open(tmp_path / "b.git")
    assert bare.resolve() == sha
    assert bare.read_file(sha, "x.py") == b"one\ntwo\n"


def test_submodules_and_symlinks_are_left_out(tmp_path):
    sha = make_repository(tmp_path, {"x.py": "x\n"})
    add_entry(tmp_path, "loop", "loop", "120000")
    add_entry(tmp_path, "sub", sha, "160000")
    git(tmp_path, "commit", "--quiet", "-m", "links")
    repository = Repository.open(tmp_path)
    assert [entry.path for entry in repository.tree(repository.resolve())] == ["x.py"]
    assert repository.read_file("HEAD", "loop") is None


@pytest.mark.parametrize("name", ["a b.py", "a\nb.py", "[x]*.py", "ü.py", "\udcff.py"])
def test_any_name_that_git_can_store_is_read(tmp_path, name):
    sha = make_repository(tmp_path, {name: "x = 1\n"})
    repository = Repository.open(tmp_path)
    assert [entry.path for entry in repository.tree(sha)] == [name]
    assert repository.lines(sha, name, 1, 1) == "x = 1"
    printable(name).encode()


@pytest.mark.parametrize(
    ("content", "line", "expected"),
    [
        pytest.param("a\r\nb\r\n", 2, "b", id="crlf"),
        pytest.param("é = 1\n".encode("latin-1"), 1, "é = 1", id="latin-1"),
        pytest.param("a\x0cb\nc\n", 2, "c", id="form-feed"),
        pytest.param("a\n", 2, None, id="out-of-range"),
        pytest.param(b"\0\1\n", 1, None, id="binary"),
    ],
)
def test_lines_are_counted_as_git_counts_them(tmp_path, content, line, expected):
    sha = make_repository(tmp_path, {"x.py": content})
    assert Repository.open(tmp_path).lines(sha, "x.py", line, line) == expected


def test_a_huge_blob_is_listed_but_never_loaded(tmp_path):
    sha = make_repository(tmp_path, {"big.py": bytes(50_000_000)})
    repository = Repository.open(tmp_path)
    assert repository.tree(sha)[0].size == 50_000_000
    assert repository.read_file(sha, "big.py") is None


def test_an_unsearchable_repository_is_reported_clearly(tmp_path):
    with pytest.raises(NotARepository, match="no such directory"):
        Repository.open(tmp_path / "nowhere")
    (tmp_path / "plain").mkdir()
    with pytest.raises(NotARepository, match="not a git repository"):
        Repository.open(tmp_path / "plain")
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "--quiet")
    with pytest.raises(EmptyRepository, match="no commits yet"):
        Repository.open(tmp_path / "empty").resolve()


@pytest.mark.parametrize("revision", ["nowhere", "--all", "", "a\nb", "0" * 40])
def test_an_unknown_revision_is_refused(tmp_path, revision):
    make_repository(tmp_path, {"x.py": "x\n"})
    with pytest.raises(UnknownRevision):
        Repository.open(tmp_path).resolve(revision)


def test_a_second_thread_waits_for_the_answer_of_the_first(tmp_path, monkeypatch):
    sha = make_repository(tmp_path, {"x.py": "x\n"})
    repository, begun, go_on, asked = Repository.open(tmp_path), Event(), Event(), []

    def slow(_self, *arguments, stdin=b""):
        asked.append(arguments)
        begun.set()
        return go_on.wait(patience(20)) and b"answer"

    monkeypatch.setattr(Repository, "output", slow)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(repository.cached_output, "show", sha)
        assert begun.wait(patience(20))
        second = pool.submit(repository.cached_output, "show", sha)
        go_on.set()
        assert (first.result(), second.result()) == (b"answer", b"answer")
    assert asked == [("show", sha)]


def test_only_a_search_may_end_without_a_hit(tmp_path):
    sha = make_repository(tmp_path, {"x.py": "x\n"})
    repository = Repository.open(tmp_path)
    assert repository.output("grep", "none", sha) == b""
    later = make_repository(tmp_path, {"x.py": "x\n", "grep": "y\n"})
    assert repository.output("diff", "--quiet", sha, later, "--", "grep") is None
