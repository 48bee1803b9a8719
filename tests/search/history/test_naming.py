"""Commits whose messages name an issue."""

from __future__ import annotations

from pathlib import Path

from nodes.search.git import Repository
from nodes.search.history.log import Log
from nodes.search.history.mainline import naming
from tests.support.repositories import git, make_repository

OPENED = 1_704_067_200
"""The date of all commits."""


def test_commits_that_name_an_issue_with_pull_request_and_release(tmp_path: Path) -> None:
    def commit(message: str) -> str:
        return make_repository(tmp_path, {"a.py": f"# {message}\n"}, message=message)

    commit("Start")
    fix = commit("Read packed zones (#45)\n\nFixes #12")
    git(tmp_path, "tag", "v1.2.0rc1")
    git(tmp_path, "tag", "v1.2.0")
    named = commit("Test what #12 is about")
    undone = commit("Read them faster, closes #12")
    commit(f'Revert "Read them faster, closes #12"\n\nThis reverts commit {undone}.')
    head = commit("Number the zones from #123")
    log = Log(Repository.open(tmp_path), head)
    found = {one.sha: (one.closes, one.pull, one.release) for one in naming(log, 12, "acme/zones", OPENED)}
    assert found == {fix: (True, 45, "1.2.0"), named: (False, None, "")}
    # Numbers of an older tracker: the issue was opened after the commits.
    assert naming(log, 12, "acme/zones", OPENED + 1) == ()
