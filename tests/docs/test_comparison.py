"""The comparison names a test for each feature that Tracehound claims, and counts its points right."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
FEATURE = re.compile(r"^\| (\d+) \| ([^|]+) \| ([●◐]?) \| ([^|]*) \|$", re.MULTILINE)
FIRST = re.compile(r"^\| ([^|]+) \| ([●◐]?) \| ([^|]*) \|$", re.MULTILINE)
POINTS = {"●": 2, "◐": 1, "": 0}
FEATURES = FEATURE.findall(PAGE.partition("## Feature by feature")[2].partition("## What was read")[0])
FIRSTS = FIRST.findall(PAGE.partition("## What none of them had")[2])
CLAIMS = [(mark, evidence) for *_, mark, evidence in (*FEATURES, *FIRSTS)]


@cache
def defined_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


@pytest.mark.parametrize(("mark", "evidence"), CLAIMS)
def test_a_claim_names_a_test_that_exists(mark: str, evidence: str) -> None:
    if mark == "":
        assert evidence == "", "what is not there has no test"
        return
    named = re.fullmatch(r"`([\w/]+\.py)::(test_\w+)`", evidence.strip())
    assert named, evidence
    assert named[2] in defined_in(named[1])


def test_every_feature_and_every_first_has_a_row() -> None:
    assert [int(number) for number, *_ in FEATURES] == list(range(1, 81))
    assert len(FIRSTS) == 16


def test_the_sums_match_the_rows() -> None:
    points = sum(POINTS[mark] for _, _, mark, _ in FEATURES[:70])
    assert f"Tracehound has {points} of 140 points." in PAGE
    whole, partly = (sum(mark == wanted for _, mark, _ in FIRSTS) for wanted in "●◐")
    assert f"Tracehound has {whole} of them, and {partly} partly." in PAGE


def test_every_project_of_the_page_has_a_source() -> None:
    compared = re.findall(r"[^|]+", PAGE.partition("| | Tracehound |")[2].partition("\n")[0])
    read = PAGE.partition("## What was read")[2].partition("## What none")[0]
    assert all(f"\n| {name.strip()} | " in read for name in compared)
