"""Figures in prose and the page of facts match the code."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from bot.report.languages.catalogue import catalogue
from nodes.guards import GUARDS
from nodes.search.facts.types import LEADING, Kind
from tests.cli.process import ROOT
from tests.hostile.corpus import CASES

README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| (yes)? ?\| ([^|]+) \|$", re.MULTILINE)
FACTS = {row[0]: row for row in ROW.findall((ROOT / "docs" / "facts.md").read_text(encoding="utf-8"))}
WORDS = {8: "eight", 9: "nine", 10: "ten", 11: "eleven", 12: "twelve", 13: "thirteen", 14: "fourteen"} | {90: "ninety"}


def modules(folder: str, contents: str) -> set[str]:
    """Return the modules of a folder whose source matches a pattern."""
    paths = (ROOT / folder).glob("*.py")
    return {path.stem for path in paths if re.search(contents, path.read_text(encoding="utf-8"), re.MULTILINE)}


def word(number: int) -> str:
    """Return a number as it stands in prose."""
    return WORDS.get(number, str(number))


def test_the_page_of_facts_lists_each_kind_with_those_that_lead_first() -> None:
    assert set(FACTS) == set(get_args(Kind))
    assert tuple(kind for kind, row in FACTS.items() if row[3]) == LEADING == tuple(FACTS)[: len(LEADING)]


@pytest.mark.parametrize("kind", get_args(Kind))
def test_the_example_of_a_kind_is_a_sentence_of_the_catalogue(kind: Kind) -> None:
    _, meaning, example, _, check = FACTS[kind]
    (sentence, _), *_ = catalogue("en").candidates(example)
    assert sentence.key.startswith("facts.")
    assert meaning
    assert check.startswith("that ")


def test_the_readme_counts_kinds_of_facts_languages_traces_and_guards() -> None:
    languages = modules("nodes/search/languages", r"^LANGUAGE = ")
    traces = modules("nodes/search/issue/stacktraces", r"^def find\(") - {"notebook", "pytest"}  # both print Python's
    assert f"facts of [{len(get_args(Kind))} kinds](docs/facts.md)" in README
    assert f"parses {word(len(languages))} languages, reads stack traces of {word(len(traces))}" in README
    for page in (README, (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")):
        assert f"{word(len(GUARDS)).capitalize()} guards in code" in page


def test_the_readme_counts_hostile_issues() -> None:
    assert f"`tests/hostile/` contains {word(len(CASES))} malicious issues and comments" in README
