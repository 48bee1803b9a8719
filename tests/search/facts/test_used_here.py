"""Lines of a claimed definition that use another name of the report."""
# ruff: noqa: E501  a table of sources reads better in rows

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.facts.around.used_here import uses
from tests.search.facts.finding import facts_of, of_kind
from tests.support.growth import assert_cheap

USES = {
    "python": ("zones.py", "def load_zone(path):\n    table = open_table(path)\n    return table.strict_zone\n", 3),
    "javascript": ("zones.js", "export function load_zone(path) {\n  const table = openTable(path)\n  return table.strict_zone\n}\n", 3),
    "go": ("zones.go", "package a\n\nfunc load_zone(path string) int {\n\ttable := open(path)\n\treturn table.strict_zone\n}\n", 5),
    "rust": ("src/zones.rs", "pub fn load_zone(path: &str) -> u8 {\n    let table = open(path);\n    table.strict_zone\n}\n", 3),
    "java": ("Zones.java", "class Zones {\n  int load_zone(String path) {\n    Table table = open(path);\n    return table.strict_zone;\n  }\n}\n", 4),
    "c": ("zones.c", "int load_zone(const char *path) {\n  struct table *t = open_table(path);\n  return t->strict_zone;\n}\n", 3),
    "ruby": ("zones.rb", "def load_zone(path)\n  table = open_table(path)\n  table.strict_zone\nend\n", 3),
}  # fmt: skip
BODIES = [
    pytest.param("It calls the wrong `strict_zone`.", id="in-mark-up"),
    pytest.param("It calls the wrong strict_zone.", id="compound"),
]


@pytest.mark.parametrize("language", USES)
@pytest.mark.parametrize("body", BODIES)
def test_the_use_of_another_name_in_each_language(tmp_path: Path, language: str, body: str):
    path, code, line = USES[language]
    facts = facts_of(
        tmp_path,
        {path: code, f"more.{path.rpartition('.')[2]}": code.replace("load", "scan")},
        "`load_zone` is wrong",
        body,
    )
    (lead,) = (fact for fact in of_kind(facts, "defined_once") if fact.words == "load_zone")
    (found,) = of_kind(facts, "used_here")
    assert (found.path, found.line, found.words, found.strong) == (path, line, "strict_zone", False)
    assert found.follows == (lead.path, lead.line)


def test_a_method_of_every_object_is_no_use(tmp_path: Path):
    path, code, _ = USES["java"]
    facts = facts_of(
        tmp_path, {path: code.replace("strict_zone", "toString()")}, "`load_zone` is wrong", "`toString` too."
    )
    assert of_kind(facts, "used_here") == []


MEMBERS = {
    "python": ("zones.py", "class ZoneMap:\n    def first(self):\n        return 1\n\n    def read_all(self):\n        return 2\n", 5),
    "javascript": ("zones.js", "export class ZoneMap {\n  first() {\n    return 1\n  }\n\n  read_all() {\n    return 2\n  }\n}\n", 6),
    "java": ("ZoneMap.java", "class ZoneMap {\n  int first() {\n    return 1;\n  }\n\n  int read_all() {\n    return 2;\n  }\n}\n", 6),
    "cpp": ("zones.cpp", "class ZoneMap {\n public:\n  int first() {\n    return 1;\n  }\n\n  int read_all() {\n    return 2;\n  }\n};\n", 7),
    "ruby": ("zones.rb", "class ZoneMap\n  def first\n    1\n  end\n\n  def read_all\n    2\n  end\nend\n", 6),
    "kotlin": ("Zones.kt", "class ZoneMap {\n  fun first(): Int {\n    return 1\n  }\n\n  fun read_all(): Int {\n    return 2\n  }\n}\n", 6),
}  # fmt: skip


