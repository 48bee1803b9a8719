"""Parameters, types, progress messages and deliberate errors in each language; reports that only resemble a fact."""
# ruff: noqa: E501  a table of sources reads better in rows

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.facts.output.refusals import is_refusal
from tests.search.facts.finding import facts_of, of_kind

PATH, LINE = "zones/load.py", 3
SOURCE = """def load_zone(path):
    if path.endswith('.gz'):
        raise ValueError('the zone %s must not be packed' % path)
    return open_zone(path)
"""


PARAMETERS = {
    "python": ("a.py", "def run(path, strict_zones=False):\n    return path\n"),
    "javascript": ("a.js", "export function run(path, strict_zones) {\n  return path\n}\n"),
    "typescript": ("a.ts", "export function run(path: string, strict_zones: boolean) {\n  return path\n}\n"),
    "go": ("a.go", "package a\n\nfunc run(path string, strict_zones bool) string {\n\treturn path\n}\n"),
    "rust": ("a.rs", "fn run(path: u8, strict_zones: bool) -> u8 {\n    path\n}\n"),
    "ruby": ("a.rb", "def run(path, strict_zones)\n  path\nend\n"),
}


@pytest.mark.parametrize("language", PARAMETERS)
def test_a_parameter_in_each_language(tmp_path: Path, language: str):
    path, source = PARAMETERS[language]
    found = of_kind(facts_of(tmp_path, {path: source}, "Wrong", "`strict_zones` is ignored"), "default_here")
    assert [(fact.path, fact.strong) for fact in found] == [(path, False)]


@pytest.mark.parametrize(
    ("lines", "line", "refusal"),
    [
        pytest.param("def f(x):\n    raise E(\n        'no', x)\n", 3, True, id="python"),
        pytest.param("def f(x):\n    assert x, \\\n        'no %s' % (\n        x)\n", 4, True, id="python-assert"),
        pytest.param("def f(x):\n    y = g(\n        x)\n", 3, False, id="python-call"),
        pytest.param("def f(x):\n    if x: raise_it(x)\n", 2, False, id="a-name-like-raise"),
        pytest.param("def f(x):\n    assert x\n", 2, False, id="assert-without-words"),
        pytest.param("def f(x):\n    raise E(\n        'no {}'.format(x)\n    )\n", 3, True, id="within-the-statement"),
        pytest.param("def f(x):\n    raise E(\n        g(\n            x\n        )\n    )\n", 4, True, id="nested"),
        pytest.param("def f(x):\n    g(\n        x,\n        y\n    )\n", 4, False, id="within-a-call"),
        pytest.param("f(x) {\n  throw new E(\n    x)\n}\n", 3, True, id="javascript"),
        pytest.param('int f() {\n    throw std::runtime_error("x");\n}\n', 2, True, id="cpp"),
        pytest.param('void f() {\n    throw new E("x");\n}\n', 2, True, id="java"),
        pytest.param("fn f() {\n    return Err(E::X);\n}\n", 2, True, id="rust"),
        pytest.param("def f\n  raise ArgumentError, 'x'\nend\n", 2, True, id="ruby"),
        pytest.param("func f() {\n\treturn s[3]\n}\n", 2, False, id="go"),
        pytest.param("x = " + "(" * 5_000 + "\n" + ")" * 5_000 + "\n", 2, False, id="hostile"),
    ],
)
def test_a_statement_that_rejects_its_argument(lines: str, line: int, *, refusal: bool):
    assert is_refusal(tuple(lines.split("\n")), line, 1) is refusal


def test_a_frame_that_rejects_its_argument_is_recognised(tmp_path: Path):
    trace = f"Traceback (most recent call last):\n  File \"/x/{PATH}\", line {LINE}, in load_zone\n    raise ValueError('the zone %s must not be packed' % path)\nValueError: bad\n"
    (found,) = of_kind(facts_of(tmp_path, {PATH: SOURCE}, "It fails", trace), "raised_here")
    assert (found.exact, found.strong, found.refuses) == (True, True, True)


TYPES = {
    "python": ("zones.py", "class ZoneMap:\n    def load_all(self):\n        return 1\n"),
    "javascript": ("zones.js", "const ZoneMap = function (client) {\n  this.client = client\n}\n"),
    "typescript": ("zones.ts", "export class ZoneMap {\n  size = 0\n}\n"),
    "go": ("zones.go", "package zones\n\ntype ZoneMap struct {\n\tsize int\n}\n"),
    "rust": ("src/zones.rs", "pub struct ZoneMap {\n    size: u8,\n}\n"),
    "java": ("ZoneMap.java", "public final class ZoneMap {\n  int size = 0;\n}\n"),
    "cpp": ("zones.cpp", "struct ZoneMap {\n  int size;\n};\n"),
}


