"""Commits that are written without git are the same bytes as git's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import repositories
from tests.support.git_objects import NotPlainError
from tests.support.repositories import add_entry, git, make_repository

FIRST: dict[str, bytes | str] = {
    "a.py": "x = 1\n",
    "a/b.py": b"\0\xff",
    "a-b/c.py": "",
    "a.b": "y",
    "é/\udcff\n.py": "z",
    "n" * 200: "long",
}
SECOND: dict[str, bytes | str] = {"a.py": "x = 2\n", "z/y/x.py": "deep"}


def written(path: Path) -> list[bytes]:
    """Return the ids of two commits on a branch and one on none, what git says about them, and the index."""
    said = [make_repository(path, FIRST, message=" First\n\nbody ").encode(), git(path, "ls-files", "--stage", "-z")]
    said.append(make_repository(path, SECOND).encode())
    git(path, "checkout", "--quiet", "--force", "--detach")
    said.append(make_repository(path, FIRST, message="Third").encode())
    add_entry(path, "added.py", "added")
    return [
        *said,
        git(path, "log", "--format=raw", "--raw", "-z"),
        git(path, "ls-files", "--stage", "-z"),
        git(path, "status", "--porcelain", "--branch", "--untracked-files=no", "-z"),
        git(path, "fsck", "--strict"),
    ]


def test_a_commit_is_that_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = written(tmp_path / "here")

    def refuse(*_: object, **__: object) -> str:
        raise NotPlainError

    monkeypatch.setattr(repositories.git_objects, "commit", refuse)
    monkeypatch.setattr(repositories.git_objects, "is_plain", lambda _: False)
    assert here == written(tmp_path / "there")


@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "a"), ("../a",), (".git/a",), ("a//b",)])
def test_paths_that_need_git_are_left_to_it(tmp_path: Path, names: tuple[str, ...]) -> None:
    git_folder = tmp_path / ".git"
    repositories.git_objects.init(git_folder)
    with pytest.raises(NotPlainError):
        repositories.git_objects.commit(git_folder, dict.fromkeys(map(str.encode, names), b""), who=b"", message=b"")
