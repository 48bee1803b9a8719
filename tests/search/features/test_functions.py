"""Definitions of the best files are compared with each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.search.engine import Engine
from nodes.search.index.columns import ranges
from nodes.search.issue.query import parse_query
from nodes.search.ranking.features import Features
from nodes.search.ranking.words import FileDefinitions, add_functions
from nodes.search.types import Query
from tests.support.repositories import make_repository

PRINTER = (
    "class LatexPrinter:\n    level = 1\n\n"
    + "".join(
        f"    def print_{name}(self, latex):\n        return latex.{name}\n\n" for name in ("sum", "product", "limit")
    )
    + "    def print_root(self, latex):\n        return latex.surd\n\n"
    + "    def __call__(self, latex):\n        return latex\n"
)
FILES = {
    "render/latex.py": PRINTER,
    "render/shell.go": "package render\n\nfunc Shell(latex string) string {\n\treturn latex\n}\n",
    "tests/test_latex.py": "def test_surd():\n    assert latex.surd\n",
    "render/text.py": "# nothing is defined here\n",
}


def features_of(
    folder: Path, title: str, body: str = "", paths: tuple[str, ...] = tuple(FILES)
) -> dict[str, dict[str, float]]:
    """Return the features of each definition, by its name."""
    make_repository(folder, FILES)
    engine = Engine(folder)
    index = engine.warm(engine.commit()).index
    features, parsed = Features(), parse_query(Query(title, body))
    candidates = FileDefinitions.of(index, [index.number_of[path] for path in paths])
    add_functions(features, parsed, candidates)
    first = dict(zip(candidates.place.tolist(), candidates.chunks.tolist(), strict=True))
    return {
        name: {feature: float(values[first[number]]) for feature, values in features.chunks.items()}
        for number, name in enumerate(candidates.names)
    }


def test_a_word_of_all_functions_counts_less_than_a_word_of_one(tmp_path):
    found = features_of(tmp_path, "latex of a surd is wrong", paths=("render/latex.py",))
    words = {name: values["words_among"] for name, values in found.items()}
    assert words["LatexPrinter.print_root"] == 1
    assert max(value for name, value in words.items() if name != "LatexPrinter.print_root") < 0.5


def test_the_rarest_word_decides_among_names(tmp_path):
    found = features_of(tmp_path, "print of a product", "the limit is fine")
    titles = {name: values["name_title"] for name, values in found.items()}
    assert max(titles, key=lambda name: titles[name]) == "LatexPrinter.print_product"
    assert titles["LatexPrinter.print_limit"] < titles["LatexPrinter.print_product"]
    assert found["LatexPrinter.print_limit"]["name_body"] > found["LatexPrinter.print_sum"]["name_body"]


@pytest.mark.parametrize(
    ("name", "feature"),
    [("LatexPrinter", "container"), ("LatexPrinter.__call__", "dunder"), ("test_surd", "role_other")],
)
def test_a_kind_is_marked_on_its_definitions_only(tmp_path, name, feature):
    found = features_of(tmp_path, "surd")
    assert {one for one, values in found.items() if values[feature]} == {name}


@pytest.mark.parametrize(("title", "paths"), [("", tuple(FILES)), ("surd", ()), ("surd", ("render/text.py",))])
def test_without_words_or_definitions_all_scores_are_zero(tmp_path, title, paths):
    found = features_of(tmp_path, title, paths=paths)
    assert all(values[name] == 0 for values in found.values() for name in ("words_among", "name_title", "name_body"))


def test_a_function_comes_before_its_class_and_before_lines_outside(tmp_path):
    make_repository(tmp_path, {"render/latex.py": f"SURD = 'surd of latex'\n\n{PRINTER}"})
    places = Engine(tmp_path).find(Query("surd of latex is wrong", ""), "HEAD").locations
    assert places[0].symbol == "LatexPrinter.print_root"
    assert [place.symbol for place in places][-2:] in (["LatexPrinter", None], [None, "LatexPrinter"])


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), max_size=8))
def test_ranges_are_joined_in_order(pairs):
    first = np.array([start for start, _ in pairs], np.int64)
    end = np.array([start + length for start, length in pairs], np.int64)
    assert ranges(first, end).tolist() == [number for start, length in pairs for number in range(start, start + length)]
