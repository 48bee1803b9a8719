"""Files that the prose of a report names by path."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.facts.issue import read_issue
from nodes.search.facts.names import names
from nodes.search.types import Query
from tests.search.facts.finding import facts_of, of_kind

FILES = {
    "src/zones/parse.py": "def parse(text):\n    return text\n",
    "src/zones/load.js": "export function load(x) {\n  return x\n}\n",
    "src/zones/scan.go": "package zones\n\nfunc Scan(x int) int {\n\treturn x\n}\n",
    "src/zones/walk.rs": "pub fn walk(x: u8) -> u8 {\n    x\n}\n",
    "src/zones/Form.java": "class Form {\n  int form() {\n    return 1;\n  }\n}\n",
    "src/zones/table.c": "int table(int x) {\n  return x;\n}\n",
    "other/zones/table.c": "int table2(int x) {\n  return x;\n}\n",
}


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        pytest.param("The fault is in src/zones/parse.py I think.", ["src/zones/parse.py"], id="python"),
        pytest.param("See `zones/load.js`.", ["src/zones/load.js"], id="javascript"),
        pytest.param("(in zones/scan.go)", ["src/zones/scan.go"], id="go"),
        pytest.param("./src/zones/walk.rs is wrong", ["src/zones/walk.rs"], id="rust"),
        pytest.param("**src/zones/Form.java**", ["src/zones/Form.java"], id="java"),
        pytest.param("src/zones/table.c", ["src/zones/table.c"], id="c"),
        pytest.param("zones/table.c", [], id="one-of-two"),
        pytest.param("parse.py", [], id="without-a-folder"),
        pytest.param("my/own/src/zones/parse.pyc and xsrc/zones/parse.py", [], id="another-path"),
        pytest.param("https://example.org/src/zones/parse.py", [], id="inside-an-address"),
        pytest.param("```\nsrc/zones/parse.py\n```", [], id="in-a-block"),
        pytest.param("src/zones/parse.py src/zones/load.js src/zones/scan.go src/zones/walk.rs", [], id="a-list"),
        pytest.param("a/" * 30_000 + "parse.py", [], id="hostile"),
    ],
)
def test_a_file_that_the_prose_names(tmp_path: Path, body: str, paths: list[str]):
    # One file alone: a language of a seventh of the files would not be the project's own.
    kept = {path: FILES[path] for path in paths} or FILES
    found = of_kind(facts_of(tmp_path, kept, "It fails", body), "named_here")
    assert [fact.path for fact in found] == paths


@pytest.mark.parametrize(
    ("title", "body", "found"),
    [
        pytest.param("uniq changes its argument", "```\nuniq([1])\n```", ["uniq"], id="called-in-code"),
        pytest.param("uniq changes its argument", "I use `uniq` here.", ["uniq"], id="in-backticks"),
        pytest.param("uniq changes its argument", "The word uniq alone.", [], id="a-word"),
        pytest.param("print changes its argument", "```\nprint(1)\n```", [], id="built-in"),
    ],
)
def test_a_word_of_the_title_is_a_name_where_code_calls_it(title: str, body: str, found: list[str]):
    named = names(read_issue(Query(title, body)))
    assert [name.last for name in named if name.in_title] == found


def test_a_class_stands_for_its_operator(tmp_path: Path):
    files = {"approx.py": "class Approx:\n    def near(self, x):\n        return x\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "Approx.operator_call is not const"), "defined_once")
    assert (found.words, found.symbol, found.in_title) == ("Approx", "Approx", True)


def test_a_name_in_code_alone_supports_the_first_file_and_never_leads(tmp_path: Path):
    files = {"vote.py": "class VotingEstimator:\n    def fit(self, x):\n        return x\n", "b.py": "x = 1\n"}
    body = "Voting with weights fails at fit.\n```\nVotingEstimator().fit(1)\n```"
    found = of_kind(facts_of(tmp_path, files, "Voting estimator fails at fit", body), "defined_once")
    assert [(fact.words, fact.path, fact.strong) for fact in found][:1] == [("VotingEstimator", "vote.py", False)]
