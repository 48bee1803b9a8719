"""A name refers to its only definition; an ambiguous name refers to none."""
# ruff: noqa: E501  a table of sources reads better in rows

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.engine import Engine
from nodes.search.facts.inquiry import read_issue
from nodes.search.facts.names.named import MAX_LOOKED_UP, names
from nodes.search.types import Query
from tests.search.facts.finding import facts_of, of_kind, verify
from tests.support.repositories import make_repository

LANGUAGES = [
    pytest.param("src/zones.rs", "macro_rules! parse_zone {\n    () => {};\n}\n", "`parse_zone!`", 1, id="macro"),
    pytest.param(
        "pkg/zones.py", "import re\n\n\ndef parse_zone(text):\n    return text\n", "`parse_zone()`", 4, id="python"
    ),
    pytest.param(
        "src/zones.js",
        "const x = 1\n\nexport function parseZone(text) {\n  return text\n}\n",
        "`parseZone`",
        3,
        id="js",
    ),
    pytest.param(
        "src/zones.ts", "export function zoneMap(size: number) {\n  return size\n}\n", "`zoneMap`", 1, id="ts"
    ),
    pytest.param(
        "zones.go", "package zones\n\nfunc ParseZone(s string) int {\n\treturn 1\n}\n", "`zones.ParseZone`", 3, id="go"
    ),
    pytest.param(
        "src/zones.rs", "#[inline]\npub fn parse_zone(s: &str) -> u8 {\n    1\n}\n", "`zones::parse_zone`", 2, id="rust"
    ),
    pytest.param(
        "Zones.java",
        "class Zones {\n  int parseZone(String s) {\n    return 1;\n  }\n}\n",
        "`Zones#parseZone`",
        2,
        id="java",
    ),
    pytest.param("zones.c", "static int\nparse_zone(const char *s)\n{\n  return 1;\n}\n", "`parse_zone`", 2, id="c"),
    pytest.param(
        "zones.rb", "class Zones\n  def parse_zone(s)\n    1\n  end\nend\n", "`Zones#parse_zone`", 2, id="ruby"
    ),
    pytest.param(
        "lib/zones.ex", "defmodule Zones do\n  def parse_zone(s), do: s\nend\n", "`Zones.parse_zone/1`", 2, id="elixir"
    ),
    pytest.param("lib/z.dart", "class Zones {\n  int parseZone(s) => 1;\n}\n", "`Zones.parseZone`", 2, id="dart"),
    pytest.param("bin/z.sh", "parse_zone() {\n  true\n}\n", "`parse_zone`", 1, id="shell"),
    pytest.param("Z.vue", "<script>\nfunction parseZone() {}\n</script>\n", "`parseZone()`", 2, id="component"),
]


@pytest.mark.parametrize(("path", "code", "name", "line"), LANGUAGES)
def test_a_name_in_the_title_points_at_its_definition(tmp_path: Path, path: str, code: str, name: str, line: int):
    (found,) = of_kind(facts_of(tmp_path, {path: code}, f"{name} ignores the offset"), "defined_once")
    assert (found.path, found.line, found.strong, found.count) == (path, line, True, 1)


@pytest.mark.parametrize(
    ("path", "code", "title", "words"),
    [
        pytest.param(
            "Mark.java", "public @interface ZoneMark {\n}\n", "`@ZoneMark` fails", "ZoneMark", id="annotation"
        ),
        pytest.param("z.rs", "macro_rules! read_zone {\n}\n", "`read_zone!` fails", "read_zone", id="macro"),
    ],
)
def test_words_of_a_fact_have_only_marks_that_the_line_has(
    tmp_path: Path, path: str, code: str, title: str, words: str
):
    (found,) = of_kind(facts_of(tmp_path, {path: code}, title), "defined_once")
    assert (found.words, f"`{words}`" in found.says) == (words, True)