@pytest.mark.parametrize("language", TYPES)
def test_a_type_in_the_title_is_a_fact_and_does_not_lead(tmp_path: Path, language: str):
    path, source = TYPES[language]
    (found,) = of_kind(facts_of(tmp_path, {path: source}, "`ZoneMap` loses its zones"), "defined_once")
    assert (found.path, found.strong, found.in_title) == (path, False, True)


def test_a_method_of_a_type_leads(tmp_path: Path):
    path, source = TYPES["python"]
    found = of_kind(facts_of(tmp_path, {path: source}, "`ZoneMap.load_all` loses zones"), "defined_once")
    assert [(fact.symbol, fact.strong) for fact in found] == [("ZoneMap.load_all", True)]


@pytest.mark.parametrize(
    ("files", "title", "body", "kinds"),
    [
        pytest.param({"a.py": "def to_be(x):\n    return x\n", "CHANGES.md": "# 1.2\n\n`to_be` is faster.\n"}, "How do I use `to_be`?", "", ["documented_here"], id="a-change-log-documents-nothing"),
        pytest.param({"a.py": "def to_be(x):\n    return x\n", "docs/a.md": "# To be\n\nUse to_become here.\n"}, "How do I use `to_be`?", "", ["documented_here"], id="a-longer-name-on-the-page"),
        pytest.param({"a.py": "def to_be(x):\n    return x\n", "docs/a.md": "Without a heading, `to_be`.\n"}, "How do I use `to_be`?", "", ["documented_here"], id="a-page-without-a-heading"),
        pytest.param({"a.py": "def run(**options):\n    # strict_zones is old\n    return options\n"}, "Wrong", "`strict_zones` is ignored", ["default_here", "read_here"], id="an-option-in-a-comment"),
        pytest.param({"a.py": "def f():\n    print('the zone is well')\n"}, "It fails", "```\nthe zone is ill\n```", ["built_here", "guarded_by", "called_from"], id="a-message-that-differs"),
    ],
)  # fmt: skip
def test_the_likely_fact_is_false(tmp_path: Path, files: dict[str, str], title: str, body: str, kinds: list[str]):
    assert of_kind(facts_of(tmp_path, files, title, body), *kinds) == []


@pytest.mark.parametrize(
    ("title", "body"),
    [
        pytest.param("Add `" + "a_" * 30_000 + "b`", "", id="absent"),
        pytest.param("How do I use " + "`load_zone` " * 5_000 + "?", "", id="documented"),
        pytest.param("It fails", "#812 " * 20_000, id="named-change"),
        pytest.param("It fails", "works in 1.2.0, fails in 1.3.0. " * 5_000, id="versions"),
        pytest.param("It fails", "`strict_zones` " * 20_000, id="default"),
        pytest.param("It fails", "zones/load.py#L1-L999999 " * 5_000, id="links"),
    ],
)
def test_a_hostile_report_is_read_within_limits(tmp_path: Path, title: str, body: str):
    files = {PATH: SOURCE, "docs/zones.md": "# Zones\n\nCall `load_zone`.\n" * 200}
    assert len(facts_of(tmp_path, files, title, body)) < 100


@pytest.mark.parametrize(
    ("path", "line"),
    [
        pytest.param("a.py", "def f(n):\n    logger.info('loading the saved model %s' % n)\n", id="python"),
        pytest.param("a.js", "function f(n) {\n  console.log(`loading the saved model ${n}`)\n}\n", id="javascript"),
        pytest.param("a.rs", "fn f(n: u8) {\n    println!(\"loading the saved model {}\", n);\n}\n", id="rust"),
        pytest.param("A.java", "class A {\n  void f(int n) {\n    log.info(\"loading the saved model \" + n);\n  }\n}\n", id="java"),
        pytest.param("a.c", "void f(int n) {\n  printf(\"loading the saved model %d\", n);\n}\n", id="c"),
        pytest.param("a.kt", "fun f(n: Int) {\n  println(\"loading the saved model $n\")\n}\n", id="kotlin"),
    ],
)  # fmt: skip
def test_a_progress_message_carries_no_claim(tmp_path: Path, path: str, line: str):
    found = of_kind(facts_of(tmp_path, {path: line}, "It fails", "```\nloading the saved model 7\n```"), "built_here")
    assert [fact.unclaimed for fact in found] == [True]
