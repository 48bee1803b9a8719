"""A run on a feature request by rules, from the issue's text to its report and labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings.repository import read_config
from bot.worker.publish.wanted import wanted_labels
from nodes.state import Finished
from tests.graph.rules_run import run_by_rules

FILES = {
    "feed/dates.py": "def parse_zone(text):\n    if not text:\n        return None\n    return text\n",
    "feed/store.py": "def keep(entry):\n    return entry\n",
}
TITLE, BODY = "Add named zones to `parse_zone`", "It would be nice if `parse_zone` also accepted names such as UTC."


async def test_the_report_names_the_place_of_the_change(tmp_path: Path) -> None:
    report = (await run_by_rules(tmp_path, FILES, TITLE, BODY, claim_from=0.65)).report
    assert report is not None
    assert (report.kind, report.statement, report.suspects[0].path) == ("feature", "claim", "feed/dates.py")
    assert "The change probably belongs in `feed/dates.py`" in (report.root_cause or "")
    assert "**The change probably belongs in `feed/dates.py`, in `parse_zone`" in report.github_comment
    assert report.how_to_confirm == ""


@pytest.mark.parametrize("kept", [0.65, 0.99])
async def test_a_request_is_labelled_as_one_without_a_cause(tmp_path: Path, kept: float) -> None:
    state = await run_by_rules(tmp_path, FILES, TITLE, BODY, claim_from=kept)
    config = read_config("labels:\n  map: {cause-found: found, no-cause: open}\n")
    assert wanted_labels(Finished(state), config) & {"found", "open"} == {"open"}


async def test_no_place_is_claimed_below_the_maintainers_threshold(tmp_path: Path) -> None:
    report = (await run_by_rules(tmp_path, FILES, TITLE, BODY, claim_from=0.99)).report
    assert report is not None
    assert (report.root_cause, report.not_found) == (None, "not_a_bug_report")
    assert report.statement != "claim"
    assert "probably belongs" not in report.github_comment


async def test_the_source_file_that_the_title_means_is_named_without_a_claim(tmp_path: Path) -> None:
    files = {**FILES, "feed/zone_table.py": "class ZoneTable:\n    def add(self, zone):\n        self.zone = zone\n"}
    title, body = "Add `clear` to ZoneTable", "It would be nice to empty a `ZoneTable` after each feed."
    report = (await run_by_rules(tmp_path, files, title, body, claim_from=0.65)).report
    assert report is not None
    assert (report.kind, report.statement, report.root_cause) == ("feature", "facts", None)
    assert report.verdict == "The title may mean `feed/zone_table.py`, the source file named `zone_table`."