@pytest.mark.parametrize(
    ("files", "text"),
    [
        pytest.param(
            {"a.py": "class Store:\n    def save(self):\n        pass\n"}, "`numpy.save` is slow", id="another-owner"
        ),
        pytest.param(
            {"a.py": "def scan():\n    pass\n", "b.py": "def scan():\n    pass\n"}, "`scan` is slow", id="two"
        ),
        pytest.param({"ext/scan.py": "class scan:\n    pass\n"}, "`ext.scan` is slow", id="a-module"),
        pytest.param({"ext/html.py": "def escape(x):\n    pass\n"}, "`html.escape` is faster", id="of-the-language"),
        pytest.param({"a.py": "def format(x):\n    pass\n"}, "`format` is slow", id="built-in"),
        pytest.param(
            {"vendor/a.py": "def scan_it():\n    pass\n", "b.py": "x = 1\n"}, "`scan_it` is slow", id="vendored"
        ),
        pytest.param(
            {"tests/test_a.py": "def scan_it():\n    pass\n", "b.py": "x = 1\n"}, "`scan_it` is slow", id="test"
        ),
        pytest.param(
            {"src/a.rs": "mod tests {\n    fn scan_it() {}\n}\n", "src/b.rs": "fn b() {}\n"},
            "`scan_it` fails",
            id="test-in-rust",
        ),
        pytest.param(
            {"a.py": "class Expression:\n    pass\n"}, "Printing for Matrix Expression", id="a-word-of-the-title"
        ),
    ],
)
def test_an_ambiguous_name_is_not_a_fact(tmp_path: Path, files: dict[str, str], text: str):
    assert of_kind(facts_of(tmp_path, files, text), "defined_once") == []


def test_a_declaration_without_a_body_does_not_lead(tmp_path: Path):
    for name, body in (("A.java", ";"), ("B.java", " { return 1; }")):
        code = f"interface Zones {{\n  int zone_count(String path){body}\n}}\n"
        (found,) = of_kind(facts_of(tmp_path / name, {name: code}, "`zone_count()` is wrong"), "defined_once")
        assert found.strong == (body != ";")


