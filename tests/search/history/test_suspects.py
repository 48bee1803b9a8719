"""Suspect changes are in the range that the issue gives, with reasons that add up to the score."""

from __future__ import annotations

import subprocess

import pytest

from nodes.search.git import Repository
from nodes.search.history import reading
from nodes.search.history.log import Log
from nodes.search.history.reading import read_history, subject_of
from nodes.search.history.types import Spot
from nodes.search.types import Query
from tests.search.history.story import ANN, BOB, Story, code
from tests.support.repositories import git

PLACE = Spot("lib/parser.py", 5, 7, focus=(6, 6), symbol="f1")


class ReleasedProject:
    """A parser with releases on the main line: 1.0, 1.1, 1.2; f1 was last changed in 1.1, f0 in 1.2."""

    def __init__(self) -> None:
        story = self.story = Story()
        files = {"lib/parser.py": code("a = 1", "b = 1"), "pyproject.toml": '[project]\nname = "mill"\n'}
        self.first = story.commit("2024-01-01", files, "Write the parser")
        story.tag("v1.0", self.first)
        self.other = story.commit("2024-01-10", {"lib/other.py": "x = 1\n"}, "Add another module")
        self.guilty = story.commit(
            "2024-01-20", {"lib/parser.py": code("a = 1", "b = 2")}, "Speed up the parser", author=BOB
        )
        story.tag("v1.1", self.guilty)
        self.later = story.commit("2024-02-01", {"lib/parser.py": code("a = 3", "b = 2")}, "Rewrite headers")
        story.tag("v1.2", self.later)

    def ask(self, path, text, *spots, at=None, extra=()):
        clone = path / "r" if (path / "r").exists() else self.story.build(path / "r")
        repository = Repository.open(clone)
        sha = self.story.sha(at) if at else repository.resolve("main")
        blobs = {entry.path: entry.blob for entry in repository.tree(sha)}
        return read_history(repository, sha, Query("It hangs", text, extra), spots or (PLACE,), blobs)

    def subjects(self, *given, **named):
        return [change.commit.subject for change in self.ask(*given, **named).suspicion.changes]


@pytest.fixture
def project():
    return ReleasedProject()


@pytest.mark.parametrize(
    ("text", "span", "first"),
    [
        pytest.param("worked in 1.0, broken in 1.1", "1.0 → 1.1", "Speed up the parser", id="both-ends"),
        pytest.param(
            "mill 1.1 hangs. With 1.0, also from source, this didn't happen.",
            "1.0 → 1.1",
            "Speed up the parser",
            id="good-after-an-aside",
        ),
        pytest.param("a regression since 1.1", "1.0 → 1.1", "Speed up the parser", id="since"),
        pytest.param("worked in 1.0 but fails now", "1.0 → the commit read", "Speed up the parser", id="no-upper-end"),
        pytest.param("broken since 1.2", "1.1 → 1.2", "Rewrite headers", id="the-file-alone"),
        pytest.param(
            "worked in 1.0, fails in 1.3", "1.0 → the commit read", "Speed up the parser", id="to-be-released"
        ),
        pytest.param("broken since 2024-01-15", "2023-12-16 → 2024-01-15", "Write the parser", id="since-a-day"),
        pytest.param("it worked on 2024-01-15", "2024-01-15 → the commit read", "Speed up the parser", id="days"),
        pytest.param("broken since January 2024", "2023-12-02 → 2024-01-31", "Speed up the parser", id="month"),
    ],
)
def test_the_range_is_what_the_issue_says(project, tmp_path, text, span, first):
    found = project.ask(tmp_path, text).suspicion
    assert (found.span, found.changes[0].commit.subject) == (span, first)