@pytest.mark.parametrize("language", MEMBERS)
def test_a_named_member_of_the_claimed_class(tmp_path: Path, language: str):
    path, code, line = MEMBERS[language]
    facts = facts_of(tmp_path, {path: code}, "`ZoneMap` loses zones", "It happens in `read_all`.")
    found = of_kind(facts, "used_here")
    assert [(fact.line, fact.says) for fact in found] == [
        (line, "`read_all` is a member of `ZoneMap`; it is defined on this line.")
    ]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("    # strict_zone is set elsewhere", id="comment"),
        pytest.param("    fail('the strict_zone is set elsewhere')", id="text"),
        pytest.param("    '''Return the strict_zone.'''", id="docstring"),
        pytest.param(
            "    '''Return the strict_zone.\n\n    Then it is read.\n    '''", id="docstring-of-several-lines"
        ),
        pytest.param("    strict_zones()", id="longer-name"),
        pytest.param("    return build(path + 'strict_zone')", id="part-of-a-text"),
        pytest.param("    from table import strict_zone", id="import"),
        pytest.param("    strict_zone = None", id="assignment"),
        pytest.param("    unstrict_zone()", id="end-of-a-name"),
    ],
)
def test_a_text_that_resembles_a_use_is_not_a_fact(tmp_path: Path, line: str):
    code = f"def load_zone(path):\n{line}\n    return path\n\n\ndef other(table):\n    return table.strict_zone\n"
    facts = facts_of(tmp_path, {"zones.py": code}, "`load_zone` is wrong", "It returns the wrong `strict_zone`.")
    assert of_kind(facts, "used_here") == []


def test_a_parameter_and_a_possible_variable_are_not_uses(tmp_path: Path):
    code = "def load_zone(\n    path,\n    strict_zone,\n):\n    tail = strict_zone\n    return tail\n"
    body = "The `strict_zone` and the `tail` are lost."
    assert of_kind(facts_of(tmp_path, {"a.py": code}, "`load_zone` is wrong", body), "used_here") == []


def test_a_key_is_a_use_and_a_name_that_many_lines_use_is_not_shown(tmp_path: Path):
    code = "def load_zone(path):\n    return path['strict_zone']\n"
    files = {"a.py": code, "b.py": "def scan(path):\n    return path.strict_zone\n"}
    facts = facts_of(tmp_path / "key", files, "`load_zone` is wrong", "See `strict_zone`.")
    assert [fact.line for fact in of_kind(facts, "used_here")] == [2]
    many = "def load_zone(path):\n" + "    strict_zone(path)\n" * 4
    facts = facts_of(tmp_path / "many", {"a.py": many}, "`load_zone` is wrong", "See `strict_zone`.")
    assert of_kind(facts, "used_here") == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * 200_000 + "strict_zone", id="long"),
        pytest.param("'\\" * 190, id="quotes"),
        pytest.param("strict_zone " * 30 + "/*" * 15, id="comments"),
        pytest.param("f(" * 190, id="brackets"),
    ],
)
def test_a_hostile_line_is_read_in_little_time(text: str):
    assert_cheap(lambda: uses(text, "strict_zone"), 1.0, text[:40])


def test_a_hostile_report_has_few_uses(tmp_path: Path):
    path, code, _ = USES["python"]
    body = " ".join(f"`strict_zone_{number}`" for number in range(5_000)) + " `strict_zone`" * 5_000
    assert len(of_kind(facts_of(tmp_path, {path: code}, "`load_zone` is wrong", body), "used_here")) <= 1


def test_a_field_uses_nothing_and_a_line_is_stated_once(tmp_path: Path):
    code = "class ZoneMap {\n  private final RowTable rows;\n  int read_all() {\n    return rows.first_row;\n  }\n}\n"
    facts = facts_of(
        tmp_path, {"ZoneMap.java": code}, "`ZoneMap.read_all` fails", "`RowTable` has no first_row, ZoneMap too"
    )
    assert [(fact.line, fact.symbol, fact.words) for fact in of_kind(facts, "used_here")] == [
        (4, "ZoneMap.read_all", "first_row")
    ]


def test_the_use_of_a_name_whose_import_fails(tmp_path: Path):
    code = (
        "from host.light import (\n    ATTR_WARM,\n    Light,\n)\n\n\ndef turn(light):\n    return light[ATTR_WARM]\n"
    )
    body = "```\nImportError: cannot import name 'ATTR_WARM' from 'host.light'\n```"
    facts = facts_of(tmp_path, {"light.py": code}, "It does not start", body)
    assert [fact.line for fact in of_kind(facts, "raised_here")] == [2]
    assert [(fact.line, fact.says) for fact in of_kind(facts, "used_here")] == [
        (8, "`turn` uses `ATTR_WARM` on this line.")
    ]
