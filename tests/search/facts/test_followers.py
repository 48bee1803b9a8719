"""What explains another fact, and what only supports one."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.facts.guarded_by import guard
from tests.search.facts.finding import facts_of, of_kind

CODE = (
    "def check_zone(name):\n    if name is None:\n        return\n    if name not in ZONES:\n"
    "        raise ValueError('the zone %s is not in the table' % name)\n"
)
MESSAGE = "```\nValueError: the zone X is not in the table\n```"


@pytest.mark.parametrize(
    ("code", "line", "found"),
    [
        pytest.param("def f(x):\n    if x:\n        go()\n    raise E\n", 4, None, id="beside"),
        pytest.param("def f(x):\n    if x:\n        go()\n    else:\n        raise E\n", 5, (2, False), id="else"),
        pytest.param(
            "int f(x) {\n  if (x) {\n    go();\n  } else {\n    fail();\n  }\n}\n", 5, (2, False), id="brace-else"
        ),
        pytest.param("func f() {\n\tswitch x {\n\tcase 1:\n\t\tpanic(1)\n\t}\n}\n", 4, (3, True), id="case"),
        pytest.param("def f\n  begin\n    x\n  rescue E\n    raise\n  end\nend\n", 5, (4, True), id="rescue"),
        pytest.param("def f():\n    raise E(\n        'x'\n    )\n", 3, None, id="none"),
    ],
)
def test_the_nearest_condition(code: str, line: int, found: tuple[int, bool] | None):
    assert guard(code.split("\n"), line, 1) == found


def test_deep_and_long_code_is_read_within_limits():
    assert guard(["if x:" + " " * 5_000] * 50_000 + ["    y"], 50_001, 1) is None
    guard([" " * n + "x" for n in range(3_000)], 3_000, 1)


def test_the_one_caller_of_a_builder_is_found(tmp_path: Path):
    files = {
        "zones/check.py": CODE,
        "zones/load.py": "from zones.check import check_zone\n\n\ndef load(name):\n"
        "    check_zone(name)\n    # check_zone(name)\n",
    }
    (found,) = of_kind(facts_of(tmp_path, files, "It fails", MESSAGE), "called_from")
    assert (found.path, found.line, found.symbol, found.follows) == (
        "zones/load.py",
        5,
        "check_zone",
        ("zones/check.py", 5),
    )


def test_many_callers_say_nothing(tmp_path: Path):
    calls = "".join(f"def load_{n}(name):\n    check_zone(name)\n\n\n" for n in range(3))
    facts = facts_of(tmp_path, {"zones/check.py": CODE, "zones/load.py": calls}, "It fails", MESSAGE)
    assert of_kind(facts, "called_from") == []


def test_tests_that_are_known_to_fail_come_first(tmp_path: Path):
    files = {
        "zones/check.py": CODE,
        "tests/test_a.py": "def test_zone():\n    check_zone('UTC')\n",
        "tests/test_b.py": "import pytest\n\n\n@pytest.mark.xfail\ndef test_none():\n    check_zone(None)\n",
    }
    found = of_kind(facts_of(tmp_path, files, "`check_zone` fails on None"), "tested_here")
    assert [fact.path for fact in found] == ["tests/test_b.py", "tests/test_a.py"]
    assert not any(fact.strong for fact in found)


@pytest.mark.parametrize(
    ("path", "code", "name", "sibling"),
    [
        pytest.param("a.py", "def to_bytes_be(x):\n    return x\n", "to_bytes_le", "to_bytes_be", id="python"),
        pytest.param("a.js", "export function isSameDay(x) {\n  return x\n}\n", "isSameWeek", "isSameDay", id="js"),
        pytest.param(
            "a.go", "package a\n\nfunc DialTimeout(x int) {\n}\n", "DialTimeoutContext", "DialTimeout", id="go"
        ),
        pytest.param("a.rs", "pub fn put_u16_le(x: u16) {\n}\n", "put_u24_le", "put_u16_le", id="rust"),
        pytest.param(
            "A.java",
            "class A {\n  int readIntValue() {\n    return 1;\n  }\n}\n",
            "readLongValue",
            "A.readIntValue",
            id="java",
        ),
        pytest.param(
            "a.c", "int zip_open_file(char *x) {\n  return 1;\n}\n", "zip_open_memory", "zip_open_file", id="c"
        ),
    ],
)
def test_a_name_that_is_asked_for_is_absent_and_has_a_sibling(
    tmp_path: Path, path: str, code: str, name: str, sibling: str
):
    facts = facts_of(tmp_path, {path: code}, f"Add `{name}`")
    assert [(fact.words, fact.path, fact.strong) for fact in of_kind(facts, "absent")] == [(name, None, False)]
    assert [fact.symbol for fact in of_kind(facts, "sibling")] == [sibling]


@pytest.mark.parametrize(
    ("files", "title"),
    [
        pytest.param({"a.py": "x = 1\n"}, "`to_bytes_le` fails", id="nothing-is-asked-for"),
        pytest.param({"a.py": "x = 1\n", "notes.txt": "to_bytes_le\n"}, "Add `to_bytes_le`", id="in-any-text"),
        pytest.param({"a.py": "x = 1\n", "data.json": '{"to_bytes_le": 1}\n'}, "Add `to_bytes_le`", id="in-data"),
        pytest.param({"a.py": "def zone_map():\n    pass\n"}, "Add `zone_maps`", id="a-plural"),
    ],
)
def test_a_name_that_occurs_is_not_absent(tmp_path: Path, files: dict[str, str], title: str):
    assert of_kind(facts_of(tmp_path, files, title), "absent") == []


@pytest.mark.parametrize(
    ("page", "text", "line"),
    [
        pytest.param("docs/zones.md", "# Zones\n\n## Checking\n\nCall `check_zone` first.\n", 3, id="markdown"),
        pytest.param(
            "docs/zones.rst", "Zones\n=====\n\nChecking\n--------\n\nCall ``check_zone`` first.\n", 4, id="rst"
        ),
    ],
)
def test_a_question_gets_the_heading_of_the_page(tmp_path: Path, page: str, text: str, line: int):
    files = {"zones/check.py": CODE, page: text}
    (found,) = of_kind(facts_of(tmp_path, files, "How do I use `check_zone`?"), "documented_here")
    assert (found.path, found.line) == (page, line)
    assert of_kind(facts_of(tmp_path, files, "`check_zone` is wrong"), "documented_here") == []
