"""Git is asked once for what cannot have changed, and again after every change of tags or of the history's depth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodes.search.git import Repository
from nodes.search.git.errors import UnknownRevision
from nodes.search.git.objects import tag_state
from nodes.search.git.running import Running
from nodes.search.history.versions import read_releases
from tests.support.repositories import git, make_repository

LATER = 1 << 40
"""A time after every tag."""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    path = tmp_path / "clone"
    make_repository(path, {"a.py": "a = 1\n"})
    make_repository(path, {"a.py": "a = 2\n"}, message="Second")
    git(path, "tag", "v1.0", "HEAD~1")
    return path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the commands of git that this process has started."""
    commands: list[list[str]] = []
    start = Running.__init__

    def noted(self: Running, command: list[str], **given: Any) -> None:
        commands.append(list(map(str, command)))
        start(self, command, **given)

    monkeypatch.setattr(Running, "__init__", noted)
    return commands


def releases(repository: Repository) -> dict[str, str]:
    """Return the commit of each tag of the main series."""
    found = read_releases(repository, LATER)
    return {release.tag: release.commit for release in found[""].all} if found else {}


def test_tags_that_did_not_change_are_asked_for_once(clone: Path, asked: list[list[str]]) -> None:
    repository = Repository.open(clone)
    asked.clear()
    assert releases(repository) == releases(repository)
    assert len(asked) == 1


CHANGES = [
    pytest.param(("tag", "v1.1"), id="added"),
    pytest.param(("tag", "release/v1.1"), id="added-in-a-folder"),
    pytest.param(("tag", "-a", "-m", "Second", "v1.1"), id="annotated"),
    pytest.param(("tag", "-f", "v1.0"), id="moved"),
    pytest.param(("tag", "-d", "v1.0"), id="deleted"),
]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("place", ["", ".git", "deep", "../tree", "../bare"])
def test_a_change_of_the_tags_is_seen(clone: Path, change: tuple[str, ...], place: str, packed: bool) -> None:
    (clone / "deep").mkdir()
    git(clone, "worktree", "add", "--quiet", "--detach", str(clone.parent / "tree"))
    git(clone, "clone", "--quiet", "--bare", ".", str(clone.parent / "bare"))
    repository, changed = Repository.open(clone / place), clone / (place if place == "../bare" else "")
    before = releases(repository)
    git(changed, *change)
    if packed:
        git(changed, "pack-refs", "--all")
    after = releases(repository)
    assert after == releases(Repository.open(clone / place))
    assert after != before


def test_a_packed_tag_that_is_deleted_is_not_read_again(clone: Path) -> None:
    git(clone, "pack-refs", "--all")
    repository = Repository.open(clone)
    assert list(releases(repository)) == ["v1.0"]
    git(clone, "tag", "-d", "v1.0")
    assert releases(repository) == {}


def test_a_tag_that_names_another_ref_follows_it(clone: Path) -> None:
    git(clone, "symbolic-ref", "refs/tags/v2.0", "refs/heads/main")
    repository = Repository.open(clone)
    before = releases(repository)["v2.0"]
    git(clone, "update-ref", "refs/heads/main", "HEAD~1")
    assert releases(repository)["v2.0"] != before


def test_a_linked_folder_of_tags_is_not_trusted(clone: Path) -> None:
    (clone.parent / "elsewhere").mkdir()
    (clone / ".git" / "refs" / "tags" / "linked").symlink_to(clone.parent / "elsewhere")
    assert tag_state(clone / ".git") is None


def test_a_parent_is_asked_for_once(clone: Path, asked: list[list[str]]) -> None:
    repository = Repository.open(clone)
    head = repository.resolve()
    asked.clear()
    assert repository.resolve(f"{head}~1") == repository.resolve(f"{head}~1") != head
    assert len(asked) == 1


@pytest.mark.parametrize("how", [(), ("--bare",)])
def test_a_deeper_history_is_seen(clone: Path, how: tuple[str, ...]) -> None:
    target = clone.parent / "shallow"
    git(clone, "clone", "--quiet", "--depth=1", *how, f"file://{clone}", str(target))
    repository = Repository.open(target)
    head = repository.resolve()
    assert repository.shallow
    with pytest.raises(UnknownRevision):
        repository.resolve(f"{head}~1")
    git(target, "fetch", "--quiet", "--unshallow")
    assert not repository.shallow
    assert repository.resolve(f"{head}~1") == Repository.open(clone).resolve("HEAD~1")


def test_a_work_tree_of_a_shallow_clone_is_shallow(clone: Path) -> None:
    target = clone.parent / "shallow"
    git(clone, "clone", "--quiet", "--depth=1", f"file://{clone}", str(target))
    git(target, "worktree", "add", "--quiet", "--detach", str(clone.parent / "tree"))
    assert Repository.open(clone.parent / "tree").shallow
    assert not Repository.open(clone).shallow