@pytest.mark.parametrize("keyword", ["class", "@interface"])
def test_a_type_or_an_annotation_does_not_lead(tmp_path: Path, keyword: str):
    files = {"Mark.java": f"public {keyword} ZoneMark {{\n}}\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "`@ZoneMark` is ignored"), "defined_once")
    assert not found.strong


def test_a_class_of_errors_does_not_lead(tmp_path: Path):
    files = {"a.py": "class ZoneError(Exception):\n    pass\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "`ZoneError` is raised on a valid date"), "defined_once")
    assert not found.strong


def test_a_method_leads_only_where_the_report_uses_it_as_one(tmp_path: Path):
    files = {"a.py": "class Zones:\n    def max_degrees(self):\n        pass\n"}
    found = of_kind(facts_of(tmp_path / "a", files, "wrong result with `max_degrees`"), "defined_once")
    called = of_kind(facts_of(tmp_path / "b", files, "wrong result of `max_degrees()`"), "defined_once")
    assert [fact.strong for fact in (*found, *called)] == [False, True]


def test_a_long_list_of_names_does_not_lead(tmp_path: Path):
    files = {"a.py": "".join(f"def scan_{n}():\n    pass\n\n\n" for n in range(6))}
    few = of_kind(facts_of(tmp_path / "a", files, "Slow", "`scan_1` and `scan_2`"), "defined_once")
    many = of_kind(facts_of(tmp_path / "b", files, "Slow", " ".join(f"`scan_{n}`" for n in range(6))), "defined_once")
    assert [fact.strong for fact in few] == [True, True]
    assert len(many) == 6
    assert not any(fact.strong for fact in many)


def test_a_report_of_many_names_is_read_within_limits():
    text = "\n".join(f"`scan_{n}.go_{n}`" for n in range(20_000))
    assert len(names(read_issue(Query("many", text)))) == MAX_LOOKED_UP
    names(read_issue(Query("a." * 400, "a.b::" * 10_000 + "`" * 10_000)))


def test_a_name_is_read_in_a_script_without_spaces(tmp_path: Path) -> None:
    files = {"zones/load.py": "def load_zones(path):\n    return []\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "调用load_zones方法时报错"), "defined_once")
    assert (found.words, found.path) == ("load_zones", "zones/load.py")


@pytest.mark.parametrize(
    ("title", "found"),
    [
        pytest.param("zones.load_zones is slow", True, id="package"),
        pytest.param("crates.load_zones is slow", False, id="another-package"),
    ],
)
def test_a_package_offers_the_names_of_its_modules(tmp_path: Path, title: str, *, found: bool) -> None:
    files = {"src/zones/io/text/load.py": "def load_zones(path):\n    return []\n"}
    facts = of_kind(facts_of(tmp_path, files, title), "defined_once")
    assert [fact.path for fact in facts] == ["src/zones/io/text/load.py"] * found


@pytest.mark.parametrize(
    ("title", "line"),
    [
        pytest.param("Zone.HERE.load_all() is empty", 2, id="constant-of-the-class"),
        pytest.param("Other.HERE.load_all() is empty", 6, id="constant-of-another-class"),
        pytest.param("Zone.here.load_all() is empty", None, id="a-variable"),
    ],
)
def test_a_member_of_a_constant_is_one_of_the_class(tmp_path: Path, title: str, line: int | None):
    code = "class Zone {\n  int load_all() { return 1; }\n}\n\nclass Other {\n  int load_all() { return 1; }\n}\n"
    facts = of_kind(facts_of(tmp_path, {"Places.java": code}, title), "defined_once")
    assert [fact.line for fact in facts if "load_all" in (fact.words or "")] == ([line] if line else [])


def test_functions_that_differ_by_their_parameters_are_not_called_one(tmp_path: Path) -> None:
    code = "class Zone {\n  int load_all() { return 1; }\n  int load_all(int a) { return 1; }\n  int close() { return 2; }\n}\n"
    facts = of_kind(facts_of(tmp_path, {"Zone.java": code}, "Slow", "`Zone.load_all`, `Zone.close`"), "defined_once")
    assert [fact.says.partition(" of ")[0] for fact in facts] == ["All definitions", "The only definition"]


def test_a_constructor_is_not_a_second_definition(tmp_path: Path) -> None:
    files = {"src/ZoneMap.java": "class ZoneMap {\n    ZoneMap(int size) {\n    }\n}\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "`ZoneMap` loses zones"), "defined_once")
    assert (found.symbol, found.line) == ("ZoneMap", 1)


def test_a_macro_that_only_calls_another_name_does_not_lead(tmp_path: Path) -> None:
    own = "#define ZONE_CHECK( ... ) \\\n    do { check(__VA_ARGS__); } while (0)\n"
    files = {"a.h": "#define ZONE_IF( ... ) INTERNAL_ZONE_IF( __VA_ARGS__ )\n", "b.h": own}
    for name, path in (("ZONE_IF", "a.h"), ("ZONE_CHECK", "b.h")):
        facts = facts_of(tmp_path / name, files, f"`{name}` stops the program", first=[path])
        assert [fact.strong for fact in of_kind(facts, "defined_once")] == [name == "ZONE_CHECK"]


def test_a_name_that_most_files_use_is_not_a_fact(tmp_path: Path):
    files = {f"m{number}.py": "from zones import zones\n\nzones()\n" for number in range(32)}
    files["zones.py"] = "def zones():\n    return 1\n"
    assert of_kind(facts_of(tmp_path, files, "Wrong", "`zones` shows the wrong date."), "defined_once") == []


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        pytest.param("load_zone = ZoneLoader()", False, id="a-variable"),
        pytest.param("load_zone: ZoneLoader = ZoneLoader()", False, id="an-annotated-variable"),
        pytest.param("load_zone = zones.load_zone", True, id="a-second-export"),
        pytest.param("load_zone == 1", True, id="a-comparison"),
        pytest.param("def f():\n    load_zone = None", True, id="a-local-variable"),
    ],
)
def test_a_variable_of_that_name_in_another_file_is_a_second_definition(tmp_path: Path, line: str, *, holds: bool):
    files = {"zones.py": "def load_zone(path):\n    return path\n", "other.py": f"{line}\n"}
    sha = make_repository(tmp_path, files)
    engine, query = Engine(tmp_path), Query("`load_zone` is slow", "")
    (fact,) = of_kind(engine.facts(query, ["zones.py"], sha), "defined_once")
    assert (verify(fact, engine.repository, sha, query.title) is None) is holds
    assert bool(of_kind(engine.survey(query, sha).facts, "defined_once")) is holds


@pytest.mark.parametrize(
    ("path", "code", "line"),
    [
        pytest.param("zones.py", "class Zone:\n    def load_all(self):\n        pass\n\n\nclass Other:\n    def load_all(self):\n        pass\n\n\nclass Middle(Zone):\n    pass\n\n\nclass Packed(Middle, metaclass=abc.ABCMeta):\n    pass\n", 2, id="python"),
        pytest.param("Zone.java", "class Zone {\n  void load_all() {}\n}\nclass Other {\n  void load_all() {}\n}\nfinal class Packed extends Zone {\n  void save() {}\n}\n", 2, id="java"),
        pytest.param("zones.rb", "class Zone\n  def load_all\n  end\nend\nclass Other\n  def load_all\n  end\nend\nclass Packed < Zone\n  def save\n  end\nend\n", 2, id="ruby"),
        pytest.param("zones.cpp", "class Zone {\n  void load_all() {}\n};\nclass Other {\n  void load_all() {}\n};\nclass Packed : public Zone {\n  void save() {}\n};\n", 2, id="c++"),
        pytest.param("zones.py", "class Zone:\n    def load_all(self):\n        pass\n\n\nclass Packed(Library):\n    pass\n", None, id="of-a-library"),
    ],
)  # fmt: skip
def test_an_inherited_member_is_found_in_the_base_class(tmp_path: Path, path: str, code: str, line: int | None):
    facts = of_kind(facts_of(tmp_path, {path: code}, "It is slow", "`Packed.load_all` takes minutes."), "defined_once")
    assert [fact.line for fact in facts] == [line] * (line is not None)
    assert all(fact.says.startswith("`Packed.load_all` is inherited from `Zone.load_all`") for fact in facts)


@pytest.mark.parametrize(
    ("title", "found"),
    [
        pytest.param("metric.travel_time() is wrong", True, id="its-class-is-not-named"),
        pytest.param("metric.travel() is wrong", False, id="one-word"),
        pytest.param("Map.travel_time() is wrong", False, id="another-class"),
        pytest.param("metric.read_map() is wrong", False, id="no-member"),
    ],
)
def test_a_member_of_an_object_that_the_title_names(tmp_path: Path, title: str, *, found: bool) -> None:
    zone = "class Zone:\n    def travel_time(self):\n        pass\n    def travel(self):\n        pass\n"
    files = {"zones.py": f"{zone}\n\ndef read_map():\n    pass\n", "maps.py": "class Map:\n    pass\n"}
    facts = of_kind(facts_of(tmp_path, files, title), "defined_once")
    assert [fact.line for fact in facts if fact.path == "zones.py" and fact.strong] == [2] * found


def test_a_member_with_its_module_leads_however_often_it_is_used(tmp_path: Path) -> None:
    zone = "class Zones {\n  void load() {}\n}\n"
    files = {"src/org/acme/Zones.java": zone, "src/org/acme/Maps.java": zone.replace("Zones", "Maps")}
    files |= {f"src/org/acme/U{n}.java": f"class U{n} {{\n  void run(Zones z) {{ z.load(); }}\n}}\n" for n in range(6)}
    for name, strong in (("org.acme.Zones.load()", True), ("Zones.load()", False)):
        (fact,) = of_kind(facts_of(tmp_path, files, "It fails", f"See {name} for it."), "defined_once")
        assert (fact.path, fact.strong, fact.unclaimed) == ("src/org/acme/Zones.java", strong, strong)


def test_a_class_inside_another_is_named_as_java_names_it(tmp_path: Path) -> None:
    inner = "class {} {{\n  class Reader {{\n    void load() {{}}\n  }}\n}}\n"
    files = {f"{name}.java": inner.format(name) for name in ("Zones", "Maps")}
    facts = facts_of(tmp_path, files, "It fails", "See `Zones$Reader` and org.acme.Maps$Reader.load of it.")
    assert [(fact.path, fact.line) for fact in of_kind(facts, "defined_once")] == [("Zones.java", 2)]


@pytest.mark.parametrize(
    ("title", "body", "strong"),
    [
        ("CastError in drawZoneBar on start", "", True),
        ("Show drawZoneBar", "", False),
        (
            "It fails",
            "See `drawZoneBar`\n\nTypeError: drawZoneBar() missing 1 required positional argument: 'zone'",
            True,
        ),
        ("It fails", "See `drawZoneBar`\n\nTypeError: drawZoneBar() is not defined", False),
    ],
)
def test_a_function_in_which_something_failed_leads(tmp_path: Path, title: str, body: str, *, strong: bool) -> None:
    files = {"bars.py": "class Bars:\n    def drawZoneBar(self):\n        return self.zone\n"}
    files |= {f"use{n}.py": f"def show_{n}(bars):\n    return bars.drawZoneBar()\n" for n in range(8)}
    found = of_kind(facts_of(tmp_path, files, title, body, first=["bars.py"]), "defined_once")
    assert [(fact.strong, fact.unclaimed) for fact in found if fact.strong] == [(True, True)] * strong


def test_a_member_that_the_title_names_is_shown_however_many_files_use_its_name(tmp_path: Path) -> None:
    files = {f"pkg/use_{n}.py": f"def keep_{n}(zone):\n    return zone.parse()\n" for n in range(40)}
    files["pkg/zones.py"] = "class Zone:\n    def parse(self):\n        return self.text\n"
    title = "Zone.parse keeps the blanks of a text"
    facts = of_kind(facts_of(tmp_path, files, title, first=["pkg/zones.py"]), "defined_once")
    assert [(fact.words, fact.strong, fact.unclaimed) for fact in facts] == [("Zone.parse", True, True)]
    (elsewhere,) = of_kind(facts_of(tmp_path / "2", files, title, first=["pkg/use_1.py"]), "defined_once")
    assert not elsewhere.strong