def test_a_suspect_says_why_in_words_that_add_up(project, tmp_path):
    change = project.ask(tmp_path, "The parser hangs. Worked in 1.0, broken in 1.1.").suspicion.changes[0]
    assert change.basis == "versions"
    assert change.touches == ("L6 of `f1`",)
    assert [reason.text for reason in change.reasons] == [
        "touches L6 of `f1`",
        "in the range given, 1.0 → 1.1",
        "its message shares “parser”",
    ]
    assert sum(reason.contribution for reason in change.reasons) == pytest.approx(change.score)


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        pytest.param("It hangs.", "no_version", id="nothing-said"),
        pytest.param("I use version 1.1.", "no_version", id="only-where-it-happens"),
        pytest.param("broken since Python 3.9", "another_project", id="of-something-else"),
        pytest.param(
            "I run Python 1.1. It is broken since 1.1.", "another_project", id="of-something-else-named-before"
        ),
        pytest.param("worked in 7.1, broken in 7.2", "another_project", id="far-from-the-last-release"),
        pytest.param("worked in 2.1, broken in 2.2", "no_such_release", id="never-tagged"),
        pytest.param("It crashes on debug builds for 3.8+", "another_project", id="of-the-language"),
        pytest.param("broken since 1.0", "no_such_release", id="nothing-before-it"),
        pytest.param("worked in 1.2, broken in 1.0", "contradictory", id="the-wrong-way-round"),
        pytest.param("I use 1.2. Two elements work in 1.2, one fails.", "contradictory", id="one-case-works"),
        pytest.param("Broken since 1.2. The same error occurs in 1.0.", "contradictory", id="an-older-one-has-it"),
        pytest.param("broken since 2031-01-01", "empty_range", id="a-day-to-come"),
    ],
)
def test_inconclusive_is_a_result_with_a_reason(project, tmp_path, text, doubt):
    found = project.ask(tmp_path, text).suspicion
    assert (found.changes, found.doubt) == ((), doubt)
    assert found.explanation


@pytest.mark.parametrize(
    ("text", "explanation"),
    [
        ("I use mill 1.1.", "it happens with 1.1, but no sentence was found that says which version worked"),
        (
            "I use mill 1.1. Also installed: mill 1.0.",
            "no sentence was found that says in which version or since when it broke",
        ),
        ("I use mill 1.1, r 1.0.", "no sentence was found that says in which version or since when it broke"),
    ],
)
def test_a_version_is_only_stated_if_one_product_is_named(project, tmp_path, text, explanation):
    assert project.ask(tmp_path, text).suspicion.explanation == explanation


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31", "Dec 9999", "1969-12-31", "2024-02-29"])
def test_any_day_is_accepted(project, tmp_path, day):
    for text in (f"broken since {day}", f"it worked on {day}", f"worked {day}, broken since {day}"):
        assert project.ask(tmp_path, text).suspicion.explanation or project.subjects(tmp_path, text)


def test_a_range_in_which_nobody_touched_the_file(project, tmp_path):
    found = project.ask(tmp_path, "worked in 1.0, broken in 1.1", Spot("lib/none.py", 1, 1, focus=(1, 1))).suspicion
    assert (found.doubt, found.changes) == ("untouched", ())
    assert found.explanation == "none of the 2 commits in 1.0 → 1.1 is about the files found"


def test_a_clone_with_only_old_tags_lacks_newer_ones(project, tmp_path):
    project.story.commit("2027-02-01", {"lib/parser.py": code("a = 3", "b = 9")}, "Years later")
    assert project.ask(tmp_path, "broken since 1.3").suspicion.doubt == "no_such_release"


def test_no_tags(project, tmp_path):
    project.story.stream = [part for part in project.story.stream if b"refs/tags" not in part]
    assert project.ask(tmp_path, "worked in 1.0, broken in 1.1").suspicion.doubt == "no_tags"


def test_without_a_range_the_latest_changes_are_only_recent(project, tmp_path):
    found = project.ask(tmp_path, "It hangs.").suspicion
    latest = found.recent[0]
    assert (latest.commit.subject, latest.basis) == ("Speed up the parser", "recent")
    assert "made 1 week before the commit read" in [reason.text for reason in latest.reasons]


