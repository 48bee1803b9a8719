"""Changes that the report names, or that are between its versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.search.facts.finding import facts_at, of_kind
from tests.support.repositories import git, make_repository

ONE = "def load(path):\n    handle = open_it(path)\n    return handle\n"
TWO = "def load(path):\n    handle = open_it_lazily(path)\n    return handle\n"
OTHER = "def scan(text):\n    return text.split(':')\n"


def _history(path: Path, message: str) -> tuple[str, str]:
    make_repository(path, {"zones/io.py": ONE, "zones/scan.py": OTHER})
    git(path, "tag", "v1.2.0")
    change = make_repository(path, {"zones/io.py": TWO, "zones/scan.py": OTHER}, message=message)
    git(path, "tag", "v1.3.0")
    return change, make_repository(path, {"zones/io.py": TWO, "zones/scan.py": OTHER + "\n"}, message="Tidy up")


def test_an_address_of_another_project_names_no_change_of_this_one(tmp_path: Path):
    _, head = _history(tmp_path / "zones", "Open lazily (#812)")
    facts = facts_at(tmp_path / "zones", head, "Handles leak", "Like https://github.com/acme/lakes/issues/812")
    assert of_kind(facts, "named_change", "introduced_in") == []


def test_a_merge_that_the_report_names_has_the_files_that_it_brought(tmp_path: Path):
    make_repository(tmp_path, {"zones/io.py": ONE})
    git(tmp_path, "checkout", "-q", "-b", "lazy")
    make_repository(tmp_path, {"zones/io.py": TWO}, message="Open lazily")
    git(tmp_path, "checkout", "-q", "-")
    git(tmp_path, "merge", "-q", "--no-ff", "-m", "Merge pull request #812 from acme/lazy", "lazy")
    head = git(tmp_path, "rev-parse", "HEAD").decode().strip()
    (found,) = of_kind(
        facts_at(tmp_path, head, "Handles leak", "Files are opened lazily (since #812)."), "named_change"
    )
    assert (found.path, found.change, found.strong) == ("zones/io.py", head, True)


@pytest.mark.parametrize(
    ("message", "body", "kind"),
    [
        pytest.param("Open lazily (#812)", "Related to #812.", "named_change", id="number"),
        pytest.param(
            "Fixed #812 -- Open lazily", "See https://github.com/acme/zones/pull/812", "named_change", id="address"
        ),
        pytest.param("Open lazily (#812)", "This broke with #812.", "introduced_in", id="blamed"),
        pytest.param("[ZONES-812] Open lazily", "Similar to ZONES-812.", "named_change", id="ticket"),
        pytest.param("Open lazily\n\nJIRA: ZONES-812", "The fix for ZONES-812 caused it", "introduced_in", id="tag"),
        pytest.param(
            "Fixes ZONES-812: open lazily", "https://a.example/jira/browse/ZONES-812", "named_change", id="page"
        ),
        pytest.param("Open lazily", "Since {sha} it leaks.", "introduced_in", id="bisected"),
    ],
)
def test_a_change_that_the_report_names_is_found(tmp_path: Path, message: str, body: str, kind: str):
    change, head = _history(tmp_path / "zones", message)
    facts = facts_at(tmp_path / "zones", head, "Handles leak", body.format(sha=change[:12]))
    (found,) = of_kind(facts, "named_change", "introduced_in")
    assert (found.kind, found.path, found.change, found.strong) == (kind, "zones/io.py", change, True)


def test_a_change_of_two_files_that_is_blamed_leads_to_its_line(tmp_path: Path):
    make_repository(tmp_path, {"zones/io.py": ONE, "zones/scan.py": OTHER})
    change = make_repository(tmp_path, {"zones/io.py": TWO, "zones/scan.py": f"{OTHER}# more\n"}, message="Be lazy")
    found = of_kind(facts_at(tmp_path, change, "Handles leak", f"It worked prior to {change}."), "introduced_in")
    assert [(fact.path, fact.line, fact.strong) for fact in found] == [
        ("zones/io.py", 2, True),
        ("zones/scan.py", None, False),
    ]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        pytest.param("Related to #812.", None, id="two-functions"),
        pytest.param("Related to #812: `load_lazily(` leaks", 2, id="one-of-them-is-named"),
        pytest.param("Related to #812: load leaks", None, id="a-common-word"),
    ],
)
def test_the_line_of_a_change_is_shown_if_it_is_in_one_function(tmp_path: Path, body: str, line: int | None):
    old, new = (
        f"def load_lazily(path):\n    return {x}(path)\n\n\ndef scan(path):\n    return {x}_text(path)\n"
        for x in ("read", "open")
    )
    make_repository(tmp_path, {"zones/io.py": old})
    change = make_repository(tmp_path, {"zones/io.py": new}, message="Open lazily (#812)")
    (found,) = of_kind(facts_at(tmp_path, change, "Handles leak", body), "named_change")
    assert (found.line, found.text) == (line, line and "    return open(path)")


@pytest.mark.parametrize(
    ("body", "strong"),
    [
        ("This reopens #812.", True),
        ("It is back, as in #812.", True),
        ("#812 is not fixed", True),
        ("See #812.", False),
    ],
)
def test_a_change_of_two_files_that_did_not_end_the_fault_leads(tmp_path: Path, body: str, strong: bool):
    make_repository(tmp_path, {"zones/io.py": ONE, "zones/scan.py": ONE})
    head = make_repository(tmp_path, {"zones/io.py": TWO, "zones/scan.py": TWO}, message="Open lazily (#812)")
    found = of_kind(facts_at(tmp_path, head, "Handles leak", body), "named_change")
    assert [(fact.path, fact.strong) for fact in found] == [("zones/io.py", strong), ("zones/scan.py", strong)]


@pytest.mark.parametrize(
    ("message", "body"),
    [
        pytest.param("Open lazily (#8123)", "Related to #812.", id="a-longer-number"),
        pytest.param("ZONES-8123 Open lazily", "Related to ZONES-812.", id="a-longer-key"),
        pytest.param("Open lazily as UTF-16", "The file is UTF-16.", id="an-encoding"),
        pytest.param("Open lazily, unlike ZONES-812", "Related to ZONES-812.", id="a-message-that-refers"),
        pytest.param("ZONES-812 Open lazily", "It runs `load()  // ZONES-812 is open`.", id="a-remark-in-code"),
        pytest.param('Revert "Open lazily (#812)"', "Related to #812.", id="a-revert"),
        pytest.param("Open lazily (#812)", "<!-- like #812 -->It leaks.", id="a-template's-comment"),
        pytest.param("Open lazily (#1)", "#1 it leaks", id="an-item-of-a-list"),
        pytest.param("Open lazily", "It leaks in the latest version (`main`, commit {sha}).", id="the-commit-in-use"),
    ],
)
def test_a_change_that_the_report_does_not_name_is_not_a_fact(tmp_path: Path, message: str, body: str):
    change, head = _history(tmp_path, message)
    facts = facts_at(tmp_path, head, "Handles leak", body.format(sha=change[:12]))
    assert of_kind(facts, "named_change", "introduced_in") == []


def test_a_change_newer_than_the_commit_is_unknown(tmp_path: Path):
    change, _ = _history(tmp_path, "Open lazily (#812)")
    before = git(tmp_path, "rev-parse", f"{change}~1").decode().strip()
    facts = facts_at(tmp_path, before, "Handles leak", f"Related to #812 and {change}.")
    assert of_kind(facts, "named_change", "introduced_in") == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("It works in 1.2.0 and fails in 1.3.0.", id="english"),
        pytest.param("Regression: it worked in 1.2.0, broken since 1.3.0", id="regression"),
    ],
)
def test_the_change_that_brought_a_line_between_two_versions_is_found(tmp_path: Path, body: str):
    change, head = _history(tmp_path, "Open lazily")
    code = "\n\n```\nhandle = open_it_lazily(path)\nreturn handle.read_all()\n```\n"
    facts = facts_at(tmp_path, head, "`load` leaks handles", body + code)
    only, line = sorted(of_kind(facts, "introduced_in"), key=lambda fact: not fact.strong)
    assert {fact.text for fact in (only, line)} == {"    handle = open_it_lazily(path)"}
    assert [(fact.change, fact.path, fact.strong) for fact in (only, line)] == [
        (change, "zones/io.py", True),
        (change, "zones/io.py", False),
    ]
    assert (only.symbol, only.count) == ("load", 1)


TYPED = "def load(path: str | None) -> int:\n    handle = open_it(path)\n    return handle\n"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        pytest.param({"zones/io.py": ONE}, {"zones/io.py": TYPED}, "Describe arguments", id="annotations"),
        pytest.param({"zones/io.py": ONE}, {"zones/io.py": ONE.replace("    ", "\t")}, "Indent", id="spaces"),
        pytest.param({"zones/old.py": ONE}, {"zones/io.py": ONE}, "Rename module old to io", id="rename"),
        pytest.param(
            {"zones/io.py": OTHER},
            {"zones/io.py": ONE, **{f"zones/z{n}.py": f"{n}" for n in range(60)}},
            "Import the zones",
            id="many-files",
        ),
    ],
)
def test_a_change_that_keeps_the_body_introduced_nothing(tmp_path: Path, before, after, message: str):
    make_repository(tmp_path, {"zones/scan.py": OTHER, **before})
    git(tmp_path, "tag", "v1.2.0")
    git(tmp_path, "rm", "-rq", "zones")
    head = make_repository(tmp_path, {"zones/scan.py": OTHER, **after}, message=message)
    git(tmp_path, "tag", "v1.3.0")
    facts = facts_at(tmp_path, head, "`load` leaks handles", "It works in 1.2.0 and fails in 1.3.0.")
    assert [fact.text for fact in of_kind(facts, "introduced_in") if "def load" in (fact.text or "")] == []


def test_a_line_older_than_the_good_version_was_not_brought_by_any_change(tmp_path: Path):
    _, head = _history(tmp_path, "Open lazily")
    facts = facts_at(tmp_path, head, "`load` leaks handles", "It works in 1.2.0 and fails in 1.3.0.")
    assert "def load(path):" not in [fact.text for fact in of_kind(facts, "introduced_in")]
    assert {fact.path for fact in of_kind(facts, "introduced_in", "changed_in")} == {"zones/io.py"}


@pytest.mark.parametrize(
    ("message", "count"), [("Open lazily", 2), ("Update license headers of all files", 1)], ids=["code", "headers"]
)
def test_a_change_of_headers_only_is_no_fact(tmp_path: Path, message: str, count: int):
    make_repository(tmp_path, {"zones/io.py": ONE})
    git(tmp_path, "tag", "v1.2.0")
    make_repository(tmp_path, {"zones/io.py": f"# All rights reserved\n{ONE}"}, message=message)
    last = make_repository(
        tmp_path, {"zones/io.py": f"# All rights reserved\n{ONE}\n\nLIMIT = 3\n"}, message="Limit zones"
    )
    git(tmp_path, "tag", "v1.3.0")
    facts = facts_at(tmp_path, last, "Handles of zones leak", "It works in 1.2.0 and fails in 1.3.0.")
    assert len(of_kind(facts, "changed_in")) == count


@pytest.mark.parametrize("also", ["", "\n\nLIMIT = 3\n"], ids=["mode", "mode-and-a-line"])
def test_a_change_of_the_mode_of_a_file_only_is_no_fact(tmp_path: Path, also: str):
    make_repository(tmp_path, {"zones/io.py": ONE})
    git(tmp_path, "tag", "v1.2.0")
    blob = git(tmp_path, "hash-object", "-w", "--stdin", stdin=(ONE + also).encode()).decode().strip()
    git(tmp_path, "read-tree", "HEAD")
    git(tmp_path, "update-index", "--cacheinfo", f"100755,{blob},zones/io.py")
    git(tmp_path, "commit", "-qm", "Let handles of zones run")
    git(tmp_path, "tag", "v1.3.0")
    head = git(tmp_path, "rev-parse", "HEAD").decode().strip()
    facts = facts_at(tmp_path, head, "Handles of zones leak", "It works in 1.2.0 and fails in 1.3.0.")
    assert len(of_kind(facts, "changed_in")) == bool(also)


def test_two_changes_in_the_range_are_not_the_only_one(tmp_path: Path):
    make_repository(tmp_path, {"zones/io.py": ONE, "zones/scan.py": OTHER})
    git(tmp_path, "tag", "v1.2.0")
    make_repository(tmp_path, {"zones/io.py": TWO, "zones/scan.py": OTHER}, message="Open lazily")
    last = make_repository(
        tmp_path, {"zones/io.py": TWO, "zones/scan.py": OTHER.replace(":", ";")}, message="Split at semicolons"
    )
    git(tmp_path, "tag", "v1.3.0")
    facts = facts_at(tmp_path, last, "`load` and `scan` fail", "It works in 1.2.0 and fails in 1.3.0.")
    assert [fact for fact in of_kind(facts, "introduced_in") if fact.strong] == []


@pytest.mark.parametrize(
    ("title", "chosen"), [("Handles stay open", True), ("Nothing is shown", False)], ids=["its-words", "other-words"]
)
def test_the_only_change_of_the_first_file_leads_if_it_shares_a_word(tmp_path: Path, title: str, chosen: bool):
    make_repository(tmp_path, {"zones/io.py": ONE})
    git(tmp_path, "tag", "v1.2.0")
    changed = f"{ONE.replace('open_it', 'open_it_lazily')}\n\ndef close(handle):\n    handle.shut()\n"
    head = make_repository(tmp_path, {"zones/io.py": changed}, message="Open the handles lazily")
    git(tmp_path, "tag", "v1.3.0")
    facts = facts_at(tmp_path, head, title, "It works in 1.2.0, all newer versions fail.")
    assert [fact.chosen for fact in of_kind(facts, "changed_in")] == [chosen]


def test_the_few_changes_of_a_file_that_the_title_names_lead(tmp_path: Path):
    make_repository(tmp_path, {"zones/keyReader.js": "exports.read = 1;\n", "zones/io.js": "exports.load = 1;\n"})
    git(tmp_path, "tag", "v1.2.0")
    for number, message in ((2, "Count what is shown"), (3, "Read 3")):
        files = {"zones/keyReader.js": f"exports.read = {number};\n", "zones/io.js": "exports.load = 1;\n"}
        head = make_repository(tmp_path, files, message=message)
    git(tmp_path, "tag", "v1.3.0")
    facts = facts_at(tmp_path, head, "KeyReader: nothing is shown", "It works in 1.2.0 and fails in 1.3.0.")
    found = of_kind(facts, "changed_in")
    assert [(fact.path, fact.chosen) for fact in found] == [("zones/keyReader.js", True)] * 2
    assert "Count what is shown" in found[0].says  # it shares a word with the report


def test_versions_of_something_else_give_no_range(tmp_path: Path):
    _, head = _history(tmp_path, "Open lazily")
    facts = facts_at(tmp_path, head, "`load` leaks handles", "It works with Python 3.10 and fails with Python 3.12.")
    assert of_kind(facts, "introduced_in", "changed_in") == []


def test_a_renamed_file_introduced_no_line(tmp_path: Path):
    code = ONE.replace("load", "load_all_zones")
    make_repository(tmp_path, {"zones/io.py": code})
    git(tmp_path, "tag", "v1.2.0")
    head = make_repository(tmp_path, {"zones/reading.py": code}, message="Read zones elsewhere")
    git(tmp_path, "tag", "v1.3.0")
    facts = facts_at(tmp_path, head, "`load_all_zones` fails", "It works in 1.2.0 and fails in 1.3.0.")
    assert of_kind(facts, "introduced_in") == []


@pytest.mark.parametrize(("title", "has_range"), [("Kotlin 1.2.5 support", False), ("Update 1.2.5 fails", True)])
def test_a_version_of_another_product_in_the_title_gives_no_range(tmp_path: Path, title: str, *, has_range: bool):
    make_repository(tmp_path, {"zones/io.py": OTHER})
    git(tmp_path, "tag", "v1.2.0")
    make_repository(tmp_path, {"zones/io.py": ONE}, message="Open handles")
    git(tmp_path, "tag", "v1.3.0")
    head = make_repository(tmp_path, {"zones/io.py": ONE, "other.py": "x = 1\n"})
    facts = facts_at(tmp_path, head, title, "`load` broke in 1.2.5.", first=["zones/io.py"])
    assert any("within 1.2.0 → 1.3.0" in fact.says for fact in facts) is has_range
