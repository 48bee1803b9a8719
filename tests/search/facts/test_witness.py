"""A search of own source files in memory finds the lines that ``git grep`` finds, without a process."""

from __future__ import annotations

import subprocess

import pytest

from nodes.search.facts import witness
from nodes.search.facts.witness import Witness
from nodes.search.git import Repository
from tests.support.repositories import make_repository

FILES = {
    "app/a.py": "zone = load_zone(zone)\r\n\n# zone.x $zone zöne\nzones = zone2 = _zone\nazone zone",
    "app/b.py": "zone\n" * 60 + "last = zone\n",
    "app/c.js": "x.zone-1\n",
    "app/data.py": "zone\0\n",
    "app/empty.py": "",
    "app/types.pyi": "zone: int\n",
    "docs/zone.md": "zone\n",
    "tests/test_zone.py": "zone\n",
}


@pytest.fixture(scope="module")
def commit(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, str]:
    path = tmp_path_factory.mktemp("own")
    sha = make_repository(path, FILES)
    return Repository.open(path), sha


@pytest.mark.parametrize("name", ["zone", "load_zone", "zone2", "$zone", ".zone", "zone.x", "zone(", "zöne", "nowhere"])
def test_own_lines_are_those_of_git(commit: tuple[Repository, str], name: str, monkeypatch: pytest.MonkeyPatch):
    found = Witness(*commit, "").grep(name, own=True)
    monkeypatch.setattr(witness, "MAX_OWN", 0)
    assert found == Witness(*commit, "").grep(name, own=True)


@pytest.mark.parametrize("words", [True, False])
def test_own_lines_with_one_of_several_texts_are_those_of_git(
    commit: tuple[Repository, str], words: bool, monkeypatch: pytest.MonkeyPatch
):
    texts = ("_zone", "zone2", "last")
    found = Witness(*commit, "").own_hits(texts, words=words)
    monkeypatch.setattr(witness, "MAX_OWN", 0)
    assert found == Witness(*commit, "").own_hits(texts, words=words)


def test_a_search_without_a_hit_is_asked_of_git_once(commit: tuple[Repository, str], monkeypatch: pytest.MonkeyPatch):
    assert Witness(*commit, "").grep("nowhere_else") == []
    monkeypatch.setattr(subprocess, "Popen", None)
    assert Witness(*commit, "").grep("nowhere_else") == []


@pytest.mark.usefixtures("started_git")
def test_many_searches_of_own_lines_start_no_process(commit: tuple[Repository, str], monkeypatch: pytest.MonkeyPatch):
    asked = Witness(*commit, "")
    assert asked.grep("zone", own=True)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert [hit.line for hit in asked.grep("load_zone", own=True) or ()] == [1]