def test_changes_after_the_affected_version_are_excluded(project, tmp_path):
    place = Spot("lib/parser.py", 1, 7, focus=(2, 2))
    after = [change.commit.subject for change in project.ask(tmp_path, "It hangs.", place).suspicion.recent]
    bound = [change.commit.subject for change in project.ask(tmp_path, "I run mill 1.1.", place).suspicion.recent]
    assert set(after) - set(bound) == {"Rewrite headers"}


def test_nothing_from_after_the_commit_read_is_seen(project, tmp_path):
    text = "worked in 1.0, broken in 1.1, broken since 1.2"
    assert project.subjects(tmp_path, text, at=project.other) == []
    assert project.ask(tmp_path, text, at=project.other).suspicion.doubt == "untouched"
    assert project.subjects(tmp_path, f"{project.story.sha(project.guilty)[:10]} broke it", at=project.other) == []


def test_commits_that_the_issue_blames_come_first(project, tmp_path):
    project.ask(tmp_path, "")
    sha = project.story.sha(project.other)
    changes = project.ask(tmp_path, f"worked in 1.0, broken in 1.1. Bisected to {sha[:9]}.").suspicion.changes
    assert [(change.commit.subject, change.basis) for change in changes] == [
        ("Add another module", "named"),
        ("Speed up the parser", "versions"),
    ]
    assert changes[0].reasons[0].text == f"the issue names `{sha[:9]}`"


def test_the_number_of_a_merged_change_leads_to_its_commits(project, tmp_path):
    story = project.story
    inner = story.commit("2024-02-05", {"lib/parser.py": code("a = 3", "b = 4")}, "Try harder", branch="topic")
    story.commit("2024-02-06", {}, "Merge pull request #77 from x", after=project.later, merges=inner)
    story.commit("2024-02-07", {"y": "1"}, "Change y (#78)")
    text = "Broken since #77, see #78"
    assert project.subjects(tmp_path, text) == ["Try harder"]
    assert project.subjects(tmp_path, "caused by #78") == ["Change y (#78)"]
    assert project.subjects(tmp_path, "caused by #7") == []


def test_a_branch_named_like_a_commit_is_not_a_commit(project, tmp_path):
    project.story.commit("2024-02-05", {"z": "1"}, "On a branch", branch="abc1234def")
    assert project.subjects(tmp_path, "abc1234def broke it", at=project.later) == []


def test_a_change_whose_lines_were_replaced_is_still_suspected(project, tmp_path):
    project.story.commit("2024-03-01", {"lib/parser.py": code("a = 3", "b = 5")}, "Fix the parser anew")
    change = project.ask(tmp_path, "worked in 1.0, broken in 1.1").suspicion.changes[0]
    assert change.commit.subject == "Speed up the parser"
    assert "changed `f1`; its lines were changed again or removed" in [r.text for r in change.reasons]


def test_only_lines_of_changed_files_are_followed(project, tmp_path, monkeypatch):
    followed: list[str] = []
    of_lines = Log.of_lines

    def recorded(log, path, *given):
        followed.append(path)
        return of_lines(log, path, *given)

    monkeypatch.setattr(Log, "of_lines", recorded)
    other = Spot("lib/other.py", 1, 1, focus=(1, 1))
    found = project.ask(tmp_path, "worked in 1.1, fails now", PLACE, other)
    assert followed == ["lib/parser.py"]
    monkeypatch.setattr(reading, "_changed_in", lambda *_: None)
    assert project.ask(tmp_path, "worked in 1.1, fails now", PLACE, other) == found
    assert sorted(followed) == ["lib/other.py", "lib/parser.py", "lib/parser.py"]


