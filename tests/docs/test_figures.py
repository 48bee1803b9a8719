"""Figures in prose and the page of facts match the code."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from bot.server.connections.bodies import LARGE_AT_ONCE
from bot.server.connections.protocol import HEAD_BYTES, HEADERS
from bot.worker.tools import MAX_INDEXES
from nodes.brains.calls.models import ReadingLimits
from nodes.brains.conversation import OPENED
from nodes.guards import GUARDS
from nodes.search.facts.types import LEADING, Kind
from nodes.search.languages.by_lines import SYNTAX
from nodes.search.languages.table import LANGUAGES
from tests.cli.process import ROOT
from tests.graph.test_endpoints import CALLS
from tests.hostile.corpus import CASES

README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| (yes)? ?\| ([^|]+) \|$", re.MULTILINE)
FACTS = {row[0]: row for row in ROW.findall((ROOT / "docs" / "facts.md").read_text(encoding="utf-8"))}
_SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
WORDS = dict(enumerate(_SMALL.split())) | {90: "ninety"}


def word(number: int) -> str:
    """Return a number as it stands in prose."""
    return WORDS.get(number, str(number))


def test_the_page_of_facts_lists_each_kind_with_those_that_lead_first() -> None:
    assert set(FACTS) == set(get_args(Kind))
    assert tuple(kind for kind, row in FACTS.items() if row[3]) == LEADING == tuple(FACTS)[: len(LEADING)]


@pytest.mark.parametrize("kind", get_args(Kind))
def test_each_kind_has_an_example(kind: Kind) -> None:
    _, meaning, example, _, check = FACTS[kind]
    assert example.endswith(".")
    assert meaning
    assert check.startswith("that ")


def test_the_readme_counts_languages_traces_and_guards() -> None:
    languages = {language.package for language in LANGUAGES} - {""}
    readers = (file.read_text(encoding="utf-8") for file in (ROOT / "nodes/search/issue/stacktraces").glob("*.py"))
    traces = {
        name for text in readers for name in re.findall(r'(?:Dialect\(|build_trace\(|build_trace, )"(\w+)"', text)
    }
    assert f"parses {word(len(languages))} languages, outlines {len(SYNTAX)} more by their lines" in README
    assert f"reads stack traces of {word(len(traces))}" in README
    for page in (README, (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")):
        assert f"{word(len(GUARDS)).capitalize()} guards in code" in page


def test_the_readme_counts_hostile_issues() -> None:
    assert f"`tests/hostile/` contains {word(len(CASES))} malicious issues and comments" in README


def test_the_page_of_costs_counts_calls_as_the_code_does() -> None:
    page = " ".join((ROOT / "docs" / "cost.md").read_text(encoding="utf-8").split())
    assert f"- {word(CALLS).capitalize()} at least" in page
    assert f"first {word(OPENED)} files" in page
    assert f"at most {ReadingLimits().steps} turns" in page


def test_the_limits_in_prose_are_those_of_the_code() -> None:
    serve, symptoms = (
        " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())
        for name in ("serve.md", "troubleshooting.md")
    )
    assert f"A request head may have {HEAD_BYTES // 1024} kB, {HEADERS} headers" in serve
    assert f"{word(LARGE_AT_ONCE)} above 1 MB are read at a time" in serve
    assert f"some {MAX_INDEXES // 1_000_000} MB of indexes stay in memory" in symptoms


def measured(text: str, row: str) -> float:
    """Return the first number of the second cell of a row."""
    cell = re.search(rf"^\| {re.escape(row)}[^|]*\| ([\d.,]+)", text, re.MULTILINE)
    assert cell, row
    return float(cell[1].replace(",", ""))


def test_the_capacity_of_a_million_issues_a_day_follows_from_the_cost_of_one() -> None:
    page = (ROOT / "docs" / "capacity.md").read_text(encoding="utf-8")
    rate, peak, share = 1_000_000 / 86_400, 35, page.partition("## A million a day")[2]
    worker, postgres = (measured(page, f"processor of {who}") / 1_000 for who in ("the worker", "Postgres"))
    assert f"| {worker * rate:.1f} cores + {rate:.1f} × *s* | {worker * peak:.1f} + {peak} × *s* |" in share
    assert f"| Postgres: processor | {postgres * rate:.1f} cores | {postgres * peak:.1f} |" in share
    commits, wal = measured(page, "commits"), measured(page, "WAL") / 1_000
    assert f"| Postgres: commits | {round(commits * rate, -1):.0f}/s | {round(commits * peak, -2):,.0f}/s |" in share
    assert f"| Postgres: WAL | {wal * rate:.1f} MB/s | {wal * peak:.1f} MB/s | | {wal * 1_000:.0f} GB a day" in share
    assert f"| Postgres: rows | {measured(page, 'rows that stay')} GB a day |" in share
    tokens = re.search(r"^\| tokens in and out, estimated \| ([\d,]+) and (\d+)", page, re.MULTILINE)
    assert tokens
    into, out = int(tokens[1].replace(",", "")), int(tokens[2])
    assert f"a million of them ${round(into * 2.5 + out * 10, -2):,.0f} a day" in share
    assert f"at $0.15 and $0.60, ${round(into * 0.15 + out * 0.6, -1):,.0f}." in share
    assert f"{rate * 60 * (into + out) / 1e6:.1f} million tokens a minute" in share
