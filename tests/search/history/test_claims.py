"""Extraction of versions, days and commits with their roles from what people write."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.search.history.claims import Claim, NamedChange, names_a_range, parse_day, read_claims
from tests.support.growth import assert_linear

VERSIONS = [
    ("worked in 2.3, broken in 2.4.1", "good 2.3, bad 2.4.1"),
    ("worked fine in v2.3 but fails in v2.4", "good 2.3, bad 2.4"),
    ("This works with 2.8.1, but not with 2.9.", "good 2.8.1, bad 2.9"),
    ("2.3.2 worked fine, 2.4.1 does not.", "good 2.3.2, bad 2.4.1"),
    ("5.1.1 works fine. after upgrade to 5.1.2, the path was lower case", "good 5.1.1, bad 5.1.2"),
    ("regression since 4.0", "bad 4.0"),
    ("Regression in dict compression with 1.3.3", "bad 1.3.3"),
    ("Starting v6.2.0, fixtures are no longer private", "bad 6.2.0"),
    ("It stopped working in 2.4", "bad 2.4"),
    ("no longer works in 2.4", "bad 2.4"),
    ("It no longer works with such shapes as in 2.3.1", "good 2.3.1"),
    ("It fails with the same error as in 2.3.1", "affected 2.3.1"),
    ("doesn't work correctly in 2.4", "bad 2.4"),
    ("1.8.1 regression", "bad 1.8.1"),
    ("4.19.0 breaks redirects", "bad 4.19.0"),
    ("v3.3 upgrade started generating warnings", "bad 3.3"),
    ("Fails in 1.25.1 or later", "bad 1.25.1"),
    ("after upgrading from 2.3.1 to 2.4", "good 2.3.1, bad 2.4"),
    ("Since we updated to\n2.4 nothing works", "bad 2.4"),
    ("`v0.10.0` -> `v0.10.1` breaks this", "good 0.10.0, bad 0.10.1"),
    ("After the update from 1.2.0 to 1.3.0 or 1.4.0 it is empty", "good 1.2.0, bad 1.3.0, bad 1.4.0"),
    ("there were two regressions between 1.4.5 and 1.4.7", "good 1.4.5, bad 1.4.7"),
    ("something changed between 5.4.2 and 5.4.1", "bad 5.4.2, good 5.4.1"),
    ("downgrading to 2.3.2 fixes it", "good 2.3.2"),
    ("I downgraded from 2.4 to 2.3 and it is gone", "bad 2.4, good 2.3"),
    ("cannot reproduce in 3.0.1", "good 3.0.1"),
    ("This is not a problem in v5.2.", "good 5.2"),
    ("This didn't happen back in v1.3.3", "good 1.3.3"),
    ("last working version: 1.9.3", "good 1.9.3"),
    ("It works with version 2.3.0, but not with versions after that.", "last 2.3.0"),
    ("Worked fine in 2.3.0, all later versions are broken", "last 2.3.0"),
    ("Everything after 1.8.0 fails to load", "last 1.8.0"),
    ("Any version newer than 2.3.0 crashes", "last 2.3.0"),
    ("Mit 2.3.0 ging es, neuere Versionen stürzen ab", "last 2.3.0"),
    ("2.3.0では動きますが、以降のバージョンでは動きません。", "last 2.3.0"),
    ("2.1.0 and 2.2.0 work, newer versions crash", "last 2.2.0"),
    ("2.3.0 works, and newer versions also work", "good 2.3.0"),
    ("It works with 2.3.0 and newer versions", "affected 2.3.0"),
    ("2.3.0 crashes, newer versions do not", "affected 2.3.0"),
    ("No problem with versions after 2.3.0", "good 2.3.0"),
    ("I need a version newer than 2.3.0", ""),
    ("works up to 1.9.3", "good 1.9.3"),
    ("works until 2.3.0", "until 2.3.0"),
    ("prior to 3.2.0 links passed", "bad 3.2.0"),
    ("I can reproduce it in v4.0.0", "affected 4.0.0"),
    ("deprecated since 3.5", ""),
    ("since 3.2 is the LTS we use it", ""),
    ("fixed in 2.5", ""),
    ("a function added in 1.0", ""),
    ("html.escape() has been available since 3.2", ""),
    ("connects to 192.168.0.20 since today", ""),
    ("```\nbroken since 2.3\n```", ""),
    ("see https://example.org/docs/2.3/since-2.4.html", ""),
    ("1.5 times slower", ""),
    ("It fails in 2.2+", "bad 2.2"),
    ("version: master (3.5.0.dev1362+g57489bf19b)", "affected 3.5.0.dev1362"),
    ("and feedbox 1.2.0 sorts them", "affected 1.2.0"),
    ("Fails with 7.1.0+.", "bad 7.1.0"),
    ("Fluxo version: 7.1.0+/d3c91f951", "affected 7.1.0"),
    ("Fluxo version: 7.1.0+.d3c91f951", "affected 7.1.0"),
]


@pytest.mark.parametrize(("text", "expected"), VERSIONS, ids=[text[:40] for text, _ in VERSIONS])
def test_versions_and_their_parts(text, expected):
    found = read_claims("", text).versions
    assert ", ".join(f"{claim.part} {claim.text}" for claim in found) == expected


@pytest.mark.parametrize(
    ("text", "name", "certain"),
    [
        pytest.param("broken since Python 3.9", "Python", True, id="a-language"),
        pytest.param("broken since numpy 1.20", "numpy", True, id="a-known-package-in-prose"),
        pytest.param("it fails with frobnicate==1.20", "frobnicate", True, id="pinned"),
        pytest.param("a regression in tokio-macros 1.8.1", "tokio-macros", True, id="no-plain-word"),
        pytest.param("it broke in Sphinx version 3.2", "Sphinx", True, id="capital-letter"),
        pytest.param("broken since zstd 1.3.3", "zstd", False, id="may-be-prose"),
        pytest.param("broken since version 1.3.3", "", False, id="unnamed"),
        pytest.param("App version: 1.3.3", "", False, id="the-program-itself"),
    ],
)
def test_a_version_may_belong_to_another_project(text, name, certain):
    claim = read_claims("", text).versions[0]
    assert (claim.name, claim.certain) == (name, certain)


def test_versions_are_read_under_the_headings_of_an_issue_form():
    body = (
        "### Last working version\n\n2.3.1\n\n### Version\n\n2.4.0\n\n### Python version\n\n3.9.1\n\n### Other\n\n7.7"
    )
    assert {(claim.part, claim.text) for claim in read_claims("", body).versions} >= {
        ("good", "2.3.1"),
        ("affected", "2.4.0"),
    }


def test_going_back_to_a_version_that_works_is_a_range() -> None:
    texts = (
        "It fails to start; going back to 1.2.0 fixes it",
        "更新后出错，换回v26.3.27可以正常启动",
        "It works in 1.2.0",
    )
    assert [names_a_range(text, "") for text in texts] == [True, True, False]


@pytest.mark.parametrize(
    ("heading", "worked"),
    [
        pytest.param("Version", "Mit der Version 1.8.2 ging es noch.", id="german"),
        pytest.param("Version de l'application", "Avec la version 1.8.2, cela fonctionnait.", id="french"),
        pytest.param("Versión", "Antes, con la versión 1.8.2, funcionaba.", id="spanish"),
        pytest.param("Versão do aplicativo", "Na versão 1.8.2 funcionava.", id="portuguese"),
        pytest.param("Versione", "Con la versione 1.8.2 funzionava.", id="italian"),
        pytest.param("Wersja aplikacji", "W wersji 1.8.2 działało.", id="polish"),
        pytest.param("Версия программы", "В версии 1.8.2 всё работало.", id="russian"),
        pytest.param("Sürüm", "1.8.2 sürümünde çalışıyordu.", id="turkish"),
        pytest.param("版本号", "升级前的 1.8.2 正常。", id="chinese"),
        pytest.param("版本", "升級前的 1.8.2 正常。", id="traditional-chinese"),
        pytest.param("バージョン", "1.8.2では正しく動いていました。", id="japanese"),
        pytest.param("버전", "1.8.2에서는 정상이었습니다.", id="korean"),
    ],
)
def test_the_version_of_a_form_and_the_one_that_worked_are_a_range(heading: str, worked: str) -> None:
    assert names_a_range("", f"### {heading}\n\n1.8.3\n\n### ?\n\n{worked}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("broken since 2023-05-01", [Claim("bad", "2023-05-01")], id="iso"),
        pytest.param("It worked on May 3rd, 2023.", [Claim("good", "2023-05-03")], id="american"),
        pytest.param("broken since 12 March 2021", [Claim("bad", "2021-03-12")], id="european"),
        pytest.param("broken since May 2023", [Claim("bad", "2023-05")], id="month"),
        pytest.param("nightly 2024-01-05 works", [Claim("good", "2024-01-05")], id="nightly"),
        pytest.param("it prints 2023-05-01 20:50:00 since it works", [], id="a-moment-is-data"),
        pytest.param("reported 2023-05-01", [], id="nothing-texts"),
        pytest.param("broken since 2023-13-45", [], id="no-day"),
    ],
)
def test_days(text, expected):
    assert list(read_claims("", text).days) == expected


@pytest.mark.parametrize(
    ("text", "commits", "numbers"),
    [
        pytest.param("Regression by #27515 and 5ceaf14686", [("5ceaf14686", True)], [("27515", True)], id="both"),
        pytest.param("Since [x](https://github.com/a/b/commit/24638f5) it fails", [("24638f5", True)], [], id="link"),
        pytest.param("bisected to abc1234def", [("abc1234def", True)], [], id="bisected"),
        pytest.param("abc1234def is the first bad commit", [("abc1234def", True)], [], id="after"),
        pytest.param("I am on commit abc1234def", [("abc1234def", False)], [], id="merely-named"),
        pytest.param("see https://github.com/a/b/blob/24638f5984c/x.py", [], [], id="a-place-is-no-change"),
        pytest.param("The zones are joined (since #77)", [], [("77", False)], id="an-aside"),
        pytest.param("similar to #12", [], [("12", False)], id="cross-reference"),
        pytest.param("broken by CORE-12, see CORE-13", [], [("CORE-12", True), ("CORE-13", False)], id="tickets"),
        pytest.param("UTF-8, SHA-256, CVE-2021-44228, x.CORE-1", [], [], id="standards"),
        pytest.param("broken since #77, see #78", [], [("77", True), ("78", False)], id="one-blamed-one-not"),
        pytest.param("gcc 20140120 and deadbeef", [], [], id="digits-or-letters-alone"),
    ],
)  # fmt: skip
def test_commits_and_numbers(text, commits, numbers):
    found = read_claims("", text)
    assert [(named.text, named.blamed) for named in found.commits] == commits
    assert [(named.text, named.blamed) for named in found.numbers] == numbers


@pytest.mark.parametrize(
    ("text", "in_use"),
    [
        pytest.param("wrong in the latest version (`main`, `commit abc1234def`)", True, id="a-branch"),
        pytest.param("I am on commit abc1234def", True, id="a-state"),
        pytest.param("Version: master at abc1234def", True, id="a-version"),
        pytest.param("Git Revision: abc1234def,", True, id="a-revision"),
        pytest.param("built from abc1234def", True, id="a-build"),
        pytest.param("v1.2.0-beta19 (demo: `canary (abc1234def)`)", True, id="a-channel"),
        pytest.param("3.12.0-beta1 (abc1234def)", True, id="a-number"),
        pytest.param("fixed in 3.12.0 (abc1234def)", False, id="a-fixed-release"),
        pytest.param("Regression in main, commit abc1234def", False, id="blamed"),
        pytest.param("fixed in main by commit abc1234def", False, id="a-fix"),
        pytest.param("commit abc1234def changed the order", False, id="a-change"),
    ],
)
def test_a_commit_in_use_is_no_change(text, in_use):
    (named,) = read_claims("", text).commits
    assert named.in_use == in_use


def test_the_title_counts_and_stack_traces_do_not():
    trace = (
        'Traceback (most recent call last):\n  File "/usr/x-2.3/since 2.3/a.py", line 1, in a\nValueError: since 2.3'
    )
    found = read_claims("Broken since 4.2", trace)
    assert [claim.text for claim in found.versions] == ["4.2"]


@pytest.mark.tried("texts made to be slow to read")
@pytest.mark.parametrize(
    "piece", ["worked in 2.3 ", "1.2.3.", "since #1 ", "a1b2c3d ", "May 2023 ", "https://a/b/c/commit/", "- "]
)
@pytest.mark.parametrize("end", ["", "\n"])
def test_hostile_text_costs_no_more_than_its_length(piece, end):
    text = piece + end
    assert_linear(lambda body: read_claims(piece * 50, body), lambda size: text * (size // len(text)), 1_000_000)


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["since ", "2.3", " to ", "\n", "worked ", "#1", "-> ", "May 2023"])).map("".join)
)
def test_no_text_is_refused(text):
    for named in read_claims(text, text).commits:
        assert isinstance(named, NamedChange)


@pytest.mark.parametrize(
    ("text", "day"), [("2024-02-30", None), ("30 Feb 2024", None), ("1st Sept. 2024", "2024-09-01")]
)
def test_invalid_days_are_ignored(text, day):
    assert parse_day(text) == day