def test_a_renamed_file_retains_its_history_and_the_renaming_is_not_a_change(project, tmp_path):
    moved = Spot("src/parsing.py", 5, 7, focus=(6, 6), symbol="f1")
    project.story.commit("2024-02-20", {}, "Move the parser", moves={"lib/parser.py": "src/parsing.py"})
    assert project.subjects(tmp_path, "worked in 1.0, broken in 1.1", moved)[0] == "Speed up the parser"
    assert "Move the parser" not in [
        c.commit.subject for c in project.ask(tmp_path, "It hangs", moved).suspicion.recent
    ]


def test_releases_on_a_branch_count_from_its_fork_point(project, tmp_path):
    story = project.story
    branch = story.commit("2024-01-21", {"v": "1.1.1"}, "Release 1.1.1", after=project.guilty, branch="v1.1.x")
    story.tag("v1.1.1", branch)
    assert project.ask(tmp_path, "worked in 1.0, broken in 1.1.1").suspicion.span == "1.0 → 1.1.1"
    assert project.subjects(tmp_path, "worked in 1.0, broken in 1.1.1")[0] == "Speed up the parser"


def test_two_releases_of_one_branch_give_the_days_between_them(project, tmp_path):
    story = project.story
    one = story.commit("2024-01-25", {"v": "1.1.1"}, "Release 1.1.1", after=project.guilty, branch="v1.1.x")
    two = story.commit("2024-02-10", {"v": "1.1.2"}, "Release 1.1.2", after=one, branch="v1.1.x")
    story.tag("v1.1.1", one)
    story.tag("v1.1.2", two)
    main = story.commit("2024-02-12", {"w": "1"}, "Go on", after=project.later)
    found = project.ask(tmp_path, "worked in 1.1.1, broken in 1.1.2", at=main).suspicion
    assert found.span == "1.1.1 → 1.1.2, by the days of these releases"
    assert [change.commit.subject for change in found.changes] == ["Rewrite headers"]


def test_commits_to_ignore_are_not_suspected(project, tmp_path):
    project.story.build(tmp_path / "r")
    guilty = project.story.sha(project.guilty)
    for number, content in enumerate([f"# reformat\n{guilty}\n{'0' * 40}\nnonsense\n"]):
        git(tmp_path / "r", "fast-import", "--quiet", stdin=ignoring(number, content))
    assert project.subjects(tmp_path, "worked in 1.0, broken in 1.1") == []


def ignoring(number, content):
    data = content.encode()
    head = f"commit refs/heads/main\ncommitter {ANN} 1709{number}00000 +0000\ndata 6\nIgnore\nfrom refs/heads/main^0\n"
    return head.encode() + b"M 100644 inline .git-blame-ignore-revs\ndata %d\n%s\n" % (len(data), data)


@pytest.mark.parametrize(
    ("message", "files"),
    [
        pytest.param("Run black", 1, id="format"),
        pytest.param("Add type hints", 1, id="annotations"),
        pytest.param("Rename package to lib", 1, id="rename"),
        pytest.param("Use the new interface", 60, id="rewrite-of-the-repository"),
    ],
)
def test_a_mechanical_change_is_no_suspect_unless_it_is_blamed(project, tmp_path, message, files):
    many = {f"lib/x{number}.py": "x" for number in range(files)}
    project.story.commit("2024-02-05", {**many, "lib/parser.py": code("a = 3", "b = 9")}, message)
    found = project.ask(tmp_path, "worked in 1.2 but fails now").suspicion
    assert (found.changes, found.doubt) == ((), "untouched")
    assert [change.commit.subject for change in found.recent] == [message]


def test_a_shallow_clone_is_reported_and_no_change_is_suspected(project, tmp_path):
    project.story.build(tmp_path / "whole")
    subprocess.run(
        ["git", "clone", "--quiet", "--bare", "--depth=2", f"file://{tmp_path / 'whole'}", str(tmp_path / "r")],
        check=True,
    )
    found = project.ask(tmp_path, "worked in 1.0, broken in 1.1", at=project.later).suspicion
    assert (found.changes, found.doubt) == ((), "no_such_release")
    assert [c.commit.subject for c in project.ask(tmp_path, "hangs", at=project.later).suspicion.recent] in (
        [],
        ["Rewrite headers"],
    )


