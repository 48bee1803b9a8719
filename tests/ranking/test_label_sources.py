"""Each source of reports is read from a real repository with files as the source has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from tests.ranking.collected import BODY, BROKEN, FIXED, collect, fixed_in
from tests.support.repositories import make_repository

KOTLIN = f"# Implement the issue(s) in acme/zones:\n\n## Issue #5 https://example.org/5: Wrong hour\n\n{BODY}"
TASK = 'repository_owner = "acme"\nrepository_name = "zones"\ncode_change_id = "9"\n'
ISSUE = {"id": 5, "title": "Wrong hour", "body": BODY, "is_pull_request": False}
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SWT = "eclipse-platform+eclipse.platform.swt"
DEBUG = "eclipse-jdt+eclipse.jdt.debug"


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    return tmp_path / "clones"


def _instance(**changed: object) -> str:
    row = {"repo": "acme/zones", "instance_id": "acme__zones-9", "problem_statement": f"Wrong hour\n{BODY}"}
    return json.dumps(row | changed) + "\n"


def _bug(fix: str, **changed: object) -> str:
    row = {"repository": "acme/zones", "commit_hash": fix, "commit_message": "Read the zone", "issues": [ISSUE]}
    return json.dumps(row | changed) + "\n"


@pytest.mark.parametrize(
    ("store", "files", "expected"),
    [
        pytest.param(
            "GhabiX+Rust-SWE-Bench",
            {"RustForger/data/rb_all_bug_report.json": json.dumps({"acme__zones-9": f"# Wrong hour\n{BODY}"})},
            ("rust:acme__zones-9", 1.0),
            id="rust",
        ),
        pytest.param(
            "ifabrish+kotlin-swe-bench",
            {"tasks/a-9/task.toml": TASK, "tasks/a-9/instruction.md": KOTLIN},
            ("kotlin:acme__zones-5", 1.0),
            id="kotlin",
        ),
        pytest.param(
            "Red-Hat-AI-Innovation-Team+SWE-benchify",
            {"output/v1/all-instances.jsonl": _instance() + _instance() + "{not json\n"},
            ("benchify:acme__zones-9", 1.0),
            id="benchify",
        ),
        pytest.param(
            "Red-Hat-AI-Innovation-Team+SWE-benchify",
            {"output/v2-jira/all-instances.jsonl": _instance(problem_statement=f"ZONES-12: Wrong hour\n{BODY}")},
            ("benchify:acme__zones-9", 0.6),
            id="benchify, text of the pull request",
        ),
    ],
)
def test_a_report_with_the_number_of_its_pull_request(
    clones: Path, store: str, files: dict[str, str], expected: tuple[str, float]
) -> None:
    base, _ = fixed_in(clones, "acme+zones", "Read the zone (#9)")
    make_repository(clones / store / "repo", files)
    (row,) = collect(clones)
    assert (row["id"], row["weight"]) == expected
    assert (row["base_commit"], row["gold_files"]) == (base, ["zones/io files.py"])
    assert row["issue"].startswith("Wrong hour\n\nWhen a file")


@pytest.mark.parametrize(
    ("store", "files"),
    [
        pytest.param(
            "ifabrish+kotlin-swe-bench",
            {"tasks/a-9/task.toml": TASK, "tasks/a-9/instruction.md": KOTLIN + KOTLIN},
            id="two issues",
        ),
        pytest.param(
            "ifabrish+kotlin-swe-bench", {"tasks/a-9/task.toml": "=", "tasks/a-9/instruction.md": KOTLIN}, id="no task"
        ),
        pytest.param(
            "Red-Hat-AI-Innovation-Team+SWE-benchify",
            {"output/synthetic/all-instances.jsonl": _instance()},
            id="written by a program",
        ),
    ],
)
def test_an_instance_that_is_no_report_of_one_issue_is_left_out(
    clones: Path, store: str, files: dict[str, str]
) -> None:
    fixed_in(clones, "acme+zones", "Read the zone (#9)")
    make_repository(clones / store / "repo", files)
    assert collect(clones) == []


@pytest.mark.parametrize(
    ("changed", "ids"),
    [
        ({}, ["gitbug:acme__zones-5"]),
        ({"issues": [ISSUE, ISSUE | {"id": 6, "is_pull_request": True}]}, ["gitbug:acme__zones-5"]),
        ({"issues": [ISSUE, ISSUE | {"id": 6}]}, []),
        ({"issues": []}, []),
        ({"commit_message": "feat: read the zone"}, []),
    ],
    ids=["issue", "issue and pull request", "two issues", "no issue", "feature"],
)
def test_gitbug_java_has_issues_and_the_commits_of_their_fixes(
    clones: Path, changed: dict[str, object], ids: list[str]
) -> None:
    _, fix = fixed_in(clones, "acme+zones")
    make_repository(clones / "gitbugactions+gitbug-java" / "repo", {"data/bugs/a.json": _bug(fix, **changed)})
    assert [row["id"] for row in collect(clones)] == ids


def _spreadsheet(rows: list[list[str]], head: str = "") -> bytes:
    """Return a workbook whose first sheet has these rows, the texts shared and the numbers in their cells."""
    texts = sorted({text for row in rows for text in row if not text.isdigit()})
    cells = [
        [
            f'<c r="{chr(65 + at)}{line}"><v>{text}</v></c>'
            if text.isdigit()
            else f'<c r="{chr(65 + at)}{line}" t="s"><v>{texts.index(text)}</v></c>'
            for at, text in enumerate(row)
        ]
        for line, row in enumerate(rows, 1)
    ]
    parts = {
        "sharedStrings": f"{head}<sst xmlns='{MAIN}'>"
        + "".join(f"<si><t>{text}</t></si>" for text in texts)
        + "</sst>",
        "worksheets/sheet1": f"<worksheet xmlns='{MAIN}'><sheetData>"
        + "".join(f"<row>{''.join(row)}</row>" for row in cells)
        + "</sheetData></worksheet>",
    }
    content = BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as file:
        for name, part in parts.items():
            file.writestr(f"xl/{name}.xml", part)
    return content.getvalue()


def _swt(clones: Path, content: bytes) -> list[str]:
    make_repository(clones / "eashaan-rao+bug-localization-1" / "repo", {"dataset/swt.xlsx": content})
    return [f"{row['id']}: {row['issue'].partition(' in its')[0]}" for row in collect(clones)]


HEADER = ["id", "bug_id", "summary", "description", "commit"]


def test_spreadsheets_of_bugzilla_reports(clones: Path) -> None:
    _, fix = fixed_in(clones, SWT)
    rows = [
        HEADER,
        ["1", "4711", "Bug 4711 [zones] Wrong hour", f"{BODY}_x000D_", fix[:9]],
        ["2", "4712", "Bug 4712 Without a description", "None", fix[:9]],
        ["3", "4713", "Bug 4713 Without its commit", BODY.replace("hour", "day"), "0000000"],
    ]
    shown = BODY.partition(" in its")[0]
    assert _swt(clones, _spreadsheet(rows)) == [
        f"ye:eclipse-platform__eclipse.platform.swt-4711: [zones] Wrong hour\n\n{shown}"
    ]


@pytest.mark.parametrize("broken", ["no archive", "no sheet", "entities", "large"])
def test_a_spreadsheet_that_cannot_be_read_has_no_reports(clones: Path, broken: str) -> None:
    _, fix = fixed_in(clones, SWT)
    rows = [HEADER, ["1", "4711", "Bug 4711 Wrong hour", BODY, fix[:9]]]
    empty = BytesIO()
    ZipFile(empty, "w").close()
    content = {
        "no archive": b"PK",
        "no sheet": empty.getvalue(),
        "entities": _spreadsheet(rows, head="<!DOCTYPE sst [<!ENTITY a 'b'>]>"),
        "large": _spreadsheet([*rows, ["2", "4712", "Bug 4712", "x" * 20_000_001, "0"]]),
    }
    assert _swt(clones, content[broken]) == []


def _debug_history(clones: Path, commits: Mapping[str, str]) -> dict[str, str]:
    """Commit files with one line each, then a change of one file for each message; return the commits by message."""
    path = clones / DEBUG / "repo"
    files = {"zones/io.py": BROKEN, "zones/names.py": BROKEN}
    shas = {"": make_repository(path, files)}
    for message, name in commits.items():
        files[name] = FIXED if files[name] == BROKEN else BROKEN
        shas[message] = make_repository(path, files, message=message)
    return shas


@pytest.mark.parametrize(
    ("commits", "expected"),
    [
        pytest.param({"Bug 4711 - hour": "zones/io.py"}, ("", 1.0), id="one commit"),
        pytest.param({"Bug 4711 - names": "zones/names.py", "4711: hour": "zones/io.py"}, ("Bug 4711 - names", 1.0)),
        pytest.param({"Bug 4711 - hour": "zones/io.py", "Bug 4711, again": "zones/io.py"}, ("", 0.7), id="two commits"),
        pytest.param({"Bug 47112 - hour": "zones/io.py"}, None, id="another number"),
    ],
)
def test_a_report_without_a_commit_gets_the_one_that_names_it_and_changed_its_files(
    clones: Path, commits: dict[str, str], expected: tuple[str, float] | None
) -> None:
    shas = _debug_history(clones, commits)
    files: dict[str, bytes | str] = {
        "BR-Raw/eclipse.jdt.debug/4711.txt": f"Bug 4711 – Wrong hour\n{BODY}".encode("cp1252"),
        "Goldset/eclipse.jdt.debug/4711.txt": "old/place/io.py\n",
    }
    make_repository(clones / "masud-technope+BLIZZARD-Replication-Package-ESEC-FSE2018" / "repo", files)
    rows = collect(clones)
    assert [(row["base_commit"], row["weight"]) for row in rows] == (
        [(shas[expected[0]], expected[1])] if expected else []
    )
    assert all(row["issue"].startswith("Wrong hour\n\nWhen") for row in rows)
