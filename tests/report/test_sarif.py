"""A report as SARIF: valid by the published schema, with a result for each place and none for a security report."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from bot.report.sarif import as_sarif
from nodes.report import TriageReport
from tests.cli.process import triage
from tests.report.reports import FIRST_PLACE, FOUND, NOTHING, REPORTS, SECURITY, SEVERAL, SHA, WEAK, suspect
from tests.support.repositories import make_repository

SCHEMA = Path(__file__).parents[2] / ".tools" / "sarif" / "sarif-2.1.0-rtm.5.json"
MISSING = "the schema of SARIF is not installed: run .ci/sarif"
TOKEN = "ghp_" + "a1B2" * 9


@cache
def validator() -> Draft4Validator:
    if not SCHEMA.exists():
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def run_of(report: TriageReport, title: str = "scan hangs") -> dict[str, Any]:
    (run,) = json.loads(as_sarif(report, title))["runs"]
    return run


ODD = FOUND.model_copy(
    update={
        "suspects": (suspect("a b/\N{LATIN SMALL LETTER E WITH ACUTE}#1?.py", facts=(0, 1)), suspect("x\udcff%.c")),
        "repository": "https://github.com/octo/parser",
        "commit": SHA,
    }
)


@pytest.mark.parametrize("report", [*REPORTS.values(), ODD], ids=[*REPORTS, "odd paths"])
def test_every_report_is_valid(report: TriageReport) -> None:
    log = json.loads(as_sarif(report, f"title with {TOKEN}"))
    assert [error.message for error in validator().iter_errors(log)] == []
    assert TOKEN not in json.dumps(log)


@pytest.mark.parametrize(
    ("report", "rule", "level"),
    [
        pytest.param(FOUND, "claimed-place", "warning", id="claim"),
        pytest.param(SEVERAL, "named-place", "note", id="facts"),
        pytest.param(FIRST_PLACE, "ranked-place", "note", id="first place"),
        pytest.param(WEAK, "ranked-place", "note", id="ranking"),
    ],
)
def test_the_rule_says_how_far_the_report_goes(report: TriageReport, rule: str, level: str) -> None:
    first = run_of(report)["results"][0]
    assert (first["ruleId"], first["level"]) == (rule, level)
    assert ("rank" in first) == (rule == "claimed-place")


def test_a_result_has_the_place_and_its_facts() -> None:
    first, second = run_of(ODD)["results"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b/%C3%A9%231%3F.py", "uriBaseId": "SRCROOT"}
    assert (place["region"]["startLine"], place["region"]["endLine"]) == (10, 13)
    assert first["message"]["text"].startswith("scan hangs: The stack trace passes through `Lexer.scan`")
    assert [one["physicalLocation"]["region"]["startLine"] for one in first["relatedLocations"]] == [12, 10]
    assert second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "x%FF%25.c"
    assert run_of(ODD)["versionControlProvenance"][0]["revisionId"] == SHA
    assert first["partialFingerprints"] == run_of(ODD)["results"][0]["partialFingerprints"]
    assert first["partialFingerprints"] != run_of(ODD, "another")["results"][0]["partialFingerprints"]


@pytest.mark.parametrize("report", [SECURITY, NOTHING], ids=["security", "nothing found"])
def test_without_a_place_a_notification_says_why(report: TriageReport) -> None:
    run = run_of(report)
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert (run["results"], bool(note["message"]["text"])) == ([], True)
    assert ("parser/" in json.dumps(run)) == (report is NOTHING and "parser/" in report.verdict)


def test_the_command_prints_it(tmp_path: Path) -> None:
    make_repository(tmp_path / "app", {"orders.py": "def parse_orders(text):\n    return text['lines']\n"})
    done = triage(tmp_path, "run", "--repo", "app", "--text", "parse_orders fails", "--format", "sarif")
    assert done.returncode == 0, done.stderr
    log = json.loads(done.stdout)
    assert [error.message for error in validator().iter_errors(log)] == []
    assert log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "orders.py"
