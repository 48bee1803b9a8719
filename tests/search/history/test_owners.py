"""Owners come from CODEOWNERS, then from authors of the lines and of recent changes."""

from __future__ import annotations

import pytest

from nodes.search.git import Repository
from nodes.search.history.reading import read_history
from nodes.search.history.types import Spot
from nodes.search.types import Query
from tests.search.history.story import ANN, BOB, CAT, Story, code
from tests.support.repositories import git

PLACE = Spot("lib/parser.py", 1, 3, focus=(2, 2), symbol="f0")
BOT = "dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>"


def owners(path, story, *spots):
    repository = Repository.open(story.build(path))
    sha = repository.resolve("main")
    blobs = {entry.path: entry.blob for entry in repository.tree(sha)}
    return read_history(repository, sha, Query("It hangs"), spots or (PLACE,), blobs).owners


@pytest.fixture
def story():
    history = Story()
    history.commit("2024-01-01", {"lib/parser.py": code("a = 1", "b = 1"), "lib/x.py": "x"}, author=ANN)
    history.commit("2024-01-02", {"lib/parser.py": code("a = 2", "b = 1")}, author=BOB)
    return history


def test_authors_are_ranked_with_reasons_that_add_up(story, tmp_path):
    story.commit("2024-01-03", {"lib/parser.py": code("a = 3", "b = 1")}, author=BOB)
    found = owners(tmp_path, story)
    assert [owner.name for owner in found] == ["Bob", "Ann"]
    assert [reason.text for reason in found[0].reasons] == [
        "made 2 of the last 3 changes of `lib/parser.py`",
        "wrote 1 of the 3 lines of `f0`",
    ]
    for owner in found:
        assert sum(reason.contribution for reason in owner.reasons) == pytest.approx(owner.score)


def test_lines_outside_a_definition_are_given_by_number_and_are_not_all_of_the_file(story, tmp_path):
    story.commit("2024-01-03", {"lib/zones.txt": "".join(f"zone {n}\n" for n in range(40))}, author=CAT)
    (owner,) = owners(tmp_path, story, Spot("lib/zones.txt", 3, 5, focus=(4, 4)))
    assert "wrote 3 of the 3 lines L3-L5 of `lib/zones.txt`" in [reason.text for reason in owner.reasons]


def test_codeowners_come_first_and_the_last_rule_wins(story, tmp_path):
    story.commit(
        "2024-01-03", {".github/CODEOWNERS": "* @all\n/lib/ @org/lib-team @zed\n", "CODEOWNERS": "* @nobody\n"}
    )
    found = owners(tmp_path, story)
    assert {owner.name for owner in found[:2]} == {"@org/lib-team", "@zed"}
    assert found[0].reasons[0].text == "CODEOWNERS assigns `/lib/`"


@pytest.mark.parametrize("file", [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"])
def test_codeowners_is_found_where_github_looks(story, tmp_path, file):
    story.commit("2024-01-03", {file: "* @all\n"})
    assert owners(tmp_path, story)[0].name == "@all"


def test_an_address_in_codeowners_becomes_a_name_or_is_dropped(story, tmp_path):
    rules = "* dev@example.org unknown@example.org 12+login@users.noreply.github.com\n"
    story.commit("2024-01-03", {"CODEOWNERS": rules, ".mailmap": "Dev Eloper <dev@example.org>\n"})
    found = owners(tmp_path, story)
    assert {owner.name for owner in found[:2]} == {"Dev Eloper", "login"}
    assert "@example.org" not in repr(found)


def test_the_mailmap_joins_the_names_of_one_person(story, tmp_path):
    story.commit("2024-01-03", {".mailmap": "Ann Other <bob@example.org>\nAnn Other <ann@example.org>\n"})
    assert [owner.name for owner in owners(tmp_path, story)] == ["Ann Other"]


def test_a_github_noreply_address_gives_the_login(story, tmp_path):
    story.commit("2024-01-03", {"lib/parser.py": code("a = 9\n    c = 1", "b = 1")}, author=CAT)
    assert "cat-login" in {owner.name for owner in owners(tmp_path, story)}


def test_bots_own_nothing(story, tmp_path):
    for number in range(3):
        story.commit("2024-01-03", {"lib/parser.py": code(f"a = {number + 5}", "b = 1")}, author=BOT)
    assert {owner.name for owner in owners(tmp_path, story)} == {"Ann", "Bob"}


def test_a_sweep_over_many_files_does_not_make_an_author_of_lines(story, tmp_path):
    many = {f"lib/x{number}.py": "x" for number in range(60)}
    story.commit("2024-01-03", {**many, "lib/parser.py": code("a  =  2", "b  =  1")}, "Reformat", author=CAT)
    texts = [reason.text for owner in owners(tmp_path, story) if owner.name == "cat-login" for reason in owner.reasons]
    assert not any(text.startswith("wrote") for text in texts)


def test_lines_of_ignored_commits_belong_to_earlier_ones(story, tmp_path):
    story.commit("2024-01-03", {"lib/parser.py": code("a  =  2", "b  =  1")}, "Reformat", author=CAT)
    story.build(tmp_path / "first")
    ignored = story.sha(story.marks)
    story.commit("2024-01-04", {".git-blame-ignore-revs": f"# formatting\n{ignored}\n{'1' * 40}\n"})
    found = owners(tmp_path / "r", story)
    assert {owner.name for owner in found} == {"Ann", "Bob"}
    assert "wrote 1 of the 3 lines of `f0`" in [r.text for owner in found if owner.name == "Bob" for r in owner.reasons]


def test_the_first_place_counts_most(story, tmp_path):
    story.commit("2024-01-03", {"lib/x.py": "x = 2\n"}, author=CAT)
    other = Spot("lib/x.py", 1, 1, focus=(1, 1))
    first, second = (
        next(owner.score for owner in owners(tmp_path / folder, story, *spots) if owner.name == "cat-login")
        for folder, spots in (("a", (other, PLACE)), ("b", (PLACE, other)))
    )
    assert first == pytest.approx(2 * second)


def test_the_last_commit_of_a_shallow_clone_owns_nothing(story, tmp_path):
    story.commit("2024-01-03", {"README.md": "x"}, author=CAT)
    git(tmp_path, "clone", "--quiet", "--bare", "--depth=1", f"file://{story.build(tmp_path / 'whole')}", "r")
    repository = Repository.open(tmp_path / "r")
    sha = repository.resolve("HEAD")
    blobs = {entry.path: entry.blob for entry in repository.tree(sha)}
    found = read_history(repository, sha, Query("It hangs"), (PLACE,), blobs)
    assert (found.owners, found.suspicion.recent) == ((), ())


def test_no_owner_is_a_valid_answer(tmp_path):
    story = Story()
    story.commit("2024-01-01", {"lib/parser.py": code("a = 1")}, author=BOT)
    assert owners(tmp_path, story) == ()
