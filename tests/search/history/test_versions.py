"""Tags in every spelling are parsed as releases and sorted by version."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from nodes.search.git import Repository
from nodes.search.history.versions import Releases, main_releases, parse_tag, parse_version, read_releases
from tests.search.history.story import Story, seconds
from tests.support.repositories import git


@pytest.mark.parametrize(
    ("tag", "series", "version"),
    [
        ("1.2.3", "", "1.2.3"),
        ("v1.2.3", "", "1.2.3"),
        ("V1.2", "", "1.2"),
        ("v2", "", "2"),
        ("release-1.2.3", "", "1.2.3"),
        ("release/2024.1", "", "2024.1"),
        ("REL_1_2", "", "1.2"),
        ("REL1_2_3", "", "1.2.3"),
        ("name-1.2.3", "name", "1.2.3"),
        ("name/v1.2.3", "name", "1.2.3"),
        ("name-v1.2.3-rc.1", "name", "1.2.3rc1"),
        ("curl-7_68_0", "curl", "7.68.0"),
        ("@scope/pkg@1.2.3-beta.4", "scope/pkg", "1.2.3b4"),
        ("cmd/tool/v1.2.0", "cmd/tool", "1.2.0"),
        ("log4j2-2.17.1", "log4j2", "2.17.1"),
        ("go1.2.3", "go", "1.2.3"),
        ("php-7.4.0RC1", "php", "7.4.0rc1"),
        ("5.0.0.Final", "", "5.0.0"),
        ("2.0.0.RELEASE", "", "2.0.0"),
        ("4.0.0-M1", "", "4.0.0a1"),
        ("1.0.0.CR2", "", "1.0.0rc2"),
        ("jackson-core-2.10.0.pr1", "jackson-core", "2.10.0rc1"),
        ("8.0.0-rc.2.23475.17", "", "8.0.0rc2"),
        ("1.0-SNAPSHOT", "", "1.0.dev0"),
        ("v1.68.0-dev", "", "1.68.0.dev0"),
        ("1.5c1", "", "1.5rc1"),
    ],
)
def test_a_tag_names_a_release(tag, series, version):
    assert parse_tag(tag) == (series, Version(version))


@pytest.mark.parametrize("tag", ["nightly", "nightly-2024-01-05", "stable", "2.0.x", "v1.5.2-kernel", "joss_paper", ""])
def test_other_tags_name_none(tag):
    assert parse_tag(tag) is None


@given(st.text(max_size=60))
def test_any_tag_can_be_read(tag):
    parse_tag(tag)
    parse_version(tag)


def releases(tmp_path, *tags):
    story = Story()
    for number, tag in enumerate(tags, 1):
        mark = story.commit(f"2024-01-{number:02}", {"x": str(number)})
        story.tag(tag, mark)
    return read_releases(Repository.open(story.build(tmp_path)), seconds("2025-01-01"))


def names(found):
    return [release.tag for release in found.all]


def test_releases_sort_as_versions_not_as_text(tmp_path):
    found = releases(tmp_path, "v1.10", "v1.9", "v1.9.1", "v2.0rc1", "v2.0", "v2.0.dev1")
    assert names(found[""]) == ["v1.9", "v1.9.1", "v1.10", "v2.0.dev1", "v2.0rc1", "v2.0"]


@pytest.mark.parametrize(
    ("requested", "exact", "before", "after"),
    [
        pytest.param("1.10", "v1.10", "v1.9.1", "v2.0", id="released"),
        pytest.param("1.10.0", "v1.10", "v1.9.1", "v2.0", id="with-a-zero-more"),
        pytest.param("1.8", None, None, "v1.9.1", id="older-than-all"),
        pytest.param("1.9", "v1.9.1", None, "v1.9.1", id="the-first-of-its-kind"),
        pytest.param("2.0rc1", "v2.0rc1", "v1.10", "v2.0", id="a-candidate"),
        pytest.param("2.0", "v2.0", "v1.10", None, id="final-looks-back-to-final"),
        pytest.param("3.0", None, "v2.0", None, id="to-come"),
    ],
)
def test_neighbours_of_a_version(tmp_path, requested, exact, before, after):
    found = releases(tmp_path, "v1.9.1", "v1.10", "v2.0rc1", "v2.0")[""]
    version = Version(requested)
    answers = (found.exactly(version), found.before(version, 10**11), found.after(version))
    assert [answer and answer.tag for answer in answers] == [exact, before, after]


def test_releases_of_several_packages_are_separated(tmp_path):
    found = releases(tmp_path, "core-1.0", "core-1.1", "core-1.2", "tool/v0.1", "v0.9")
    assert {name: names(series) for name, series in found.items()} == {
        "core": ["core-1.0", "core-1.1", "core-1.2"],
        "tool": ["tool/v0.1"],
        "": ["v0.9"],
    }
    assert names(main_releases(found)) == ["v0.9"]
    assert names(main_releases(found, frozenset({"core"}))) == ["v0.9", "core-1.0", "core-1.1", "core-1.2"]


def test_what_was_tagged_later_does_not_exist_yet(tmp_path):
    story = Story()
    early = story.commit("2024-01-01", {"x": "1"})
    late = story.commit("2024-03-01", {"x": "2"})
    story.tag("v1.0", early)
    story.tag("v1.0.post1", early, day="2024-02-15")
    story.tag("v2.0", late)
    found = read_releases(Repository.open(story.build(tmp_path)), seconds("2024-02-01"))
    assert names(found[""]) == ["v1.0"]


def test_without_tags_there_are_no_releases(tmp_path):
    assert releases(tmp_path) == {}
    assert main_releases({}).all == Releases(()).all == []


def test_tags_are_read_again_only_after_one_of_them_changed(tmp_path, monkeypatch):
    story = Story()
    first, second = (story.commit(f"2024-01-0{day}", {"x": str(day)}) for day in (1, 2))
    story.tag("v1.0", first)
    repository = Repository.open(story.build(tmp_path))
    now = seconds("2025-01-01")
    started: list[object] = []
    start = Repository.start

    def recorded(*given, **named):
        started.append(given)
        return start(*given, **named)

    monkeypatch.setattr(Repository, "start", recorded)

    def read():
        started.clear()
        return [(release.tag, release.commit) for release in read_releases(repository, now).get("", Releases(())).all]

    changes = ("tag lib/v2.0", False), (f"tag -f v1.0 {story.sha(second)}", True), ("pack-refs --all", False)
    for command, moved in changes:
        before = read()
        time.sleep(0.1)
        assert (read(), read(), len(started)) == (before, before, 0)
        git(tmp_path, *command.split())
        after = read()
        assert started
        assert (after != before) == moved
    assert sorted(read_releases(repository, now)) == ["", "lib"]
    git(tmp_path, "tag", "-d", "v1.0", "lib/v2.0")
    assert read() == []
