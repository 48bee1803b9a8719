"""Prints the pass rate that the README states."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print one line with the number of malicious texts that had no effect."""

    def count(outcome: str) -> int:
        reports = terminalreporter.stats.get(outcome, [])
        return sum("test_nothing_of_it_acts" in report.nodeid and report.when == "call" for report in reports)

    passed, failed = count("passed"), count("failed")
    if passed + failed:
        terminalreporter.write_line(f"hostile corpus: {passed} of {passed + failed} runs held")
