"""The benchmark that compares reports with repositories detects a false report."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.claims import _check_all, _passes, _table, _wrong_lines
from tests.backtest.story import ISSUES, build


def test_every_cited_line_of_a_report_stands(tmp_path: Path) -> None:
    names = build(tmp_path / "octo+feed")
    bases = {1: "start", 2: "one", 3: "two"}
    gold = {1: "feed/dates.py", 2: "feed/store.py", 3: "feed/fetch.py"}
    rows = [
        {
            "id": str(n),
            "repo": "octo/feed",
            "base_commit": names[base],
            "issue": "\n".join(ISSUES[n]),
            "gold_files": [gold[n]],
        }
        for n, base in bases.items()
    ]
    held = list(_check_all(rows, tmp_path, tmp_path / "cache"))
    assert all(one.lines and not one.wrong_lines and not one.uncited and one.right for one in held)
    assert "reports that claim a cause" in _table(held, 1.0)
    assert _passes(held) == (sum(one.claims for one in held) >= 2)


@pytest.mark.parametrize(
    ("start", "end", "quote", "wrong"),
    [
        pytest.param(1, 2, "def parse_date(text):\n    return text.split('-')", 0, id="as-it-is"),
        pytest.param(1, 2, "def parse_date(text):\n    return text.rsplit('-')", 1, id="one-word-else"),
        pytest.param(2, 3, "def parse_date(text):\n    return text.split('-')", 2, id="elsewhere"),
        pytest.param(90, 90, "x", 1, id="nowhere"),
        pytest.param(0, 1, "x\ny", 2, id="no-line"),
    ],
)
def test_a_line_that_differs_is_counted(tmp_path: Path, start: int, end: int, quote: str, wrong: int) -> None:
    names = build(tmp_path / "feed")
    assert _wrong_lines(tmp_path / "feed", names["start"], "feed/dates.py", start, end, quote)[1] == wrong
