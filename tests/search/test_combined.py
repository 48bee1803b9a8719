"""Files that a tool combined from others are recognised by their content, and their sources are ranked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nodes.search.engine import Engine
from nodes.search.git import Repository
from nodes.search.index.index import Index
from nodes.search.index.loading import load_index
from nodes.search.types import Query
from tests.support.repositories import make_repository

Function = Callable[[str, int], str]
THEMES = ("reader", "writer", "colour", "random", "clock")


def cpp(theme: str, number: int) -> str:
    body = "\n".join(f"    total += {theme}_{number}[{step}];" for step in range(2 + number % 7))
    return f"int {theme}_step_{number}(int total) {{\n{body}\n    return total;\n}}\n"


def javascript(theme: str, number: int) -> str:
    body = "\n".join(f"  total += {theme}[{step}]" for step in range(2 + number % 7))
    return f"function {theme}Step{number}(total) {{\n{body}\n  return total\n}}\n"


def python(theme: str, number: int) -> str:
    body = "\n".join(f"    total += {theme}[{step}]" for step in range(2 + number % 7))
    return f"def {theme}_step_{number}(total):\n{body}\n    return total\n"


def files(function: Function, ending: str) -> dict[str, str]:
    """Return five sources with eight functions each."""
    return {f"src/{theme}.{ending}": "\n".join(function(theme, number) for number in range(8)) for theme in THEMES}


def index_of(path: Path, texts: dict[str, str]) -> Index:
    sha = make_repository(path, texts)
    return load_index(Repository.open(path), sha, None, lambda *_: None).index


def roles(index: Index) -> dict[str, str]:
    return dict(zip(index.paths, index.roles, strict=True))


@pytest.mark.parametrize(
    ("function", "ending"), [(cpp, "hpp"), (javascript, "js"), (python, "py")], ids=["cpp", "javascript", "python"]
)
def test_a_combined_file_counts_as_generated(tmp_path: Path, function: Function, ending: str) -> None:
    sources = files(function, ending)
    combined = "\n".join(sources.values()) + function("main", 1)
    found = roles(index_of(tmp_path, {**sources, f"single/all.{ending}": combined}))
    assert found.pop(f"single/all.{ending}") == "generated"
    assert set(found.values()) == {"source"}


@pytest.mark.parametrize("kept", [2, 5])
def test_a_file_that_shares_some_functions_is_a_source(tmp_path: Path, kept: int) -> None:
    """Two whole parts are too few, and of five parts most functions have to be there."""
    sources = files(cpp, "hpp")
    part = "\n".join(cpp(theme, number) for theme in THEMES[:kept] for number in range(8 if kept == 2 else 3))
    own = "\n".join(cpp("own", number) for number in range(30))
    found = roles(index_of(tmp_path, {**sources, "src/large.hpp": part + own}))
    assert set(found.values()) == {"source"}


def test_implementations_of_many_interfaces_are_sources(tmp_path: Path) -> None:
    """The methods of an interface and of its implementation have the same names and different lengths."""
    interfaces = {
        f"src/I{theme}.java": f"interface I{theme} {{\n"
        + "\n".join(f"  int {theme}{number}(int total);\n" for number in range(8))
        + "}\n"
        for theme in THEMES
    }
    methods = "\n".join(
        f"  public int {theme}{number}(int total) {{\n    total += {number};\n    return total;\n  }}\n"
        for theme in THEMES
        for number in range(8)
    )
    found = roles(index_of(tmp_path, {**interfaces, "src/All.java": f"class All {{\n{methods}}}\n"}))
    assert set(found.values()) == {"source"}


def test_two_versions_of_a_file_are_sources(tmp_path: Path) -> None:
    text = "\n".join(cpp(theme, number) for theme in THEMES for number in range(8))
    found = roles(index_of(tmp_path, {"v1/lib.hpp": text, "v2/lib.hpp": text + cpp("new", 3), "v3/lib.hpp": text}))
    assert set(found.values()) == {"source"}


def test_the_source_is_ranked_instead_of_the_combined_file(tmp_path: Path) -> None:
    sources = files(cpp, "hpp")
    sha = make_repository(tmp_path, {**sources, "single/all.hpp": "\n".join(sources.values())})
    query = Query("`colour_step_3` returns a wrong total", "The colour is wrong.")
    survey = Engine(tmp_path, None).survey(query, sha)
    assert survey.paths[0] == "src/colour.hpp"
    (fact,) = [fact for fact in survey.facts if fact.kind == "defined_once"]
    assert (fact.path, fact.strong) == ("src/colour.hpp", True)
