"""Reports with known fixes are collected from real clones, without those that training must not see."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.ranking.collected import BODY, FIXED, collect, fixed_in
from tests.support.repositories import make_repository

CLOSING = """fix(zones): wrong hour if the file has no time zone

Reading a file without a time zone returned the wrong hour and the caller failed later with an unclear error.
We now read first_line of the file instead.

Fixes #7
Signed-off-by: T <t@example.org>
"""


def _denchmark(repository: str, fix: str, number: str = "5", body: str = BODY) -> dict[str, Any]:
    report = {"BR_id": number, "BR_text": {"BRsummary": "Wrong hour", "BRdescription": body}}
    name = f"JSonSet/fulljson/{repository.lower().replace('/', '+')}/{number}.json"
    return {name: json.dumps({"BR": report, "commit": {"commit_id": fix}})}


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    return tmp_path / "clones"


def test_a_report_gets_the_files_and_functions_of_its_fix(clones: Path) -> None:
    base, fix = fixed_in(clones, "Acme+zones")
    text = f"<denchmark-h:h2>Bug</denchmark-h>\n{BODY}\n<denchmark-code>load('a &lt; b')</denchmark-code>"
    make_repository(clones / "RosePasta+Denchmark_BRs" / "repo", _denchmark("acme/zones", fix, body=text))
    (row,) = collect(clones)
    assert (row["repo"], row["base_commit"], row["source"], row["weight"]) == ("acme/zones", base, "denchmark", 1.0)
    assert (row["gold_files"], row["gold_functions"]) == (["zones/io files.py"], ["zones/io files.py::load"])
    assert row["issue"].startswith("Wrong hour\n\n")
    assert "denchmark" not in row["issue"]
    assert "```\nload('a < b')\n```" in row["issue"]


def test_the_table_contains_labels_and_no_text(clones: Path) -> None:
    _, fix = fixed_in(clones, "acme+zones")
    make_repository(clones / "RosePasta+Denchmark_BRs" / "repo", _denchmark("acme/zones", fix))
    collect(clones, as_process=True)
    table = (clones.parent / "table.csv").read_text()
    (row,) = csv.DictReader(table.splitlines())
    assert row["gold_files"].split("|") == ["zones/io files.py"]
    assert "hour" not in table


def test_a_message_that_closes_an_issue_is_a_weak_label_without_its_fix(clones: Path) -> None:
    fixed_in(clones, "acme+zones", CLOSING)
    (row,) = collect(clones)
    assert (row["source"], row["weight"]) == ("commit", 0.4)
    assert row["issue"].startswith("wrong hour if the file has no time zone\n\nReading a file")
    for part in ("first_line", "Signed-off", "#7", "fix("):
        assert part not in row["issue"]


@pytest.mark.parametrize(
    ("subject", "weights"),
    [
        ("Support files without a time zone", []),
        ("#7: Allow files without a time zone", []),
        ("Fix support for files without a time zone", [0.4]),
        ("Hour of a file without a time zone", [0.4]),
    ],
)
def test_a_message_that_adds_a_feature_is_no_label(clones: Path, subject: str, weights: list[float]) -> None:
    fixed_in(clones, "acme+zones", CLOSING.replace(CLOSING.partition("\n")[0], subject))
    assert [row["weight"] for row in collect(clones)] == weights


def test_a_message_that_does_not_say_what_goes_wrong_weighs_less(clones: Path) -> None:
    plain = CLOSING.replace("wrong hour if", "hour when").replace("wrong hour", "first hour of the day")
    fixed_in(clones, "acme+zones", plain.replace("failed later with an unclear error", "went on with it, as before"))
    assert [row["weight"] for row in collect(clones)] == [0.2]


def test_a_fix_with_a_report_and_a_message_is_one_row(clones: Path) -> None:
    _, fix = fixed_in(clones, "acme+zones", CLOSING)
    make_repository(clones / "RosePasta+Denchmark_BRs" / "repo", _denchmark("acme/zones", fix))
    assert [row["source"] for row in collect(clones)] == ["denchmark"]


def _table(path: Path, *repositories: str, base: str = "") -> Path:
    """Write an earlier table with one row of each repository, without and with fixed functions in turn."""
    lines = ["id,repo,base_commit,gold_files,gold_functions,source,weight"]
    for at, name in enumerate(repositories):
        functions = "a b.py::load|lib/c.py::save" if at % 2 else ""
        row = (f"denchmark:{name.replace('/', '__')}-5", name, base or str(at + 2) * 40, "a b.py|lib/c.py", functions)
        lines.append(",".join((*row, "denchmark", "1.0")))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _ids(table: Path) -> list[str]:
    return [row["id"] for row in csv.DictReader(table.read_text(encoding="utf-8").splitlines())]


def test_a_table_grows_and_keeps_the_rows_without_a_clone(clones: Path) -> None:
    _, fix = fixed_in(clones, "Acme+zones")
    make_repository(clones / "RosePasta+Denchmark_BRs" / "repo", _denchmark("acme/zones", fix, number="6"))
    old = _table(clones.parent / "old.csv", "Zed/last", "acme/gone", "acme/zones")
    (row,) = collect(clones, keep=old)
    table = clones.parent / "table.csv"
    assert row["id"] == "denchmark:acme__zones-6"
    assert _ids(table) == ["denchmark:Zed__last-5", "denchmark:acme__gone-5", "denchmark:acme__zones-6"]
    assert table.read_text().splitlines()[1:3] == old.read_text().splitlines()[1:3]


def test_a_table_stays_as_it_is_without_new_clones(clones: Path) -> None:
    table = _table(clones.parent / "table.csv", "acme/gone", "acme/lost")
    before = table.read_bytes()
    assert collect(clones, keep=table) == []
    assert table.read_bytes() == before


def _thread(fix: str, number: int = 8) -> dict[str, Any]:
    return {"repo": "acme/zones", "number": number, "title": "Wrong hour", "body": BODY, "fix": fix}


def test_issues_that_were_looked_up_are_added_to_the_kept_rows(clones: Path) -> None:
    base, fix = fixed_in(clones, "acme+zones", CLOSING)
    old = _table(clones.parent / "old.csv", "acme/zones")
    (row,) = collect(clones, keep=old, threads=[_thread(fix)])
    assert (row["id"], row["source"], row["weight"]) == ("threads:acme__zones-8", "threads", 1.0)
    assert (row["base_commit"], row["gold_files"], row["language"]) == (base, ["zones/io files.py"], "python")
    assert _ids(clones.parent / "table.csv") == ["denchmark:acme__zones-5", "threads:acme__zones-8"]


def test_issues_that_were_looked_up_again_replace_the_kept_ones(clones: Path) -> None:
    _, fix = fixed_in(clones, "acme+zones")
    old = _table(clones.parent / "old.csv", "acme/gone", "acme/zones")
    old.write_text(old.read_text().replace("denchmark", "threads"))
    (row,) = collect(clones, keep=old, threads=[_thread(fix)])
    assert _ids(clones.parent / "table.csv") == ["threads:acme__gone-5", row["id"]]


def test_issues_that_were_looked_up_stay_when_their_repository_is_collected(clones: Path) -> None:
    fixed_in(clones, "acme+zones", CLOSING)
    old = _table(clones.parent / "old.csv", "acme/zones")
    old.write_text(old.read_text().replace("denchmark", "threads"))
    (row,) = collect(clones, keep=old)
    assert _ids(clones.parent / "table.csv") == [row["id"], "threads:acme__zones-5"]


def test_of_two_kept_rows_with_one_fix_the_report_stays(clones: Path) -> None:
    old = _table(clones.parent / "old.csv", "acme/gone")
    report = old.read_text().splitlines()[1]
    message = report.replace("denchmark", "commit").replace("-5", "-4").replace("1.0", "0.4")
    old.write_text(old.read_text().replace(report, f"{message}\n{report}"))
    assert collect(clones, keep=old) == []
    assert _ids(clones.parent / "table.csv") == ["denchmark:acme__gone-5"]


def test_a_kept_report_is_not_collected_again_from_a_clone_of_another_owner(clones: Path) -> None:
    base, fix = fixed_in(clones, "new+zones")
    make_repository(clones / "RosePasta+Denchmark_BRs" / "repo", _denchmark("acme/zones", fix))
    assert collect(clones, keep=_table(clones.parent / "old.csv", "acme/zones", base=base)) == []
    assert _ids(clones.parent / "table.csv") == ["denchmark:acme__zones-5"]


@pytest.mark.parametrize(
    ("name", "development"),
    [
        ("acme/ripgrep", {}),
        ("acme/zones", {"repo": "other/zones", "base_commit": "0" * 40}),
        ("acme/zones", {"repo": "other/hours", "base_commit": "2" * 40}),
    ],
    ids=["held back for judging", "repository of a development set", "commit of a development set"],
)
def test_held_back_rows_of_an_earlier_table_are_not_kept(clones: Path, name: str, development: dict[str, str]) -> None:
    rows = [{"id": "a-1", "issue": "x", **development}] if development else []
    assert collect(clones, rows, keep=_table(clones.parent / "old.csv", name)) == []
    assert _ids(clones.parent / "table.csv") == []


@pytest.mark.parametrize(
    ("name", "development"),
    [
        ("acme+ripgrep", {}),
        ("acme+zones", {"repo": "other/zones", "issue": "x"}),
        ("acme+zones", {"repo": "other/hours", "issue": f"Wrong hour\n\n{BODY}"}),
    ],
    ids=["held back for judging", "repository of a development set", "text of a development set"],
)
def test_held_back_issues_are_never_a_row(clones: Path, name: str, development: dict[str, str]) -> None:
    _, fix = fixed_in(clones, name)
    make_repository(clones / "RosePasta+Denchmark_BRs" / "repo", _denchmark(name.replace("+", "/"), fix))
    rows = [{"id": "a-1", "base_commit": "0" * 40, **development}] if development else []
    assert collect(clones, rows) == []


def test_a_report_without_its_commit_or_its_source_is_left_out(clones: Path) -> None:
    fixed_in(clones, "acme+zones")
    _, docs = fixed_in(clones, "acme+hours")
    tests_only = {"zones/io files.py": FIXED, "tests/test_io.py": "def test():\n    assert 2\n"}
    only_tests = make_repository(clones / "acme+hours" / "repo", tests_only)
    reports = _denchmark("acme/zones", "1" * 40) | _denchmark("acme/none", docs) | _denchmark("acme/hours", only_tests)
    reports["JSonSet/fulljson/acme+zones/9.json"] = "{not json"
    make_repository(clones / "RosePasta+Denchmark_BRs" / "repo", reports)
    assert collect(clones) == []