def test_a_clone_without_old_files_still_knows_which_commits_changed_a_path(project, tmp_path):
    whole = project.story.build(tmp_path / "whole")
    git(whole, "config", "uploadpack.allowFilter", "true")
    clone = ["git", "clone", "--quiet", "--bare", "--filter=blob:none", f"file://{whole}", str(tmp_path / "r")]
    subprocess.run(clone, check=True)
    query = Query("It hangs", "worked in 1.0, broken in 1.1")
    found = read_history(Repository.open(tmp_path / "r"), project.story.sha(project.later), query, [PLACE], {})
    change = found.suspicion.changes[0]
    assert (change.commit.subject, change.touches) == ("Speed up the parser", ())
    assert "changes `lib/parser.py`" in [reason.text for reason in change.reasons]
    assert [owner.name for owner in found.owners] == ["Ann", "Bob"]


def test_the_same_question_has_the_same_answer(project, tmp_path):
    first = project.ask(tmp_path, "worked in 1.0, broken in 1.2")
    assert all(repr(project.ask(tmp_path, "worked in 1.0, broken in 1.2")) == repr(first) for _ in range(3))


def test_a_place_beyond_the_end_of_a_file_is_accepted(project, tmp_path):
    project.ask(tmp_path, "worked in 1.0, broken in 1.1", Spot("lib/parser.py", 5, 900, focus=(6, 6)))
    project.ask(tmp_path, "worked in 1.0, broken in 1.1", Spot("lib/gone.py", 5, 9, focus=(6, 6)))
    assert project.ask(tmp_path, "no place").suspicion.doubt == "no_version"


def test_no_code_of_the_repository_is_executed(project, tmp_path):
    clone = project.story.build(tmp_path / "r")
    (clone / "info").mkdir(exist_ok=True)
    (clone / "info" / "attributes").write_text("* diff=evil filter=evil\n")
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\ncat $1 2>/dev/null\n")
    script.chmod(0o755)
    settings = [
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "core.pager",
        "gpg.program",
        "core.fsmonitor",
    ]
    for key in (*settings, "filter.evil.smudge", "filter.evil.clean"):
        git(clone, "config", key, str(script))
    git(clone, "config", "log.showSignature", "true")
    assert project.subjects(tmp_path, "worked in 1.0, broken in 1.1")
    assert not (tmp_path / "ran").exists()


def test_a_change_is_re_read_by_its_sha(project, tmp_path):
    project.ask(tmp_path, "")
    repository = Repository.open(tmp_path / "r")
    sha, read = project.story.sha(project.guilty), project.story.sha(project.other)
    assert subject_of(Log(repository, repository.resolve("main")), sha) == "Speed up the parser"
    assert subject_of(Log(repository, read), sha) is None
    assert subject_of(Log(repository, read), "0" * 40) is None
    for forged in ("main", "--all", "v1.1", sha[:12], f"{sha}\n"):
        assert subject_of(Log(repository, repository.resolve("main")), forged) is None
        with pytest.raises(ValueError, match="SHA"):
            Log(repository, forged)


def test_messages_are_cut_and_read_in_any_encoding(tmp_path):
    story = Story()
    mark = story.commit("2024-01-01", {"x": "1"}, "S" * 5_000 + "\n\n:100644 forged\0"[:-1] + "b" * 9_000)
    repository = Repository.open(story.build(tmp_path))
    commit = Log(repository, story.sha(mark)).details([story.sha(mark)])[0]
    assert (len(commit.subject), len(commit.body), commit.files) == (300, 4_000, ("x",))
