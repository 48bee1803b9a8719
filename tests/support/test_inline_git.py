"""What is answered without a git process is the same bytes as git's, and git answers everything else."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest

from nodes.search.git.running import SAFE, environment
from tests.support.inline_git import GitNeededError, answer
from tests.support.repositories import add_entry, git, make_repository

FILES: dict[str, bytes | str] = {
    "a.py": "x = 1\n",
    "a/b.py": b"\0\xff",
    "a/deep/c.py": "",
    "a/deep/er/d.py": "d\n",
    "a-b/c.py": "c",
    "é/\udcff\n.py": "z",
    "*": "star",
}
LONG_LISTING = ("ls-tree", "-r", "-z", "-l", "--full-tree")
ENTRIES = ("--literal-pathspecs", "ls-tree", "-t", "-z", "-l", "--full-tree")
BELOW = ("--literal-pathspecs", *LONG_LISTING)
TAGS = ("for-each-ref", "--sort=refname", "--format=%(refname:lstrip=2)", "refs/tags")
LOG = ("log", "--max-count=3000", "--min-parents=1", "--max-parents=1", "--name-only", "-z", "--format=%x01%B%x02")


@pytest.fixture
def commit(tmp_path: Path) -> str:
    return make_repository(tmp_path, FILES)


def asked(folder: Path, *words: str) -> list[str]:
    return ["git", "-C", str(folder), *SAFE, *words]


def said(command: list[str], stdin: bytes = b"") -> bytes:
    return subprocess.run(command, input=stdin, env=environment(), check=True, capture_output=True).stdout


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("rev-parse", "--git-common-dir"), id="folder"),
        pytest.param(("rev-parse", "--verify", "--quiet", "--end-of-options", "COMMIT^{commit}"), id="id"),
        pytest.param(("rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}"), id="head"),
        pytest.param((*LONG_LISTING, "COMMIT"), id="whole"),
        pytest.param(("ls-tree", "-r", "--name-only", "-z", "COMMIT"), id="names"),
        *(
            pytest.param((*options, "COMMIT", "--", *paths), id=f"{options[2]}{'-'.join(paths)!a}")
            for options in (ENTRIES, BELOW)
            for paths in (
                (),
                ("a",),
                ("a/deep/c.py",),
                ("a", "a/deep"),
                ("a.py", "a/deep/er"),
                ("é", "*"),
                ("none", "a/x"),
            )
        ),
        pytest.param((*LOG, "--end-of-options", "COMMIT", "--"), id="log"),
        pytest.param(TAGS, id="tags"),
    ],
)
def test_an_answer_is_that_of_git(tmp_path: Path, commit: str, words: tuple[str, ...]) -> None:
    for mode, name, content in (("120000", "a/link", "b.py"), ("160000", "module", "1" * 40)):
        add_entry(tmp_path, name, content, mode)
    git(tmp_path, "commit", "--quiet", "--message=Odd")
    (odd,) = git(tmp_path, "rev-parse", "HEAD").decode().split()
    for sha in (commit, odd) if words[0] != "log" else (commit,):
        command = asked(tmp_path, *(word.replace("COMMIT", sha) for word in words))
        assert answer(command, io.BytesIO()) == said(command)


def test_contents_are_those_of_git(tmp_path: Path, commit: str) -> None:
    ids = git(tmp_path, "ls-tree", "-r", "-t", "--format=%(objectname)", commit)
    command = asked(tmp_path, "cat-file", "--batch", "--buffer")
    assert answer(command, io.BytesIO(ids)) == said(command, ids)


@pytest.mark.parametrize(
    "words",
    [
        ("rev-parse", "--verify", "--quiet", "--end-of-options", "main^{commit}"),
        ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{'0' * 40}^{{commit}}"),
        ("log", "COMMIT"),
        ("blame", "a.py"),
        ("for-each-ref", "refs/heads"),
        (*BELOW, "COMMIT", "--", "a/"),
        (*BELOW, "COMMIT", "--", ""),
    ],
)
def test_git_answers_everything_else(tmp_path: Path, commit: str, words: tuple[str, ...]) -> None:
    with pytest.raises((GitNeededError, OSError)):
        answer(asked(tmp_path, *(word.replace("COMMIT", commit) for word in words)), io.BytesIO())


@pytest.mark.parametrize(
    "words", [("pack-refs",), ("repack", "-adq"), ("config", "core.x", "y"), ("replace", "HEAD:a.py", "HEAD:*")]
)
def test_git_reads_what_git_changed(tmp_path: Path, commit: str, words: tuple[str, ...]) -> None:
    git(tmp_path, *words)
    with pytest.raises((GitNeededError, OSError)):
        answer(asked(tmp_path, *LONG_LISTING, commit), io.BytesIO())


def test_git_lists_the_tags_that_there_are(tmp_path: Path, commit: str) -> None:
    git(tmp_path, "tag", "v1.0", commit)
    with pytest.raises(GitNeededError):
        answer(asked(tmp_path, *TAGS), io.BytesIO())
